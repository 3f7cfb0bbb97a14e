//! A part of a data set, for those that come in one piece.

use crate::{
    data::{DataError, Dataset, Picture},
    ops::NoiseKey,
};
use std::sync::Arc;

/// Data to learn from and data to judge by.
#[derive(Clone)]
pub struct Splits {
    /// To learn from.
    pub train: Arc<dyn Dataset>,
    /// To judge by.
    pub test: Arc<dyn Dataset>,
}

/// Some pictures of a data set.
pub(super) struct Part {
    whole: Arc<dyn Dataset>,
    indices: Vec<usize>,
}

impl Splits {
    /// Keeps every tenth picture of each class back to judge by, and one at least where there are two or more; which,
    /// depends on the seed alone.
    pub fn hold_out(whole: Arc<dyn Dataset>, seed: u64) -> Self {
        const KEPT_BACK: usize = 10;
        let key = NoiseKey {
            seed,
            draw: 0x686f_6c64,
            ..NoiseKey::default()
        };
        let mut of_class = vec![Vec::new(); whole.class_names().len()];
        for index in 0..whole.len() {
            of_class[whole.label(index) as usize].push(index);
        }
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for mut indices in of_class {
            let every = indices.len().clamp(2, KEPT_BACK);
            indices.sort_by_cached_key(|&index| (key.bits(index as u32, 0), index));
            for (rank, index) in indices.into_iter().enumerate() {
                match rank % every == every - 1 {
                    true => test.push(index),
                    false => train.push(index),
                }
            }
        }
        let part = |mut indices: Vec<usize>| {
            indices.sort_unstable();
            Part::of(&whole, indices)
        };
        Self {
            train: part(train),
            test: part(test),
        }
    }
}

impl Part {
    pub(super) fn of(whole: &Arc<dyn Dataset>, indices: Vec<usize>) -> Arc<dyn Dataset> {
        let whole = Arc::clone(whole);
        Arc::new(Self { whole, indices })
    }
}

impl Dataset for Part {
    fn len(&self) -> usize {
        self.indices.len()
    }

    fn class_names(&self) -> &[String] {
        self.whole.class_names()
    }

    fn label(&self, index: usize) -> u32 {
        self.whole.label(self.indices[index])
    }

    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        let len = self.len();
        let &inside = self
            .indices
            .get(index)
            .ok_or(DataError::Index { index, len })?;
        self.whole.picture(inside)
    }

    fn name(&self, index: usize) -> String {
        self.whole.name(self.indices[index])
    }

    fn remark(&self) -> Option<String> {
        self.whole.remark()
    }
}
