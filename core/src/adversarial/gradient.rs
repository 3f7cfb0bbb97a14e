//! Gradient of the posterior predictive's negative log-likelihood in the images.

use super::AttackError;
use crate::{
    ops::Hardware,
    pass::{Estimator, Pass, Use},
    posterior::{Bayes, Conversion, Posterior},
    predict::Classifier,
};
use burn::{
    module::Module,
    tensor::{
        Int, Tensor, TensorData,
        activation::{log_softmax, softplus},
    },
};

/// The most rows, images times draws, that go through the network at once.
const ROWS_AT_ONCE: usize = 256;

/// Bytes of activations that the tape of one launch may keep.
const TAPE_BYTES: usize = 512 << 20;

/// Bytes of drawn weights that the tape of one launch may keep; at least one draw is made.
const WEIGHT_BYTES: usize = 256 << 20;

/// What an attack climbs.
#[derive(Clone, Debug)]
pub struct PredictiveGradient {
    /// `-ln mean_s p_s[label]` in nats, `[n]`, without autodiff.
    pub nll: Tensor<1>,
    /// The gradient of each image's `nll` in the image, `[n, channels, height, width]`, without autodiff.
    pub gradient: Tensor<4>,
}

/// Negative log-likelihood of the mean predictive probabilities of draws `0..draws`, and its gradient in the network's
/// inputs `images`, `[n, channels, height, width]`, through all draws. An ensemble has at most as many draws as
/// components, and a point posterior one. Layers are in [`Mode::Evaluate`](crate::pass::Mode::Evaluate).
///
/// ```
/// use bayesadapter::{adversarial::predictive_gradient, models::Architecture};
/// use bayesadapter::posterior::{IntoBayes, MeanField};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let network = "digits-cnn".parse::<Architecture>()?.init(&device)?;
/// let bayes = network.into_bayes(MeanField::fine_tune(1_797))?;
/// let found = predictive_gradient(&bayes, Tensor::zeros([2, 1, 8, 8], &device), &[3, 8], 5)?;
/// assert_eq!(found.nll.dims(), [2]);
/// assert_eq!(found.gradient.dims(), [2, 1, 8, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// No images or draws, labels that do not fit, a network without classes or one that has no gradient in its input, and
/// a pass that fails.
pub fn predictive_gradient<M: Classifier<4>>(
    bayes: &Bayes<M>,
    images: Tensor<4>,
    labels: &[u32],
    draws: u32,
) -> Result<PredictiveGradient, AttackError> {
    if draws == 0 {
        return Err(AttackError::Setting {
            what: "draws",
            value: draws.to_string(),
            need: "at least 1; the paper has 20",
        });
    }
    let images = images.without_autodiff();
    Predictive::new(bayes, &images, labels, draws)?.gradient(images, labels)
}

/// A network whose gradients in its input are wanted, and those alone.
pub(super) struct Predictive<M: Module> {
    /// On a device with autodiff, with no parameter tracked.
    network: M,
    /// How many different draws there are.
    draws: u32,
    draws_at_once: u32,
    rows_at_once: usize,
}

impl<M: Classifier<4>> Predictive<M> {
    pub(super) fn new(
        bayes: &Bayes<M>,
        images: &Tensor<4>,
        labels: &[u32],
        draws: u32,
    ) -> Result<Self, AttackError> {
        let count = images.dims()[0];
        if count == 0 {
            return Err(AttackError::NoImages);
        }
        if labels.len() != count {
            let (images, labels) = (count, labels.len());
            return Err(AttackError::Labels { images, labels });
        }
        // `valid` makes running statistics of its own, and `freeze` outlasts `train`, which turns autodiff on.
        let network = bayes.network().valid().freeze().train();
        if !network.has_classifier() {
            return Err(AttackError::NoClassifier);
        }
        let limit = Hardware::of(&images.device()).tensor_limit;
        let limit = limit.map_or(usize::MAX, |limit| limit.try_into().unwrap_or(usize::MAX));
        let different = bayes.posterior().different_draws();
        Ok(Self {
            rows_at_once: fitting_rows(&network, images, limit)?,
            draws_at_once: fitting_draws(bayes, limit),
            draws: different.map_or(draws, |different| draws.min(different)),
            network,
        })
    }

    /// Of images without autodiff, one label for each.
    pub(super) fn gradient(
        &mut self,
        images: Tensor<4>,
        labels: &[u32],
    ) -> Result<PredictiveGradient, AttackError> {
        let (mut nlls, mut gradients) = (Vec::new(), Vec::new());
        let mut start = 0;
        for labels in labels.chunks(self.rows_at_once) {
            let end = start + labels.len();
            let part = self.of_slice(images.clone().slice(start..end), labels)?;
            nlls.push(part.nll);
            gradients.push(part.gradient);
            start = end;
        }
        Ok(PredictiveGradient {
            nll: Tensor::cat(nlls, 0),
            gradient: Tensor::cat(gradients, 0),
        })
    }

    /// All draws of images that fit into one launch.
    fn of_slice(
        &mut self,
        images: Tensor<4>,
        labels: &[u32],
    ) -> Result<PredictiveGradient, AttackError> {
        let fitting = u32::try_from(self.rows_at_once / labels.len()).unwrap_or(u32::MAX);
        let mut sum: Option<LogSum> = None;
        let mut done = 0;
        while done < self.draws {
            let most = fitting.min(self.draws_at_once).max(1);
            let now = most.min(self.draws - done);
            let Some(part) = self.launch(&images, labels, done, now)? else {
                self.draws_at_once = 1;
                continue;
            };
            sum = Some(match sum {
                Some(sum) => sum.plus(part),
                None => part,
            });
            done += now;
        }
        let LogSum { value, gradient } = sum.ok_or(AttackError::NoGradient)?;
        Ok(PredictiveGradient {
            nll: value.neg().add_scalar(f64::from(self.draws).ln()),
            gradient: gradient.neg(),
        })
    }

    /// `ln sum_s p_s[label]` over `count` draws from `first` on, with its gradient; nothing if a layer shares one draw
    /// among the rows of all of them.
    fn launch(
        &self,
        images: &Tensor<4>,
        labels: &[u32],
        first: u32,
        count: u32,
    ) -> Result<Option<LogSum>, AttackError> {
        let leaf = images.clone().autodiff().require_grad();
        let (x, pass) = match count {
            1 => (leaf.clone(), Pass::draw(first)),
            _ => {
                let repeated = leaf.clone().repeat_dim(0, count as usize);
                (repeated, Pass::draws(first, count))
            }
        };
        // The backward pass too is inside of the pass, which catches a backend's panic.
        let (sum, trace) = pass.trace(|| log_sum(self.network.logits(x), leaf, labels, count))?;
        let vanilla = |one: &Use| one.estimator == Estimator::Vanilla;
        if count > 1 && trace.uses.iter().any(vanilla) {
            return Ok(None);
        }
        sum.map(Some)
    }
}

/// `ln sum_s p_s[label]` over some draws, `[n]`, and its gradient in the images, both without autodiff.
struct LogSum {
    value: Tensor<1>,
    gradient: Tensor<4>,
}

impl LogSum {
    /// Over the draws of both. Rows of a batch do not depend on each other outside of training, so that an image's
    /// gradient is the mean of those of its parts, weighted with their shares of the sum.
    fn plus(self, other: Self) -> Self {
        let value = self.value.clone() + softplus(other.value.clone() - self.value.clone(), 1.0);
        let weighted = |part: Self| {
            let share = (part.value - value.clone()).exp();
            part.gradient * share.reshape([-1, 1, 1, 1])
        };
        let gradient = weighted(self) + weighted(other);
        Self { value, gradient }
    }
}

/// Of the logits `[count * n, classes]`, draw by draw, of the images `leaf`, `[n, ..]`.
fn log_sum(
    logits: Tensor<2>,
    leaf: Tensor<4>,
    labels: &[u32],
    count: u32,
) -> Result<LogSum, AttackError> {
    let (count, images) = (count as usize, labels.len());
    let rows = count * images;
    let [found, classes] = logits.dims();
    if found != rows || classes == 0 {
        let found = vec![found, classes];
        return Err(AttackError::Logits { rows, found });
    }
    if let Some(&label) = labels.iter().find(|&&label| label as usize >= classes) {
        return Err(AttackError::Class { label, classes });
    }
    if !logits.is_tracked() {
        return Err(AttackError::NoGradient);
    }
    let index: Vec<i32> = labels.iter().map(|&label| label as i32).collect();
    let index = TensorData::new(index.repeat(count), [rows, 1]);
    let index = Tensor::<2, Int>::from_data(index, &logits.device());
    let log_p = log_softmax(logits, 1).gather(1, index);
    let log_p = log_p.reshape([count, images]);
    let largest = log_p.clone().detach().max_dim(0);
    let value = (log_p - largest.clone()).exp().sum_dim(0).log() + largest;
    let gradients = value.clone().sum().backward();
    Ok(LogSum {
        value: value.reshape([images]).without_autodiff(),
        gradient: leaf.grad(&gradients).ok_or(AttackError::NoGradient)?,
    })
}

/// Rows whose activations fit on the tape, and whose maps fit into a tensor of the device, as one image tells that goes
/// through the network.
fn fitting_rows(
    network: &impl Classifier<4>,
    images: &Tensor<4>,
    limit: usize,
) -> Result<usize, AttackError> {
    let one = images.clone().slice(0..1).autodiff();
    let (_, trace) = Pass::mean().trace(|| network.logits(one))?;
    let bytes = |elements: usize| elements.max(1) * size_of::<f32>();
    let rows = TAPE_BYTES / bytes(trace.activations.kept);
    let rows = rows.min(limit / bytes(trace.activations.largest));
    Ok(rows.clamp(1, ROWS_AT_ONCE))
}

/// Draws whose weights fit on the tape, which keeps those of all layers; one where a layer cannot tell rows apart.
fn fitting_draws<M: Module>(bayes: &Bayes<M>, limit: usize) -> u32 {
    let converted = &bayes.account().converted;
    match bayes.posterior() {
        _ if converted.iter().any(Conversion::is_vanilla_only) => 1,
        // An ensemble never materialises its weights, and a point has none to draw.
        Posterior::LowRankEnsemble(_) | Posterior::Point(_) => u32::MAX,
        Posterior::MeanField(_) => {
            let bytes = |one: &Conversion| one.shape.iter().product::<usize>() * size_of::<f32>();
            let all: usize = converted.iter().map(bytes).sum();
            let largest = converted.iter().map(bytes).max().unwrap_or(1);
            let draws = (WEIGHT_BYTES / all.max(1)).min(limit / largest.max(1));
            u32::try_from(draws).unwrap_or(u32::MAX).max(1)
        }
    }
}
