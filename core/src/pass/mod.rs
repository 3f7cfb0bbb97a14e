//! What a forward pass does, said out loud.
//!
//! A converted network draws weights in many ways, and its normalisation and dropout layers behave
//! differently in training. None of that is inferred from whether autodiff is on: a [`Pass`] says it,
//! for everything that runs inside [`Pass::run`].
//!
//! Outside of a pass a converted network is its mean, and the layers of [`nn`](crate::nn) do what
//! Burn's do.

mod activations;
mod context;
mod error;

pub(crate) use activations::Activations;
pub(crate) use context::{
    Trace, Use, active, fail, has_failed, next_dropout_layer, or_zeros, panic_text, record,
    record_kept, record_layer, record_norm, zeros,
};
pub use error::PassError;

use crate::ops::NoiseKey;
use serde::{Deserialize, Serialize};

/// How the expected log-likelihood is estimated from one forward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// One weight for the whole mini-batch.
    Vanilla,
    /// A weight of its own for every example: gradients of far smaller variance, at the price of one
    /// product.
    Exemplar,
    /// The pre-activation is drawn instead of the weight. Gaussian posteriors only; two products.
    Local,
    /// One perturbation for the mini-batch, with random signs for every example. Posteriors that are
    /// symmetric about their mean only; two products.
    Flipout,
}

impl std::fmt::Display for Estimator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Vanilla => "vanilla",
            Self::Exemplar => "exemplar",
            Self::Local => "local",
            Self::Flipout => "flipout",
        })
    }
}

/// What normalisation and dropout layers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Normalise by the batch and update running statistics; drop activations.
    Train,
    /// Normalise by running statistics, change nothing, drop nothing.
    Evaluate,
    /// As [`Evaluate`](Self::Evaluate), but drop activations: Monte Carlo dropout.
    EvaluateWithDropout,
}

/// Which weights the rows of a batch see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// The posterior mean.
    Mean,
    /// Draw `k`: the same network on every device, and for all rows.
    One(u32),
    /// `count` draws from `first` on, each seen by an equal run of rows: with `count * b` rows, rows
    /// `j * b .. (j + 1) * b` see draw `first + j`.
    Several {
        /// The draw of the first rows.
        first: u32,
        /// Number of draws; the number of rows is a multiple of it.
        count: u32,
    },
    /// The noise of one training step, spread over the rows as the estimator says.
    Step {
        /// How the noise is spread.
        estimator: Estimator,
        /// Number of the step; the same step has the same noise.
        step: u32,
        /// Images at the end of the batch that are in it twice, for the uncertainty regulariser: of `b + 2 * pairs`
        /// rows, `b .. b + pairs` are the first copies, and the rest are the second ones in the same order. In an
        /// ensemble of several components the second copy of an image sees another one than the first. Other posteriors
        /// need not know: every row has noise of its own.
        pairs: u32,
    },
}

/// The mode of the layers and the weights that they use.
///
/// ```
/// use bayesadapter::pass::Pass;
/// use bayesadapter::nn::LinearConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let layer = LinearConfig::new(3, 2).init(&device);
/// let x = Tensor::<2>::ones([4, 3], &device);
/// let y = Pass::mean().run(|| layer.forward(x))?;
/// assert_eq!(y.dims(), [4, 2]);
/// # Ok::<(), bayesadapter::pass::PassError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    /// What normalisation and dropout layers do.
    pub mode: Mode,
    /// Which weights are used.
    pub draw: Draw,
    /// Identity of the first row, so that parts of one batch that run apart keep their noise: that of training steps,
    /// and of dropout layers.
    pub first_example: u32,
    /// Start of the noise of dropout layers. Posteriors have their own.
    pub seed: u64,
}

impl Pass {
    /// A training step.
    pub fn train(estimator: Estimator, step: u32) -> Self {
        Self {
            mode: Mode::Train,
            draw: Draw::Step {
                estimator,
                step,
                pairs: 0,
            },
            ..Self::mean()
        }
    }

    /// A training step at the mean: ordinary, deterministic training.
    pub fn train_mean() -> Self {
        Self {
            mode: Mode::Train,
            ..Self::mean()
        }
    }

    /// Evaluation at the mean.
    pub fn mean() -> Self {
        Self {
            mode: Mode::Evaluate,
            draw: Draw::Mean,
            first_example: 0,
            seed: 0,
        }
    }

    /// Evaluation of draw `k`.
    pub fn draw(k: u32) -> Self {
        Self {
            draw: Draw::One(k),
            ..Self::mean()
        }
    }

    /// Evaluation of `count` draws at once, for a batch that repeats its examples `count` times.
    pub fn draws(first: u32, count: u32) -> Self {
        Self {
            draw: Draw::Several { first, count },
            ..Self::mean()
        }
    }

    /// The same pass in another mode.
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The same pass for rows that begin at example `first_example` of their batch.
    pub fn with_first_example(self, first_example: u32) -> Self {
        Self {
            first_example,
            ..self
        }
    }

    /// The same training step for a batch that ends with `pairs` images and the same images again, which see different
    /// draws. Passes that are no training step of a posterior stay as they are.
    pub fn with_pairs(self, pairs: u32) -> Self {
        let draw = match self.draw {
            Draw::Step {
                estimator, step, ..
            } => Draw::Step {
                estimator,
                step,
                pairs,
            },
            draw => draw,
        };
        Self { draw, ..self }
    }

    /// The same pass with other dropout noise.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Runs `forward` as this pass.
    ///
    /// # Errors
    ///
    /// What a layer refuses: the layers after it then return zeros, so that `forward` comes to its end. And a
    /// panic inside `forward` (Burn panics on wrong shapes) where the platform can unwind.
    pub fn run<T>(self, forward: impl FnOnce() -> T) -> Result<T, PassError> {
        context::run(self, forward).map(|(value, _)| value)
    }

    /// As [`run`](Self::run), with what the layers told of themselves.
    pub(crate) fn trace<T>(self, forward: impl FnOnce() -> T) -> Result<(T, Trace), PassError> {
        context::run(self, forward)
    }

    /// The noise of a parameter in this pass. Training steps and draws never share noise, and a draw is the same for
    /// all rows.
    pub(crate) fn key(&self, seed: u64, parameter: u32) -> NoiseKey {
        const TRAINING: u64 = 0x5bd1_e995_9e37_79b9;
        let (seed, draw, first_example) = match self.draw {
            Draw::Mean => (seed, 0, 0),
            Draw::One(draw) | Draw::Several { first: draw, .. } => (seed, draw, 0),
            Draw::Step { step, .. } => (seed ^ TRAINING, step, self.first_example),
        };
        NoiseKey {
            seed,
            draw,
            parameter,
            first_example,
        }
    }
}
