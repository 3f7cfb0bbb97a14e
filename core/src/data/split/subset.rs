//! Some images of a data set.

use crate::data::{DataError, Dataset, Picture};
use std::sync::Arc;

/// The images of a data set that a list of indices names, in the order of the list.
///
/// ```
/// use bayesadapter::data::{Dataset, Split, Subset, digits};
/// use std::sync::Arc;
///
/// let all = Arc::new(digits(Split::Test));
/// let some = Subset::new(all.clone(), vec![7, 3])?;
/// assert_eq!(some.len(), 2);
/// assert_eq!(some.picture(0)?, all.picture(7)?);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone)]
pub struct Subset {
    whole: Arc<dyn Dataset>,
    indices: Vec<usize>,
}

impl Subset {
    /// The images at these indices of `whole`.
    ///
    /// # Errors
    ///
    /// An index past the last image.
    pub fn new(whole: Arc<dyn Dataset>, indices: Vec<usize>) -> Result<Self, DataError> {
        let len = whole.len();
        match indices.iter().find(|&&index| index >= len) {
            Some(&index) => Err(DataError::Index { index, len }),
            None => Ok(Self { whole, indices }),
        }
    }

    /// The same of indices that are known to be inside.
    pub(crate) fn of(whole: &Arc<dyn Dataset>, indices: Vec<usize>) -> Arc<dyn Dataset> {
        Arc::new(Self::inside(whole, indices))
    }

    /// The same, as it is.
    pub(super) fn inside(whole: &Arc<dyn Dataset>, indices: Vec<usize>) -> Self {
        let whole = Arc::clone(whole);
        Self { whole, indices }
    }

    /// The indices in the whole data set, by index in this one.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }
}

impl Dataset for Subset {
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
