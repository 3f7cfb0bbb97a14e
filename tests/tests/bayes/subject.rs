//! The networks and posteriors that the tests look at.

use bayesadapter::{
    nn::{self, conv::Conv2dConfig},
    ops::{NoiseKey, fill_normals},
    posterior::{Bayes, InitialStd, IntoBayes, LowRankEnsemble, LowRankForm, MeanField, Posterior},
};
use bayesadapter_tests::values;
use burn::{
    module::Module,
    nn::PaddingConfig2d,
    optim::GradientsParams,
    tensor::{Device, Tensor, TensorData, activation::relu},
};

/// A small network of drop-in layers.
#[derive(Module, Debug)]
pub struct Network {
    pub conv: nn::conv::Conv2d,
    pub norm: nn::BatchNorm,
    pub head: nn::Linear,
}

impl Network {
    pub fn new(device: &Device) -> Self {
        // Zeros would hide mistakes in how parameters are used.
        let conv = Conv2dConfig::new([2, 5], [3, 2]).with_padding(PaddingConfig2d::Same);
        let network = Self {
            conv: conv.init(device),
            norm: nn::BatchNormConfig::new(5).init(device),
            head: nn::LinearConfig::new(5, 3).init(device),
        };
        filled(network)
    }

    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let x = relu(self.norm.forward(self.conv.forward(x)));
        let x: Tensor<2> = x.mean_dim(3).mean_dim(2).flatten(1, 3);
        self.head.forward(x)
    }
}

/// The same of Burn's own layers.
#[derive(Module, Debug)]
pub struct Stock {
    pub conv: burn::nn::conv::Conv2d,
    pub norm: burn::nn::BatchNorm,
    pub head: burn::nn::Linear,
}

impl Stock {
    pub fn new(device: &Device) -> Self {
        let conv = burn::nn::conv::Conv2dConfig::new([2, 5], [3, 2]);
        filled(Self {
            conv: conv.with_padding(PaddingConfig2d::Same).init(device),
            norm: burn::nn::BatchNormConfig::new(5).init(device),
            head: burn::nn::LinearConfig::new(5, 3).init(device),
        })
    }

    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let x = relu(self.norm.forward(self.conv.forward(x)));
        let x: Tensor<2> = x.mean_dim(3).mean_dim(2).flatten(1, 3);
        self.head.forward(x)
    }
}

/// The module with parameters that depend on nothing but their place.
pub fn filled<M: Module>(module: M) -> M {
    struct Fill(u32);
    impl burn::module::ModuleMapper for Fill {
        fn map_float<const D: usize>(
            &mut self,
            param: burn::module::Param<Tensor<D>>,
        ) -> burn::module::Param<Tensor<D>> {
            self.0 += 1;
            param.map(|old| {
                let normals = normals(old.dims(), 100 + self.0, &old.device());
                let require_grad = old.is_require_grad();
                (normals * 0.3).abs().set_require_grad(require_grad)
            })
        }
    }
    module.map(&mut Fill(0))
}

pub fn normals<const D: usize>(shape: [usize; D], draw: u32, device: &Device) -> Tensor<D> {
    let mut values = vec![0.0; shape.iter().product()];
    let key = NoiseKey {
        seed: 99,
        draw,
        ..Default::default()
    };
    fill_normals(&key, 0, 0, &mut values);
    Tensor::from_data(TensorData::new(values, shape), device)
}

pub fn images(rows: usize, device: &Device) -> Tensor<4> {
    normals([rows, 2, 5, 4], 1, device)
}

pub fn wide(posterior: MeanField) -> MeanField {
    MeanField {
        initial_std: InitialStd::LogUniform([-2.0, -1.0]),
        ..posterior
    }
}

pub fn posteriors() -> Vec<Posterior> {
    let ensemble = LowRankEnsemble::fine_tune(1_000);
    vec![
        wide(MeanField::fine_tune(1_000)).into(),
        wide(MeanField::fine_tune(1_000))
            .with_pretrained_prior()
            .into(),
        ensemble.clone().into(),
        ensemble.clone().with_components(7).with_rank(2).into(),
        ensemble
            .clone()
            .with_components(3)
            .with_form(LowRankForm::Channels)
            .into(),
        ensemble.with_components(1).with_rank(3).into(),
    ]
}

pub fn bayes(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Network> {
    Network::new(device).into_bayes(posterior).unwrap()
}

/// Moves every trained parameter along a random direction.
pub struct Move {
    pub by: f32,
    pub seed: u32,
}

impl burn::module::ModuleMapper for Move {
    fn map_float<const D: usize>(
        &mut self,
        param: burn::module::Param<Tensor<D>>,
    ) -> burn::module::Param<Tensor<D>> {
        self.seed += 1;
        param.map(|value| {
            if !value.is_require_grad() {
                return value;
            }
            let direction = normals(value.dims(), self.seed, &value.device());
            (value + direction.mul_scalar(self.by))
                .detach()
                .require_grad()
        })
    }
}

/// The directional derivative along the direction of [`Move`].
pub struct Along {
    pub gradients: GradientsParams,
    pub seed: u32,
    pub total: f64,
}

impl burn::module::ModuleVisitor for Along {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        self.seed += 1;
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let direction = normals(gradient.dims(), self.seed, &gradient.device());
            let products = values(gradient * direction);
            self.total += products.iter().map(|&one| f64::from(one)).sum::<f64>();
        }
    }
}
