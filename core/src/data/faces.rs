//! Lists of pairs of faces, for verification: are these two pictures of one person?

mod cfp;
mod lfw;

pub use cfp::CfpPairs;

use super::listed::Listed;
use super::{DataError, Dataset, Files};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Two faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FacePair {
    /// One picture, in [`FacePairs::pictures`].
    pub first: usize,
    /// The other.
    pub second: usize,
    /// Whether they show the same person.
    pub same: bool,
    /// Part of the list, from 0; the threshold for one part is chosen on the others.
    pub fold: usize,
}

/// Pairs of faces, and every picture in them once.
///
/// ```no_run
/// use bayesadapter::data::FacePairs;
///
/// let lfw = FacePairs::open("lfw/images", "lfw/pairs.txt")?;
/// println!("{} pairs of {} pictures", lfw.pairs().len(), lfw.pictures().len());
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone)]
pub struct FacePairs {
    pictures: Arc<Listed>,
    pairs: Vec<FacePair>,
}

impl FacePairs {
    /// The pairs in the order of the list.
    pub fn pairs(&self) -> &[FacePair] {
        &self.pairs
    }

    /// The pictures in the pairs, each once, in the order of their names; its classes are the persons.
    pub fn pictures(&self) -> Arc<dyn Dataset> {
        self.pictures.clone()
    }
}

/// Collects pairs of names.
struct Collector {
    files: Files,
    pairs: Vec<(String, String, bool, usize)>,
}

impl Collector {
    fn new(files: Files) -> Self {
        Self {
            files,
            pairs: Vec::new(),
        }
    }

    /// Gives every picture its number. `person` is the part of a name that says whom it shows.
    fn finish(self, person: fn(&str) -> &str) -> Result<FacePairs, DataError> {
        if self.pairs.is_empty() {
            return Err(DataError::Empty {
                place: "the list of pairs".to_owned(),
            });
        }
        let every = self
            .pairs
            .iter()
            .flat_map(|(first, second, ..)| [first, second]);
        let mut numbers: BTreeMap<String, usize> = every.map(|name| (name.clone(), 0)).collect();
        let persons: BTreeMap<&str, u32> = numbers.keys().map(|name| (person(name), 0)).collect();
        let class_names: Vec<String> = persons.keys().map(|&name| name.to_owned()).collect();
        let persons: BTreeMap<&str, u32> = persons.into_keys().zip(0..).collect();
        let labels = numbers.keys().map(|name| persons[person(name)]).collect();
        numbers
            .values_mut()
            .zip(0..)
            .for_each(|(number, next)| *number = next);
        let pair = |(first, second, same, fold): &(String, String, bool, usize)| FacePair {
            first: numbers[first],
            second: numbers[second],
            same: *same,
            fold: *fold,
        };
        let pairs = self.pairs.iter().map(pair).collect();
        let pictures = Listed {
            files: Arc::new(self.files),
            names: numbers.into_keys().collect(),
            labels,
            class_names,
            unsplit: true,
        };
        Ok(FacePairs {
            pictures: Arc::new(pictures),
            pairs,
        })
    }
}
