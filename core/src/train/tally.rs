//! Losses and hits of the steps so far, which stay on the device until somebody asks.

use crate::{pass::PassError, read};
use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

/// What one step of training saw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepScores {
    /// Mean negative log-likelihood of the mini-batch, in nats.
    pub likelihood_loss: f64,
    /// Examples whose likeliest class is their label.
    pub correct: usize,
    /// Examples of the mini-batch.
    pub examples: usize,
}

/// Scores that have not been read. A read per step would make the host wait for the device every time.
#[derive(Default)]
pub(super) struct Tally {
    /// Loss and hits in turn, `[1]` each.
    pending: Vec<Tensor<1>>,
    examples: Vec<usize>,
}

impl Tally {
    pub(super) fn add(&mut self, loss: Tensor<1>, logits: Tensor<2>, labels: Tensor<1, Int>) {
        let [examples, _] = logits.dims();
        let classes = logits.without_autodiff().argmax(1).reshape([examples]);
        let hits = classes.equal(labels).float().sum();
        self.pending.extend([loss.without_autodiff(), hits]);
        self.examples.push(examples);
    }

    /// The steps since the last read, in their order.
    pub(super) async fn read(&mut self) -> Result<Vec<StepScores>, PassError> {
        if self.pending.is_empty() {
            return Ok(Vec::new());
        }
        let pending = Tensor::cat(std::mem::take(&mut self.pending), 0);
        let values = read::values(pending).await?;
        let examples = std::mem::take(&mut self.examples);
        let steps = values.chunks_exact(2).zip(examples);
        Ok(steps
            .map(|(values, examples)| StepScores {
                likelihood_loss: f64::from(values[0]),
                correct: values[1] as usize,
                examples,
            })
            .collect())
    }
}
