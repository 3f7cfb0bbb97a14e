//! Several data sets as one, for their images alone.

use super::{DataError, Dataset, Picture};
use std::sync::Arc;

/// The images of several data sets one after the other. Their labels mean nothing to each other, so that all are of one
/// class.
pub(crate) struct Joined {
    parts: Vec<Arc<dyn Dataset>>,
    class_names: Vec<String>,
}

impl Joined {
    /// Of these parts, or nothing if there are none.
    pub fn of(parts: Vec<Arc<dyn Dataset>>) -> Option<Arc<dyn Dataset>> {
        let class_names = vec!["OOD".to_owned()];
        (!parts.is_empty()).then(|| Arc::new(Self { parts, class_names }) as Arc<dyn Dataset>)
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
        &self.class_names
    }

    fn label(&self, _index: usize) -> u32 {
        0
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

    fn remark(&self) -> Option<String> {
        self.parts.iter().find_map(|part| part.remark())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use crate::data::{Split, digits, scribbles};

    #[test]
    fn images_of_all_parts_are_of_one_class() {
        let parts: Vec<Arc<dyn Dataset>> =
            vec![Arc::new(scribbles(3, 0)), Arc::new(digits(Split::Test))];
        let (first, second) = (parts[0].picture(2).unwrap(), parts[1].picture(5).unwrap());
        let joined = Joined::of(parts).unwrap();
        assert_eq!(joined.len(), 3 + 355);
        assert_eq!(joined.picture(2).unwrap(), first);
        assert_eq!(joined.picture(8).unwrap(), second);
        assert!(joined.picture(358).is_err());
        assert!((0..358).all(|index| joined.label(index) == 0));
        assert!(Joined::of(Vec::new()).is_none());
    }
}
