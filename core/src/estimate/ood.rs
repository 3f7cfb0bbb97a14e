//! OOD images beside the mini-batches of a training step.

/// OOD images that go through the network beside each mini-batch, for
/// [uncertainty regularisation](crate::train::UncertaintyRegularisation): every one of them twice, in the same launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OodBatch {
    /// None.
    #[default]
    None,
    /// A quarter of the mini-batch, and at least one: what a run has unless it is told otherwise.
    Quarter,
    /// So many, whatever the size of the mini-batch.
    Count(usize),
}

impl OodBatch {
    /// OOD images beside a mini-batch of so many examples.
    pub fn images(self, batch: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Quarter => (batch / 4).max(1),
            Self::Count(images) => images,
        }
    }

    /// Rows of the launch: the examples, and each OOD image twice.
    pub(super) fn rows(self, batch: usize) -> usize {
        let copies = self.images(batch).saturating_mul(2);
        batch.saturating_add(copies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ood_image_is_two_rows() {
        assert_eq!(OodBatch::Count(32).rows(128), 192);
        assert_eq!(OodBatch::Quarter.rows(128), 192);
        assert_eq!(OodBatch::Quarter.rows(1), 3);
        assert_eq!(OodBatch::None.rows(128), 128);
        assert_eq!(OodBatch::default().images(128), 0);
        assert_eq!(OodBatch::Count(usize::MAX).rows(128), usize::MAX);
    }
}
