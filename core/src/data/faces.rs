//! Lists of pairs of faces, for verification: are these two pictures of one person?

mod cfp;
mod lfw;

pub use cfp::CfpPairs;

use super::listed::Listed;
use super::{DataError, Dataset, Files};
use crate::metrics::{MetricError, Verification, verification_accuracy};
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

    /// How often a network is right on the pairs, by its features of [`pictures`](Self::pictures), one behind the other.
    /// Two faces are as similar as the cosine of their features, from which the mean of all is subtracted.
    ///
    /// # Errors
    ///
    /// Another number of features, features that are not finite, and fewer than two folds.
    pub fn verify(&self, features: &[f32]) -> Result<Verification, MetricError> {
        let (pictures, found) = (self.pictures.len(), features.len());
        if found == 0 || !found.is_multiple_of(pictures) {
            return Err(MetricError::Length {
                what: "features",
                expected: (found / pictures).max(1) * pictures,
                found,
            });
        }
        let centred = centred(features, found / pictures);
        let similar = |pair: &FacePair| cosine(&centred[pair.first], &centred[pair.second]);
        let similarities: Vec<f64> = self.pairs.iter().map(similar).collect();
        let same: Vec<bool> = self.pairs.iter().map(|pair| pair.same).collect();
        let folds: Vec<usize> = self.pairs.iter().map(|pair| pair.fold).collect();
        verification_accuracy(&similarities, &same, &folds)
    }
}

/// Rows of `width` features, less their mean.
fn centred(features: &[f32], width: usize) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = features
        .chunks_exact(width)
        .map(|row| row.iter().copied().map(f64::from).collect())
        .collect();
    let count = rows.len() as f64;
    let mean: Vec<f64> = (0..width)
        .map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / count)
        .collect();
    for row in &mut rows {
        row.iter_mut()
            .zip(&mean)
            .for_each(|(value, mean)| *value -= mean);
    }
    rows
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
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
            remark: None,
        };
        Ok(FacePairs {
            pictures: Arc::new(pictures),
            pairs,
        })
    }
}
