//! Several data sets as one.

use super::{DataError, Dataset, Picture};
use std::sync::Arc;

/// Several data sets one after the other, with the class names of the first.
pub(crate) struct Joined {
    parts: Vec<Arc<dyn Dataset>>,
}

impl Joined {
    /// Of these parts, or nothing if there are none.
    pub fn of(mut parts: Vec<Arc<dyn Dataset>>) -> Option<Arc<dyn Dataset>> {
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(Arc::new(Self { parts })),
        }
    }

    /// The part that an image is in, and its index there.
    fn place(&self, index: usize) -> Option<(&Arc<dyn Dataset>, usize)> {
        let mut left = index;
        for part in &self.parts {
            match left.checked_sub(part.len()) {
                None => return Some((part, left)),
                Some(rest) => left = rest,
            }
        }
        None
    }
}

impl Dataset for Joined {
    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    fn class_names(&self) -> &[String] {
        self.parts.first().map_or(&[], |part| part.class_names())
    }

    fn label(&self, index: usize) -> u32 {
        self.place(index).map_or(0, |(part, at)| part.label(at))
    }

    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        let len = self.len();
        let (part, at) = self.place(index).ok_or(DataError::Index { index, len })?;
        part.picture(at)
    }

    fn name(&self, index: usize) -> String {
        let place = self.place(index);
        place.map_or_else(String::new, |(part, at)| part.name(at))
    }
}
