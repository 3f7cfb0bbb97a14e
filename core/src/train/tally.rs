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
    /// Mean mutual information of two draws for the OOD images of the step, in nats, if there were some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ood_mutual_information: Option<f64>,
}

/// Scores that have not been read. A read per step would make the host wait for the device every time.
#[derive(Default)]
pub(super) struct Tally {
    /// Loss, hits and mutual information of OOD images in turn, `[1]` each.
    pending: Vec<Tensor<1>>,
    /// Examples of each step, and whether it had OOD images.
    steps: Vec<(usize, bool)>,
}

impl Tally {
    pub(super) fn add(
        &mut self,
        loss: Tensor<1>,
        logits: Tensor<2>,
        labels: Tensor<1, Int>,
        ood_mutual_information: Option<Tensor<1>>,
    ) {
        let [examples, _] = logits.dims();
        let classes = logits.without_autodiff().argmax(1).reshape([examples]);
        let hits = classes.equal(labels).float().sum();
        self.pending.extend([loss.without_autodiff(), hits]);
        self.steps
            .push((examples, ood_mutual_information.is_some()));
        self.pending
            .extend(ood_mutual_information.map(Tensor::without_autodiff));
    }

    /// The steps since the last read, in their order.
    pub(super) async fn read(&mut self) -> Result<Vec<StepScores>, PassError> {
        if self.pending.is_empty() {
            return Ok(Vec::new());
        }
        let pending = Tensor::cat(std::mem::take(&mut self.pending), 0);
        let values = read::values(pending).await?;
        let mut rest = values.as_slice();
        let mut scores = Vec::with_capacity(self.steps.len());
        for (examples, with_ood) in std::mem::take(&mut self.steps) {
            let (of_step, later) = rest.split_at(2 + usize::from(with_ood));
            rest = later;
            scores.push(StepScores {
                likelihood_loss: f64::from(of_step[0]),
                correct: of_step[1] as usize,
                examples,
                ood_mutual_information: of_step.get(2).map(|&value| f64::from(value)),
            });
        }
        Ok(scores)
    }
}
