//! With what it began that numbers ran away.

use super::{Learning, Mark, OodImages};
use crate::session::{Keeper, Pace, SessionError};

impl<K: Keeper, P: Pace> Learning<'_, K, P> {
    /// With which parameter it began after `from` that numbers are not finite, and in which step; `seen`, if no
    /// parameter is to blame.
    ///
    /// Infinite gradients make every parameter infinite within a step or two, so that those of now tell nothing. To look
    /// at all of them in every step would cost every run, so the few steps are made once more.
    pub(super) async fn culprit(&self, from: &Mark, seen: &str) -> (String, usize) {
        if let Ok(Some(found)) = self.retrace(from).await {
            return found;
        }
        // The last step is to blame; or the data, or the device, are not what they were.
        let found = self.trainer.not_finite().await.ok().flatten();
        let step = self.trainer.position().step;
        (found.unwrap_or_else(|| seen.to_owned()), step)
    }

    async fn retrace(&self, from: &Mark) -> Result<Option<(String, usize)>, SessionError> {
        let mut again = self.trainer.back_at(&from.moment);
        let batches = self.job.train_batches()?;
        let mut ood = self.job.ood_batches()?.map(OodImages::new);
        let end = self.trainer.position();
        while again.position() != end {
            let position = again.position();
            for batch in batches.epoch(position.epoch, position.batch) {
                let batch = batch?;
                let step = again.position().step + 1;
                if batch.labels.is_empty() {
                    again.pass_over()?;
                } else {
                    let (images, labels) = batch.to_tensors(&self.job.device);
                    let beside = match &mut ood {
                        Some(ood) => {
                            ood.beside(again.position(), batches.len(), &self.job.device)?
                        }
                        None => None,
                    };
                    let found = again.learn_and_look(images, labels, beside).await?;
                    if let Some(what) = found {
                        return Ok(Some((what, step)));
                    }
                }
                if again.position() == end {
                    break;
                }
                self.pace.breathe().await;
            }
        }
        Ok(None)
    }
}
