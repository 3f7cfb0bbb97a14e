//! One layer with its tensors on one device, ready to be run again and again.

use crate::shapes::{COMPONENTS, Pass, Shape, SourceKind};
use bayesadapter::ops::{
    Conv2dWeights, ConvOptions, MatmulWeights, NoiseKey, Weights, exemplar_conv2d, exemplar_matmul,
};
use bayesadapter_shaders::{Map, Matmul};
use burn::tensor::{Device, Distribution, Tensor, module, ops};

const KEY: NoiseKey = NoiseKey {
    seed: 1,
    draw: 0,
    parameter: 0,
    first_example: 0,
};

/// The layer under measurement. The last two are Burn's own way to the same result, from one stored
/// weight per example.
enum Layer {
    Matmul(Tensor<3>, MatmulWeights),
    Conv2d(Tensor<4>, Conv2dWeights, ConvOptions),
    BurnMatmul(Tensor<3>, Tensor<3>),
    BurnGrouped(Tensor<4>, Tensor<4>, ops::ConvOptions<2>),
}

/// A layer that runs one pass.
pub struct Runner {
    layer: Layer,
    pass: Pass,
    device: Device,
}

/// Tensors that a pass makes: tracked where a backward pass follows.
struct Maker {
    device: Device,
    tracked: bool,
}

impl Maker {
    fn new(device: &Device, pass: Pass) -> Self {
        let tracked = pass == Pass::ForwardBackward;
        let device = device.clone();
        Self {
            device: if tracked { device.autodiff() } else { device },
            tracked,
        }
    }

    fn normal<const D: usize>(&self, shape: [usize; D], mean: f64, std: f64) -> Tensor<D> {
        let tensor = Tensor::random(shape, Distribution::Normal(mean, std), &self.device);
        if self.tracked {
            tensor.require_grad()
        } else {
            tensor
        }
    }

    fn weights<const W: usize, const K: usize>(
        &self,
        map: &Map,
        source: SourceKind,
    ) -> Weights<W, K> {
        let batch = map.batch();
        let weight: [usize; W] = map
            .weight_shape()
            .try_into()
            .expect("the rank of one weight");
        let many = |count: usize| {
            std::array::from_fn(|axis| if axis == 0 { count } else { weight[axis - 1] })
        };
        let [fan_in, fan_out] = map.fan();
        match source {
            SourceKind::Shared => Weights::Given {
                weights: self.normal(many(1), 0.0, 0.05),
                index: vec![0; batch],
            },
            SourceKind::Given => Weights::Given {
                weights: self.normal(many(batch), 0.0, 0.05),
                index: (0..batch as u32).collect(),
            },
            SourceKind::Gaussian => Weights::Gaussian {
                mu: self.normal(weight, 0.0, 0.05),
                psi: self.normal(weight, -5.0, 0.1),
                key: KEY,
            },
            SourceKind::LowRank => Weights::LowRank {
                shared: self.normal(weight, 0.0, 0.05),
                left: self.normal([COMPONENTS, fan_in, 1], 1.0, 0.05),
                right: self.normal([COMPONENTS, 1, fan_out], 1.0, 0.05),
                index: (0..batch)
                    .map(|example| (example % COMPONENTS) as u32)
                    .collect(),
            },
        }
    }
}

impl Runner {
    /// Our op.
    pub fn ours(shape: &Shape, source: SourceKind, pass: Pass, device: &Device) -> Self {
        let maker = Maker::new(device, pass);
        let layer = match shape.map {
            Map::Matmul(m) => {
                let x = maker.normal([m.batch, m.rows, m.inputs], 0.0, 1.0);
                Layer::Matmul(x, maker.weights(&shape.map, source))
            }
            Map::Conv2d(c) => {
                let [h, w] = c.image;
                let options = ConvOptions {
                    stride: c.stride,
                    dilation: c.dilation,
                    padding: c.padding,
                    groups: c.groups,
                };
                let x = maker.normal([c.batch, c.channels_in, h, w], 0.0, 1.0);
                Layer::Conv2d(x, maker.weights(&shape.map, source), options)
            }
        };
        Self::new(layer, pass, maker)
    }

    /// Burn's convolution with groups = batch, or its batched product.
    pub fn burn(shape: &Shape, pass: Pass, device: &Device) -> Self {
        let maker = Maker::new(device, pass);
        let layer = match shape.map {
            Map::Matmul(m) => {
                let x = maker.normal([m.batch, m.rows, m.inputs], 0.0, 1.0);
                let w = maker.normal([m.batch, m.inputs, m.outputs], 0.0, 0.05);
                Layer::BurnMatmul(x, w)
            }
            Map::Conv2d(c) => {
                let ([h, w], [o, i, kh, kw]) = (c.image, c.weight_shape());
                let options = ops::ConvOptions {
                    stride: c.stride,
                    padding: [
                        (c.padding.top, c.padding.bottom),
                        (c.padding.left, c.padding.right),
                    ],
                    dilation: c.dilation,
                    groups: c.batch * c.groups,
                };
                let x = maker.normal([1, c.batch * c.channels_in, h, w], 0.0, 1.0);
                let w = maker.normal([c.batch * o, i, kh, kw], 0.0, 0.05);
                Layer::BurnGrouped(x, w, options)
            }
        };
        Self::new(layer, pass, maker)
    }

    /// Burn's product of two square matrices: the yardstick of an adapter.
    pub fn square_matmul(side: usize, device: &Device) -> (Self, f64) {
        let map = Map::Matmul(Matmul {
            batch: 1,
            rows: side,
            inputs: side,
            outputs: side,
        });
        let maker = Maker::new(device, Pass::Forward);
        let square = || maker.normal([1, side, side], 0.0, 1.0);
        let layer = Layer::BurnMatmul(square(), square());
        (Self::new(layer, Pass::Forward, maker), map.flop())
    }

    fn new(layer: Layer, pass: Pass, maker: Maker) -> Self {
        let runner = Self {
            layer,
            pass,
            device: maker.device,
        };
        runner.wait();
        runner
    }

    /// One pass, finished: on a GPU that means waiting for the queue.
    pub fn run(&self) {
        match &self.layer {
            Layer::Matmul(x, weights) => self
                .finish(exemplar_matmul(x.clone(), weights.clone(), None).expect("a valid shape")),
            Layer::Conv2d(x, weights, options) => self.finish(
                exemplar_conv2d(x.clone(), weights.clone(), None, *options).expect("a valid shape"),
            ),
            Layer::BurnMatmul(x, w) => self.finish(x.clone().matmul(w.clone())),
            Layer::BurnGrouped(x, w, options) => {
                self.finish(module::conv2d(x.clone(), w.clone(), None, options.clone()))
            }
        }
    }

    /// The loss is a plain sum, as in the PyTorch script: its gradient costs next to nothing.
    fn finish<const D: usize>(&self, y: Tensor<D>) {
        match self.pass {
            Pass::Forward => {
                self.wait();
                drop(y);
            }
            Pass::ForwardBackward => {
                let grads = y.sum().backward();
                self.wait();
                drop(grads);
            }
        }
    }

    fn wait(&self) {
        self.device.sync().expect("the device finishes its work");
    }
}
