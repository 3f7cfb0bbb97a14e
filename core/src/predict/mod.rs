//! The posterior predictive: what the network says, and how sure it is.

mod draws;
mod error;
mod launch;
mod outcome;
mod team;

pub use draws::Draws;
pub use error::PredictError;
pub use outcome::Prediction;
pub(crate) use outcome::row_entropies;

use crate::{pass::Mode, posterior::Bayes};
use burn::{module::Module, tensor::Tensor};
use launch::Launcher;
use outcome::Outcome;

/// A network that tells classes apart. One method, so that [`Bayes::predict`] knows what to call.
///
/// ```
/// use bayesadapter::{nn::Linear, predict::Classifier};
/// use burn::{module::Module, tensor::Tensor};
///
/// #[derive(Module, Debug)]
/// struct Network { layer: Linear }
///
/// impl Classifier<2> for Network {
///     fn logits(&self, x: Tensor<2>) -> Tensor<2> {
///         self.layer.forward(x)
///     }
/// }
/// ```
pub trait Classifier<const D: usize>: Module {
    /// From x, with the examples on the first axis, to `[examples, classes]`.
    fn logits(&self, x: Tensor<D>) -> Tensor<2>;

    /// What the last layer sees, `[examples, features]`, and the logits: for verification of faces,
    /// which compares features. By default there are none.
    fn features_and_logits(&self, x: Tensor<D>) -> (Option<Tensor<2>>, Tensor<2>) {
        (None, self.logits(x))
    }

    /// Whether there are classes. A network that only embeds its input has features to tell.
    fn has_classifier(&self) -> bool {
        true
    }
}

/// How a prediction is made, beyond the number of draws.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictOptions {
    /// Which draws, and how many.
    pub draws: Draws,
    /// Whether to return the probabilities of every draw.
    pub keep_draws: bool,
    /// Whether to return the features, averaged over the draws.
    pub keep_features: bool,
    /// [`Mode::Evaluate`], or [`Mode::EvaluateWithDropout`] for Monte Carlo dropout.
    pub mode: Mode,
    /// The most rows, examples times draws, that go through the network at once. Fewer where their maps would take
    /// more than [`map_bytes`](Self::map_bytes).
    pub rows_at_once: usize,
    /// Bytes that the largest map between two layers of [`nn`](crate::nn) may take; a few of them are in memory at
    /// once. Where the device bounds its tensors, at most that.
    pub map_bytes: usize,
    /// Bytes that the drawn weights of one layer may take; at least one draw is made. Where the device bounds its
    /// tensors, at most that.
    pub weight_bytes: usize,
}

impl PredictOptions {
    /// These draws, and defaults that suit a small machine.
    pub fn new(draws: Draws) -> Self {
        Self {
            draws,
            keep_draws: false,
            keep_features: false,
            mode: Mode::Evaluate,
            rows_at_once: 256,
            map_bytes: 128 << 20,
            weight_bytes: 256 << 20,
        }
    }

    /// Returns the probabilities of every draw as well.
    pub fn with_draws_kept(mut self) -> Self {
        self.keep_draws = true;
        self
    }

    /// Returns the features as well.
    pub fn with_features_kept(mut self) -> Self {
        self.keep_features = true;
        self
    }

    /// In another mode.
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }
}

impl From<Draws> for PredictOptions {
    fn from(draws: Draws) -> Self {
        Self::new(draws)
    }
}

impl<M: Module> Bayes<M> {
    /// Predicts the classes of the examples on the first axis of `x`, with their uncertainty. Draws share
    /// launches as far as memory allows.
    ///
    /// ```
    /// use bayesadapter::{models::Architecture, posterior::{IntoBayes, MeanField}, predict::Draws};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let network = "digits-cnn".parse::<Architecture>()?.init(&device)?;
    /// let bayes = network.into_bayes(MeanField::fine_tune(1_797))?;
    /// let prediction = bayes.predict(Tensor::<4>::ones([4, 1, 8, 8], &device), Draws::Fixed(20))?;
    /// assert_eq!(prediction.probabilities().len(), 4 * 10);
    /// assert_eq!(prediction.mutual_information().len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An empty batch or list of draws, a mode of training, a network without classes or without the dropout asked for, a layer that refuses the examples, logits that are
    /// not numbers, and a device that fails.
    #[cfg(not(target_family = "wasm"))]
    pub fn predict<const D: usize>(
        &self,
        x: Tensor<D>,
        options: impl Into<PredictOptions>,
    ) -> Result<Prediction, PredictError>
    where
        M: Classifier<D>,
    {
        pollster::block_on(self.predict_async(x, options))
    }

    /// As `predict`, for places that must not block: a browser's page.
    ///
    /// # Errors
    ///
    /// As `predict`.
    pub async fn predict_async<const D: usize>(
        &self,
        x: Tensor<D>,
        options: impl Into<PredictOptions>,
    ) -> Result<Prediction, PredictError>
    where
        M: Classifier<D>,
    {
        self.predict_giving_way(x, options, async || {}).await
    }

    /// As [`predict_async`](Self::predict_async), for places where others wait for the thread too: `give_way` is awaited
    /// after every launch, or after some that threads make side by side, and at least every
    /// [`rows_at_once`](PredictOptions::rows_at_once).
    ///
    /// # Errors
    ///
    /// As `predict`.
    pub async fn predict_giving_way<const D: usize>(
        &self,
        x: Tensor<D>,
        options: impl Into<PredictOptions>,
        give_way: impl AsyncFn(),
    ) -> Result<Prediction, PredictError>
    where
        M: Classifier<D>,
    {
        let options = options.into();
        if options.mode == Mode::Train {
            return Err(PredictError::Training);
        }
        let different = match options.mode {
            // Draws of one network differ in what they drop.
            Mode::EvaluateWithDropout => None,
            _ => self.posterior().different_draws(),
        };
        let stages = options.draws.stages(different)?;
        let x = x.without_autodiff();
        let mut outcome = Outcome::new(x.dims()[0], options.keep_draws)?;
        let mut launcher = Launcher::new(self, &options, &x)?;
        for stage in stages {
            let before = outcome.mean();
            for run in stage {
                launcher.launch(&x, run, &mut outcome, &give_way).await?;
            }
            if options.draws.settled(&before, &outcome.mean()) {
                break;
            }
        }
        outcome.finish()
    }
}
