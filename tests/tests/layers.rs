//! The drop-in layers against Burn's own: values, gradients, running statistics and record paths, on every
//! device.

use bayesadapter::{
    nn,
    ops::{NoiseKey, fill_normals},
    pass::{Mode, Pass},
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    module::{Module, ModuleVisitor, Param},
    nn::{PaddingConfig1d, PaddingConfig2d},
    tensor::{Device, Distribution, Tensor, TensorData, activation::relu},
};

/// Paths and values of all float parameters.
#[derive(Default)]
struct Parameters {
    path: Vec<String>,
    found: Vec<(String, Vec<f32>)>,
}

impl ModuleVisitor for Parameters {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push((self.path.join("."), values(param.val())));
    }
}

fn parameters(module: &impl Module) -> Vec<(String, Vec<f32>)> {
    let mut parameters = Parameters::default();
    module.visit(&mut parameters);
    parameters.found
}

/// `y` and the gradient of `sum(y^2 r)` in x, with random `r`: a plain sum of squares is all but constant
/// after a normalisation.
fn value_and_gradient<const X: usize, const Y: usize>(
    shape: [usize; X],
    device: &Device,
    forward: impl Fn(Tensor<X>) -> Tensor<Y>,
) -> [Vec<f32>; 2] {
    let device = device.clone().autodiff();
    let x = noise(shape, 0, &device).require_grad();
    let y = forward(x.clone());
    let r = noise(y.dims(), 1, &device);
    let gradients = (y.clone() * y.clone() * r).sum().backward();
    let gradient = x.grad(&gradients).expect("x takes part");
    [values(y.inner()), values(gradient)]
}

/// Keyed: tests that run at the same time share a device's own random numbers.
fn noise<const D: usize>(shape: [usize; D], example: u32, device: &Device) -> Tensor<D> {
    let mut values = vec![0.0; shape.iter().product()];
    fill_normals(&NoiseKey::default(), example, 0, &mut values);
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// The layers have the same paths, and, with the same parameters, the same values and gradients.
fn same<const X: usize, const Y: usize, A: Module, B: Module>(
    name: &str,
    device: &Device,
    shape: [usize; X],
    (ours, our_forward): (A, impl Fn(&A, Tensor<X>) -> Tensor<Y>),
    (burns, burns_forward): (B, impl Fn(&B, Tensor<X>) -> Tensor<Y>),
) {
    let paths = |found: Vec<(String, Vec<f32>)>| -> Vec<String> {
        found.into_iter().map(|(path, _)| path).collect()
    };
    assert_eq!(
        paths(parameters(&ours)),
        paths(parameters(&burns)),
        "{name}"
    );
    let ours = ours.load_record(burns.clone().into_record());
    let found = value_and_gradient(shape, device, |x| our_forward(&ours, x));
    let expected = value_and_gradient(shape, device, |x| burns_forward(&burns, x));
    for (what, found, expected) in [
        ("y", &found[0], &expected[0]),
        ("dx", &found[1], &expected[1]),
    ] {
        let tolerance = Tolerance::of_largest(2e-5, expected);
        assert_close(&format!("{what} of {name}"), found, expected, tolerance);
    }
    let (ours, burns) = (parameters(&ours.valid()), parameters(&burns.valid()));
    for ((path, found), (_, expected)) in ours.iter().zip(&burns) {
        // Burn keeps biased variances; ours are those of PyTorch, which the tests of normalisation look at.
        if path.ends_with("running_var") {
            continue;
        }
        let tolerance = Tolerance::of_largest(1e-5, expected);
        assert_close(&format!("{path} of {name}"), found, expected, tolerance);
    }
}

/// Every device, with autodiff.
fn training_devices() -> impl Iterator<Item = (&'static str, Device)> {
    devices()
        .into_iter()
        .map(|(name, device)| (name, device.autodiff()))
}

#[test]
fn linear_is_burns() {
    for (name, device) in training_devices() {
        for bias in [true, false] {
            let ours = nn::LinearConfig::new(5, 3).with_bias(bias).init(&device);
            let burns = burn::nn::LinearConfig::new(5, 3)
                .with_bias(bias)
                .init(&device);
            same(
                &format!("linear on {name}"),
                &device,
                [4, 5],
                (ours.clone(), |layer, x: Tensor<2>| layer.forward(x)),
                (burns.clone(), |layer, x| layer.forward(x)),
            );
            same(
                &format!("linear of tokens on {name}"),
                &device,
                [2, 3, 2, 5],
                (ours, |layer, x: Tensor<4>| layer.forward(x)),
                (burns, |layer, x| layer.forward(x)),
            );
        }
        let column = burn::nn::LinearLayout::Col;
        let ours = nn::LinearConfig::new(5, 3)
            .with_layout(column)
            .init(&device);
        assert_eq!(ours.weight.val().dims(), [5, 3], "on {name}");
    }
}

#[test]
fn convolutions_are_burns() {
    // channels, kernel, stride, dilation, groups, padding, image
    let cases = [
        (
            [3, 8],
            [3, 3],
            [1, 1],
            [1, 1],
            1,
            PaddingConfig2d::Same,
            [6, 5],
        ),
        (
            [4, 6],
            [1, 3],
            [2, 1],
            [1, 2],
            2,
            PaddingConfig2d::Valid,
            [7, 8],
        ),
        (
            [6, 6],
            [3, 2],
            [1, 2],
            [1, 1],
            6,
            PaddingConfig2d::Explicit(1, 0, 2, 1),
            [5, 6],
        ),
        (
            [2, 4],
            [2, 2],
            [2, 2],
            [1, 1],
            1,
            PaddingConfig2d::Same,
            [5, 4],
        ),
    ];
    for (name, device) in training_devices() {
        for (channels, kernel, stride, dilation, groups, padding, [h, w]) in &cases {
            let ours = nn::conv::Conv2dConfig::new(*channels, *kernel)
                .with_stride(*stride)
                .with_dilation(*dilation)
                .with_groups(*groups)
                .with_padding(padding.clone())
                .init(&device);
            let burns = burn::nn::conv::Conv2dConfig::new(*channels, *kernel)
                .with_stride(*stride)
                .with_dilation(*dilation)
                .with_groups(*groups)
                .with_padding(padding.clone())
                .init(&device);
            same(
                &format!("{channels:?} {kernel:?} {padding:?} on {name}"),
                &device,
                [2, channels[0], *h, *w],
                (ours, |layer, x: Tensor<4>| layer.forward(x)),
                (burns, |layer, x| layer.forward(x)),
            );
        }
    }
}

#[test]
fn one_dimensional_convolutions_are_burns() {
    for (name, device) in training_devices() {
        for (groups, stride, padding) in [
            (1, 1, PaddingConfig1d::Same),
            (2, 2, PaddingConfig1d::Explicit(2, 0)),
            (4, 1, PaddingConfig1d::Valid),
        ] {
            let ours = nn::conv::Conv1dConfig::new(4, 8, 3)
                .with_groups(groups)
                .with_stride(stride)
                .with_padding(padding.clone())
                .init(&device);
            let burns = burn::nn::conv::Conv1dConfig::new(4, 8, 3)
                .with_groups(groups)
                .with_stride(stride)
                .with_padding(padding.clone())
                .init(&device);
            same(
                &format!("groups {groups} {padding:?} on {name}"),
                &device,
                [3, 4, 9],
                (ours, |layer, x: Tensor<3>| layer.forward(x)),
                (burns, |layer, x| layer.forward(x)),
            );
        }
    }
}

#[test]
fn transposed_convolutions_are_burns() {
    // channels, kernel, stride, dilation, groups, padding, padding_out
    let cases = [
        ([3, 2], [3, 3], [1, 1], [1, 1], 1, [0, 0], [0, 0]),
        ([4, 6], [2, 3], [2, 3], [1, 1], 2, [1, 0], [1, 2]),
        ([4, 4], [3, 2], [2, 1], [2, 1], 4, [1, 1], [0, 0]),
        ([2, 3], [1, 1], [2, 2], [1, 1], 1, [1, 0], [0, 0]),
    ];
    for (name, device) in training_devices() {
        for (channels, kernel, stride, dilation, groups, padding, padding_out) in cases {
            let ours = nn::conv::ConvTranspose2dConfig::new(channels, kernel)
                .with_stride(stride)
                .with_dilation(dilation)
                .with_groups(groups)
                .with_padding(padding)
                .with_padding_out(padding_out)
                .init(&device);
            let burns = burn::nn::conv::ConvTranspose2dConfig::new(channels, kernel)
                .with_stride(stride)
                .with_dilation(dilation)
                .with_groups(groups)
                .with_padding(padding)
                .with_padding_out(padding_out)
                .init(&device);
            same(
                &format!("{channels:?} {kernel:?} by {stride:?} on {name}"),
                &device,
                [2, channels[0], 4, 5],
                (ours, |layer, x: Tensor<4>| layer.forward(x)),
                (burns, |layer, x| layer.forward(x)),
            );
        }
    }
}

/// A layer of Burn with parameters that are not the initial ones and zeros.
fn shaken<M: Module>(module: M) -> M {
    struct Shake;
    impl burn::module::ModuleMapper for Shake {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            param.map(|value| {
                let noise = value.random_like(Distribution::Uniform(0.5, 1.5));
                let require_grad = value.is_require_grad();
                (value + noise).detach().set_require_grad(require_grad)
            })
        }
    }
    module.map(&mut Shake)
}

#[test]
fn normalisations_are_burns() {
    for (name, device) in training_devices() {
        device.seed(3);
        same(
            &format!("batch norm on {name}"),
            &device,
            [6, 4, 3, 2],
            (
                nn::BatchNormConfig::new(4).init(&device),
                |layer, x: Tensor<4>| layer.forward(x),
            ),
            (
                shaken(burn::nn::BatchNormConfig::new(4).init(&device)),
                |layer, x| layer.forward(x),
            ),
        );
        same(
            &format!("batch norm and ReLU on {name}"),
            &device,
            [6, 4, 3, 2],
            (
                nn::BatchNormConfig::new(4).init(&device),
                |layer, x: Tensor<4>| layer.forward_relu(x),
            ),
            (
                shaken(burn::nn::BatchNormConfig::new(4).init(&device)),
                |layer, x| relu(layer.forward(x)),
            ),
        );
        same(
            &format!("batch norm, sum and ReLU on {name}"),
            &device,
            [6, 4, 3, 2],
            (
                nn::BatchNormConfig::new(4).init(&device),
                |layer, x: Tensor<4>| layer.forward_add_relu(x.clone(), x),
            ),
            (
                shaken(burn::nn::BatchNormConfig::new(4).init(&device)),
                |layer, x| relu(layer.forward(x.clone()) + x),
            ),
        );
        for bias in [true, false] {
            let burns = burn::nn::LayerNormConfig::new(5)
                .with_bias(bias)
                .init(&device);
            let ours = nn::LayerNormConfig::new(5).with_bias(bias).init(&device);
            same(
                &format!("layer norm on {name}"),
                &device,
                [3, 2, 5],
                (ours.clone(), |layer, x: Tensor<3>| layer.forward(x)),
                (shaken(burns.clone()), |layer, x| layer.forward(x)),
            );
            same(
                &format!("layer norm of a vector on {name}"),
                &device,
                [5],
                (ours, |layer, x: Tensor<1>| layer.forward(x)),
                (shaken(burns), |layer, x| layer.forward(x)),
            );
        }
        for affine in [true, false] {
            let burns = burn::nn::GroupNormConfig::new(2, 6)
                .with_affine(affine)
                .init(&device);
            let ours = nn::GroupNormConfig::new(2, 6)
                .with_affine(affine)
                .init(&device);
            same(
                &format!("group norm on {name}"),
                &device,
                [3, 6, 2, 4],
                (ours, |layer, x: Tensor<4>| layer.forward(x)),
                (shaken(burns), |layer, x| layer.forward(x)),
            );
        }
    }
}

#[test]
fn slopes_are_burns() {
    for (name, device) in training_devices() {
        for slopes in [1, 4] {
            let ours = nn::PReluConfig::new().with_num_parameters(slopes);
            let burns = burn::nn::PReluConfig::new().with_num_parameters(slopes);
            same(
                &format!("{slopes} slopes on {name}"),
                &device,
                [3, 4, 2, 5],
                (ours.init(&device), |layer, x: Tensor<4>| layer.forward(x)),
                (shaken(burns.init(&device)), |layer, x| layer.forward(x)),
            );
        }
        let vector = Tensor::<1>::from_floats([-2.0, 2.0], &device);
        let y = nn::PReluConfig::new().init(&device).forward(vector);
        assert_eq!(values(y.without_autodiff()), [-0.5, 2.0], "{name}");
    }
}

#[test]
fn the_pass_and_not_autodiff_chooses_the_mode() {
    let device = Device::flex().autodiff();
    let layer = nn::BatchNormConfig::new(2).init(&device);
    let x = Tensor::<2>::from_floats([[1.0, 5.0], [3.0, 9.0]], &device);
    let statistics = |layer: &nn::BatchNorm| values(layer.valid().running_mean.value());
    let y = Pass::mean().run(|| layer.forward(x.clone())).unwrap();
    assert_close(
        "y",
        &values(y.inner()),
        &[1.0, 5.0, 3.0, 9.0],
        Tolerance::of_largest(1e-4, &[9.0]),
    );
    assert_eq!(statistics(&layer), [0.0, 0.0], "evaluation changes nothing");
    Pass::train_mean().run(|| layer.forward(x.clone())).unwrap();
    assert_close(
        "mean",
        &statistics(&layer),
        &[0.2, 0.7],
        Tolerance::of_largest(1e-6, &[1.0]),
    );

    let dropout = nn::DropoutConfig::new(0.3).init();
    let ones = Tensor::<2>::ones([50, 200], &device.without_autodiff());
    let run = |pass: Pass| values(pass.run(|| dropout.forward(ones.clone())).unwrap());
    assert!(run(Pass::mean()).iter().all(|&value| value == 1.0));
    for mode in [Mode::Train, Mode::EvaluateWithDropout] {
        let kept = run(Pass::draw(3).with_mode(mode));
        let mean = kept.iter().sum::<f32>() / kept.len() as f32;
        assert!((mean - 1.0).abs() < 0.03, "the mean is kept: {mean}");
        assert!(
            kept.iter()
                .all(|&value| value == 0.0 || (value - 1.0 / 0.7).abs() < 1e-5)
        );
        assert_eq!(kept, run(Pass::draw(3).with_mode(mode)), "draw 3 is draw 3");
        assert_ne!(kept, run(Pass::draw(4).with_mode(mode)));
    }
}

#[test]
fn dropout_of_several_draws_is_that_of_each() {
    let device = Device::flex();
    let dropout = nn::DropoutConfig::new(0.5).init();
    let mode = Mode::EvaluateWithDropout;
    let x = Tensor::<2>::ones([3, 8], &device);
    let forward = |pass: Pass, x: &Tensor<2>| {
        let pass = pass.with_mode(mode);
        values(pass.run(|| dropout.forward(x.clone())).unwrap())
    };
    let together = forward(Pass::draws(5, 2), &x.clone().repeat_dim(0, 2));
    let apart = [forward(Pass::draw(5), &x), forward(Pass::draw(6), &x)].concat();
    assert_eq!(together, apart);
}
