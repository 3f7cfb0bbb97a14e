//! The training, validation and test set of a run.

use super::{
    Share, Subset, ValidationSplit,
    stratified::{by_class, can_be_split, split},
};
use crate::{
    data::{DataError, Dataset},
    ops::NoiseKey,
};
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// What [`ValidationSplit::Auto`] takes of a test set, and of the training set of data in one piece.
const AUTO_OF_TEST: Share = Share::Fraction(0.2);
const AUTO_OF_TRAIN: Share = Share::Fraction(0.1);

/// Training, validation and test set. No image is in two of them.
///
/// ```
/// use bayesadapter::data::{Dataset, Split, Splits, ValidationSplit, digits};
/// use std::sync::Arc;
///
/// let (train, test) = (Arc::new(digits(Split::Train)), Arc::new(digits(Split::Test)));
/// let splits = Splits::of_parts(train, None, test, &ValidationSplit::Auto, 0)?;
/// let source = splits.validation_source.expect("a fifth of the test set");
/// assert_eq!(source.to_string(), "71 of the 355 test images");
/// assert_eq!(splits.test.len(), 355 - 71);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone)]
pub struct Splits {
    /// What the network is trained on.
    pub train: Arc<dyn Dataset>,
    /// What settings are chosen on and predictions are calibrated on.
    pub validation: Option<Arc<dyn Dataset>>,
    /// What the result is evaluated on, once.
    pub test: Arc<dyn Dataset>,
    /// Where the validation set comes from, if there is one.
    pub validation_source: Option<ValidationSource>,
}

/// Where a validation set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationSource {
    /// The data have one.
    Own,
    /// Images of the training set, which is trained on without them.
    Train {
        /// How many.
        taken: usize,
        /// Size of the training set with them.
        of: usize,
    },
    /// Images of the test set, which is evaluated without them.
    Test {
        /// How many.
        taken: usize,
        /// Size of the test set with them.
        of: usize,
    },
}

/// One of two sets.
#[derive(Clone, Copy)]
enum Part {
    Train,
    Test,
}

impl Splits {
    /// A training set and a test set, without a validation set.
    pub fn new(train: Arc<dyn Dataset>, test: Arc<dyn Dataset>) -> Self {
        Self {
            train,
            validation: None,
            test,
            validation_source: None,
        }
    }

    /// Makes a test set of every tenth image of each class, of one image at least where there are two or more; which
    /// images, depends on the seed alone. There is no validation set.
    pub fn hold_out(whole: Arc<dyn Dataset>, seed: u64) -> Self {
        const EVERY: usize = 10;
        let key = NoiseKey {
            seed,
            draw: 0x686f_6c64,
            ..NoiseKey::default()
        };
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for mut indices in by_class(&*whole) {
            let every = indices.len().clamp(2, EVERY);
            indices.sort_by_cached_key(|&index| (key.bits(index as u32, 0), index));
            for (rank, index) in indices.into_iter().enumerate() {
                match rank % every == every - 1 {
                    true => test.push(index),
                    false => train.push(index),
                }
            }
        }
        let subset = |mut indices: Vec<usize>| {
            indices.sort_unstable();
            Subset::of(&whole, indices)
        };
        Self::new(subset(train), subset(test))
    }

    /// Of data in one piece: a test set as [`hold_out`](Self::hold_out) makes it, and then a validation set. The test
    /// set depends on the seed, and on `validation` only if that is a share of the test set.
    ///
    /// # Errors
    ///
    /// A share that cannot be taken.
    pub fn of_whole(
        whole: Arc<dyn Dataset>,
        validation: &ValidationSplit,
        seed: u64,
    ) -> Result<Self, DataError> {
        Self::hold_out(whole, seed).choose(validation, Part::Train, AUTO_OF_TRAIN, seed)
    }

    /// Of data that come as a training set and a test set, and perhaps with a validation set of their own, which
    /// [`ValidationSplit::Auto`] uses.
    ///
    /// # Errors
    ///
    /// A share that cannot be taken.
    pub fn of_parts(
        train: Arc<dyn Dataset>,
        own_validation: Option<Arc<dyn Dataset>>,
        test: Arc<dyn Dataset>,
        validation: &ValidationSplit,
        seed: u64,
    ) -> Result<Self, DataError> {
        let splits = Self::new(train, test);
        match (validation, own_validation) {
            (ValidationSplit::Auto, Some(own)) => Ok(Self {
                validation: Some(own),
                validation_source: Some(ValidationSource::Own),
                ..splits
            }),
            _ => splits.choose(validation, Part::Test, AUTO_OF_TEST, seed),
        }
    }

    /// With a validation set out of one of the two other sets; `auto_part` and `auto_share` say which where the choice
    /// is left to this library.
    fn choose(
        self,
        validation: &ValidationSplit,
        auto_part: Part,
        auto_share: Share,
        seed: u64,
    ) -> Result<Self, DataError> {
        let (part, share) = match *validation {
            ValidationSplit::None => return Ok(self),
            ValidationSplit::Auto if !can_be_split(&**self.part(auto_part)) => return Ok(self),
            ValidationSplit::Auto => (auto_part, auto_share),
            ValidationSplit::Train(share) => (Part::Train, share),
            ValidationSplit::Test(share) => (Part::Test, share),
        };
        let (rest, taken) = split(self.part(part), share, seed).map_err(|needed| {
            let needed = match part {
                Part::Train => format!("in the training set {needed}"),
                Part::Test => format!("in the test set {needed}"),
            };
            DataError::setting("validation", validation, needed)
        })?;
        let (taken_count, of) = (taken.len(), rest.len() + taken.len());
        let splits = Self {
            validation: Some(Arc::new(taken)),
            ..self
        };
        Ok(match part {
            Part::Train => Self {
                train: Arc::new(rest),
                validation_source: Some(ValidationSource::Train {
                    taken: taken_count,
                    of,
                }),
                ..splits
            },
            Part::Test => Self {
                test: Arc::new(rest),
                validation_source: Some(ValidationSource::Test {
                    taken: taken_count,
                    of,
                }),
                ..splits
            },
        })
    }

    fn part(&self, part: Part) -> &Arc<dyn Dataset> {
        match part {
            Part::Train => &self.train,
            Part::Test => &self.test,
        }
    }
}

impl fmt::Display for ValidationSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Own => f.write_str("validation set of the data"),
            Self::Train { taken, of } => {
                let percent = format!("{:.1}", 100.0 * taken as f64 / of as f64);
                let percent = percent.strip_suffix(".0").unwrap_or(&percent);
                let taken = grouped(taken);
                write!(f, "{percent} % of the training set ({taken} images)")
            }
            Self::Test { taken, of } => {
                write!(f, "{} of the {} test images", grouped(taken), grouped(of))
            }
        }
    }
}

/// A number with a comma before every three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
