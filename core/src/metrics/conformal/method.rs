//! The conformity scores that prediction sets can be made by.

use crate::metrics::MetricError;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How implausible a class is, given the probabilities of an image. Classes are ranked by probability.
///
/// APS and RAPS are randomised in their papers: a random share u of the class's own probability belongs to
/// its score. Here u is 0, so that the same image always has the same set. This keeps the guarantee: it is
/// one fixed score among many. It is also the better of the two fixed shares. With u = 1, the score of a
/// confident, correct prediction is its confidence; thresholds then are near 1, and an image with any doubt
/// gets nearly all classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConformalMethod {
    /// `1 - p`: a set holds every class above one threshold of probability. The smallest sets on average.
    /// (Also called LAC or THR; Sadinle, Lei and Wasserman, "Least Ambiguous Set-Valued Classifiers with
    /// Bounded Error Levels", 2019.)
    ///
    /// In the paper a set is empty when no class is above the threshold. Here it holds the most probable
    /// class then.
    #[default]
    Threshold,
    /// The probability of all classes that rank before it: a set grows until the classes in it have a given
    /// probability together, so that difficult images have larger sets. (Adaptive prediction sets; Romano,
    /// Sesia and Candès, "Classification with Valid and Adaptive Coverage", 2020.)
    Aps,
    /// [`Aps`](Self::Aps) with a [penalty](super::RapsPenalty) for each class beyond the first few, which
    /// keeps sets from growing by long tails of improbable classes. (Regularised adaptive prediction sets;
    /// Angelopoulos, Bates, Malik and Jordan, "Uncertainty Sets for Image Classifiers using Conformal
    /// Prediction", 2021.)
    Raps,
}

impl ConformalMethod {
    /// Every method.
    pub const ALL: [Self; 3] = [Self::Threshold, Self::Aps, Self::Raps];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Aps => "aps",
            Self::Raps => "raps",
        }
    }
}

impl fmt::Display for ConformalMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ConformalMethod {
    type Err = MetricError;

    fn from_str(name: &str) -> Result<Self, MetricError> {
        let known = Self::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| MetricError::UnknownConformalMethod {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
