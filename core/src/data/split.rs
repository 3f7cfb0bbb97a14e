//! Training, validation and test sets: which images are in which, by a seeded, stratified split.

mod sets;
mod stratified;
mod subset;

pub use sets::{Splits, ValidationSource};
pub use stratified::stratified_split;
pub use subset::Subset;

use super::DataError;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What a share has to be, for messages.
const SHARES: &str =
    "a fraction between 0 and 1, as 0.1, or a number of images from 1 on, as 2000, is needed";
/// What a validation split has to be, for messages.
const KNOWN: &str = "auto, none, a share of the training set, as 0.1 or 2000, or of the test set, as test:0.2 or \
                     test:2000, is needed";

/// Where the validation set comes from: the images on which settings are chosen, epochs are compared and a temperature
/// or a prediction set is calibrated. The test set is evaluated once, without them.
///
/// Written as `auto`, `none`, `0.1` (a tenth of the training set), `2000` (2,000 training images), `test:0.2` (a fifth
/// of the test set) or `test:2000`. Every class gives the same share; which images, depends on the random seed alone.
///
/// Calibrate on images that the pre-training has not seen. A network is nearly always right, and sure, on images that
/// it was trained on: a temperature fitted there comes out near 1, and prediction sets come out too small. A published
/// checkpoint has usually seen the whole training set, so that a share of the training set is no use for calibration,
/// even though fine-tuning leaves it out. [`Auto`](Self::Auto) takes care of that.
///
/// ```
/// use bayesadapter::data::{Share, ValidationSplit};
///
/// let split: ValidationSplit = "test:0.2".parse()?;
/// assert_eq!(split, ValidationSplit::Test(Share::Fraction(0.2)));
/// assert_eq!(split.to_string(), "test:0.2");
/// assert!("1.0".parse::<ValidationSplit>().is_err()); // nothing would be left
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
pub enum ValidationSplit {
    /// The validation set of the data, where they have one beside a test set, as in `train/`, `val/` and `test/`.
    /// Otherwise a fifth of the test set, which a pre-trained checkpoint has not seen. Of data in one piece a tenth of
    /// each class is the test set, and a tenth of the rest the validation set: such data are the user's own, unknown to
    /// a checkpoint. Where no class has two images to divide, there is no validation set.
    #[default]
    Auto,
    /// No validation set.
    None,
    /// A share of the training set, which is trained on without it. For networks that are trained from scratch, and for
    /// checkpoints that were pre-trained on other data.
    Train(Share),
    /// A share of the test set, which is evaluated without it.
    Test(Share),
}

/// How much of a data set.
///
/// ```
/// use bayesadapter::data::Share;
///
/// assert_eq!("0.1".parse::<Share>()?, Share::Fraction(0.1));
/// assert_eq!("2000".parse::<Share>()?, Share::Count(2000));
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// Above 0 and below 1.
    Fraction(f64),
    /// A number of images, from 1 on.
    Count(usize),
}

impl Share {
    /// Itself, if some data set could give it.
    fn checked(self) -> Option<Self> {
        let possible = match self {
            Self::Fraction(fraction) => fraction > 0.0 && fraction < 1.0,
            Self::Count(count) => count > 0,
        };
        possible.then_some(self)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // With its decimal point, without which it would be read as a number of images.
            Self::Fraction(fraction) => write!(f, "{fraction:?}"),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}

impl FromStr for Share {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let count = text.parse().map(Self::Count);
        let share = count.or_else(|_| text.parse().map(Self::Fraction)).ok();
        let share = share.and_then(Self::checked);
        share.ok_or_else(|| DataError::setting("the share", quoted(text), SHARES))
    }
}

impl fmt::Display for ValidationSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Train(share) => write!(f, "{share}"),
            Self::Test(share) => write!(f, "test:{share}"),
        }
    }
}

impl FromStr for ValidationSplit {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let split = match (text, text.strip_prefix("test:")) {
            ("auto", _) => Ok(Self::Auto),
            ("none", _) => Ok(Self::None),
            (_, Some(share)) => share.parse().map(Self::Test),
            (share, None) => share.parse().map(Self::Train),
        };
        split.map_err(|_| DataError::setting("validation", quoted(text), KNOWN))
    }
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// As it stands in a file: a text, or a number by itself.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Count(u64),
    Fraction(f64),
}

impl TryFrom<Written> for ValidationSplit {
    type Error = DataError;

    fn try_from(written: Written) -> Result<Self, DataError> {
        match written {
            Written::Text(text) => text.parse(),
            Written::Count(count) => count.to_string().parse(),
            Written::Fraction(fraction) => format!("{fraction:?}").parse(),
        }
    }
}

impl From<ValidationSplit> for String {
    fn from(split: ValidationSplit) -> Self {
        split.to_string()
    }
}
