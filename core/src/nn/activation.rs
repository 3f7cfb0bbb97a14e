//! Activation functions with parameters.

#[doc(no_inline)]
pub use burn::nn::activation::*;

use super::{PerExample, along};
use crate::{
    estimators::{Rows, each_row},
    pass,
};
use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Device, Tensor, activation::prelu},
};

/// Configuration of a [`PRelu`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct PReluConfig {
    /// Number of slopes: that of the channels, or 1.
    #[config(default = "1")]
    pub num_parameters: usize,
    /// The slopes at the start.
    #[config(default = "0.25")]
    pub alpha: f64,
}

/// `x` where it is not below zero, and `alpha x` where it is.
#[derive(Module, Debug)]
pub struct PRelu {
    /// Slopes below zero: `[channels]`, or `[1]` for all channels.
    pub alpha: Param<Tensor<1>>,
    /// The slopes at the start.
    pub alpha_value: f64,
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl PReluConfig {
    /// A new layer.
    ///
    /// ```
    /// use bayesadapter::nn::PReluConfig;
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let layer = PReluConfig::new().with_num_parameters(3).init(&device);
    /// assert_eq!(layer.forward(Tensor::<4>::ones([2, 3, 7, 5], &device)).dims(), [2, 3, 7, 5]);
    /// ```
    pub fn init(&self, device: &Device) -> PRelu {
        let burn::nn::PRelu { alpha, alpha_value } = burn::nn::PReluConfig::new()
            .with_num_parameters(self.num_parameters)
            .with_alpha(self.alpha)
            .init(device);
        PRelu {
            alpha,
            alpha_value,
            per_example: PerExample,
        }
    }
}

impl PRelu {
    /// `[batch, channels, ..]`, keeping the shape.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        if pass::has_failed() {
            return input;
        }
        // A vector is one example of one channel.
        let (rows, channels) = match D {
            1 => (1, 0),
            _ => (input.dims()[0], 1),
        };
        match each_row(&self.alpha, rows) {
            Rows::Shared(slopes) => prelu(input, slopes),
            Rows::Each(slopes) => {
                let below = input.clone().lower_elem(0.0);
                let scaled = input.clone() * along::<D>(slopes, channels);
                input.mask_where(below, scaled)
            }
        }
    }
}
