//! The OOD images that go beside the mini-batches of a run.

use crate::{
    data::{Batches, Epoch},
    session::SessionError,
    train::Position,
};
use burn::tensor::{Device, Tensor};

/// Mini-batches of OOD images, without end: which one goes beside a mini-batch depends on the place of that in the run
/// alone, so that a run that is resumed sees the same ones.
pub(super) struct OodImages {
    batches: Batches,
    /// The epoch that is being read, and the number of its next mini-batch.
    reading: Option<(u32, usize, Epoch)>,
}

impl OodImages {
    pub(super) fn new(batches: Batches) -> Self {
        Self {
            batches,
            reading: None,
        }
    }

    /// The OOD images beside the mini-batch at `position` of a run, or none where all of them are broken.
    pub(super) fn beside(
        &mut self,
        position: Position,
        batches_per_epoch: usize,
        device: &Device,
    ) -> Result<Option<Tensor<4>>, SessionError> {
        let number = position.epoch as usize * batches_per_epoch + position.batch;
        let (epoch, index) = (
            (number / self.batches.len()) as u32,
            number % self.batches.len(),
        );
        let reading = match self.reading.take() {
            Some((at, next, batches)) if (at, next) == (epoch, index) => batches,
            _ => self.batches.epoch(epoch, index),
        };
        let (_, _, batches) = self.reading.insert((epoch, index + 1, reading));
        let Some(batch) = batches.next() else {
            return Ok(None);
        };
        let batch = batch?;
        if batch.labels.is_empty() {
            return Ok(None);
        }
        Ok(Some(batch.to_tensors(device).0))
    }
}
