//! The linear layer.

use super::{INITIALIZER, PerExample};
use crate::{
    estimators::{self, LinearMap},
    ops::{MatmulWeights, OpError, exemplar_matmul},
};
use burn::{
    config::Config,
    module::{Module, Param},
    nn::{Initializer, LinearLayout},
    tensor::{Device, Tensor},
};

/// Configuration of a [`Linear`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct LinearConfig {
    /// Number of inputs.
    pub d_input: usize,
    /// Number of outputs.
    pub d_output: usize,
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
    /// How the parameters start.
    #[config(default = "INITIALIZER")]
    pub initializer: Initializer,
    /// How the weight is laid out in records.
    #[config(default = "LinearLayout::Row")]
    pub layout: LinearLayout,
}

/// `y = x W + b`
#[derive(Module, Debug)]
pub struct Linear {
    /// `[d_input, d_output]`
    pub weight: Param<Tensor<2>>,
    /// `[d_output]`
    pub bias: Option<Param<Tensor<1>>>,
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl LinearConfig {
    /// A new layer.
    ///
    /// ```
    /// use bayesadapter::nn::LinearConfig;
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let layer = LinearConfig::new(3, 2).with_bias(false).init(&device);
    /// assert_eq!(layer.forward(Tensor::<2>::ones([5, 3], &device)).dims(), [5, 2]);
    /// ```
    pub fn init(&self, device: &Device) -> Linear {
        let burn::nn::Linear { weight, bias } =
            burn::nn::LinearConfig::new(self.d_input, self.d_output)
                .with_bias(self.bias)
                .with_initializer(self.initializer.clone())
                .with_layout(self.layout)
                .init(device);
        Linear {
            weight,
            bias,
            per_example: PerExample,
        }
    }
}

impl Linear {
    /// `[.., d_input]` to `[.., d_output]`; the first axis is that of the examples.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let mut dims = input.dims();
        let inputs = dims[D - 1];
        let rows = if D == 1 { 1 } else { dims[0] };
        let each = input.shape().num_elements() / (rows * inputs).max(1);
        let x = input.reshape([rows, each, inputs]);
        let y = estimators::forward(&Dense, x, &self.weight, self.bias.as_ref());
        dims[D - 1] = y.dims()[2];
        y.reshape(dims)
    }
}

/// x `[rows, positions, inputs]` by weights `[inputs, outputs]`.
struct Dense;

impl LinearMap<2, 3, 3> for Dense {
    const CHANNELS: usize = 2;

    fn apply(&self, x: Tensor<3>, weights: MatmulWeights) -> Result<Tensor<3>, OpError> {
        exemplar_matmul(x, weights, None)
    }

    fn by_channel(&self, values: Tensor<2>) -> Tensor<3> {
        let [rows, channels] = values.dims();
        values.reshape([rows, 1, channels])
    }

    fn y_shape(&self, [rows, positions, _]: [usize; 3], [_, outputs]: [usize; 2]) -> [usize; 3] {
        [rows, positions, outputs]
    }
}
