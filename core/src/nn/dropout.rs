//! Dropout, on when the pass says so.

use crate::{
    estimators::dropped,
    pass::{self, Mode},
};
use burn::{
    config::Config,
    module::{Flag, Module, Param},
    tensor::Tensor,
};

/// Configuration of a [`Dropout`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct DropoutConfig {
    /// Probability with which an element is set to zero.
    pub prob: f64,
}

/// Sets random elements to zero, in passes of the modes [`Mode::Train`] and
/// [`Mode::EvaluateWithDropout`]; outside of a pass as Burn's layer does.
#[derive(Module, Debug)]
pub struct Dropout {
    /// Probability with which an element is set to zero.
    pub prob: f64,
    /// Cleared by `freeze`, which turns the layer off in training.
    pub training: Param<Flag>,
}

impl DropoutConfig {
    /// A new layer.
    ///
    /// # Panics
    ///
    /// As Burn's, if the probability is not in `[0, 1)`.
    pub fn init(&self) -> Dropout {
        let burn::nn::Dropout { prob, training } = burn::nn::DropoutConfig::new(self.prob).init();
        Dropout { prob, training }
    }
}

impl Dropout {
    /// Keeps the shape; what is kept is scaled by `1 / (1 - prob)`.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let Some(pass) = pass::active() else {
            let layer = burn::nn::Dropout {
                prob: self.prob,
                training: self.training.clone(),
            };
            return layer.forward(input);
        };
        let on = match pass.mode {
            Mode::Train => self.training.is_enabled(),
            Mode::Evaluate => false,
            Mode::EvaluateWithDropout => true,
        };
        if !on || self.prob == 0.0 {
            return input;
        }
        let (shape, device) = (input.dims(), input.device());
        let layer = pass::next_dropout_layer();
        pass::or_zeros(
            dropped(input, 1.0 - self.prob, &pass, layer),
            shape,
            &device,
        )
    }
}
