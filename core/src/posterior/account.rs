//! What a conversion did.

use crate::pass::Estimator;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A parameter that got a posterior.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversion {
    /// Path of the parameter in the network.
    pub path: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Scalars that the posterior added.
    pub added: usize,
    /// The estimators that its layer has for it. Where another one is asked for it gets the exemplar estimator, and
    /// the vanilla one if there is no other.
    #[serde(default)]
    pub estimators: Vec<Estimator>,
}

impl Conversion {
    /// Whether all examples of a batch see the same draw, whichever estimator is asked for. So it is outside of the
    /// layers of [`nn`](crate::nn).
    pub fn is_vanilla_only(&self) -> bool {
        self.estimators == [Estimator::Vanilla]
    }
}

/// Why a parameter stayed as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftAlone {
    /// A running statistic, or frozen by `no_grad`/`freeze`.
    NotTrained,
    /// The selection does not name it.
    NotSelected,
    /// An ensemble shares biases, scales and shifts.
    SharedVector,
    /// The posterior is a point.
    Point,
    /// There is nothing in it.
    Empty,
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTrained => "not trained (a running statistic, or frozen)",
            Self::NotSelected => "not selected",
            Self::SharedVector => "a vector, which the ensemble shares",
            Self::Point => "a point, as every parameter",
            Self::Empty => "empty",
        })
    }
}

/// How many paths of each kind the summary shows.
const SHOWN: usize = 4;

/// What was converted, what was not and why, and the number of parameters before and after.
///
/// Which estimators a parameter has depends on the layer that it belongs to: those of [`nn`](crate::nn) do what they
/// are asked, others share one draw among the examples of a batch. A parameter that a network reads past its layer is
/// shared too, which only a forward pass can tell: [`Bayes::estimators`](super::Bayes::estimators).
///
/// `Display` gives a summary of a few lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionAccount {
    /// Parameters with a posterior, in the order of the network.
    pub converted: Vec<Conversion>,
    /// Paths of the others.
    pub left_alone: Vec<(String, LeftAlone)>,
    /// Patterns of the selection that match no parameter.
    #[serde(default)]
    pub unmatched: Vec<String>,
    /// Scalars in the network before, running statistics not counted.
    pub parameters_before: usize,
    /// Scalars after.
    pub parameters_after: usize,
}

impl fmt::Display for ConversionAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} tensors got a posterior, {} stay as they are; {} parameters became {}",
            self.converted.len(),
            self.left_alone.len(),
            self.parameters_before,
            self.parameters_after
        )?;
        self.write_estimators(f)?;
        for reason in [
            LeftAlone::NotTrained,
            LeftAlone::NotSelected,
            LeftAlone::SharedVector,
            LeftAlone::Point,
            LeftAlone::Empty,
        ] {
            let of_reason = self.left_alone.iter().filter(|(_, why)| *why == reason);
            let paths: Vec<&str> = of_reason.map(|(path, _)| path.as_str()).collect();
            if !paths.is_empty() {
                writeln!(f, "  {reason}: {}", shown(&paths))?;
            }
        }
        for pattern in &self.unmatched {
            writeln!(f, "  no parameter is called \"{pattern}\"")?;
        }
        Ok(())
    }
}

impl ConversionAccount {
    /// A line for all that have the same estimators, which names those that have but one.
    fn write_estimators(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups: Vec<&[Estimator]> = Vec::new();
        for one in &self.converted {
            if !one.estimators.is_empty() && !groups.contains(&one.estimators.as_slice()) {
                groups.push(&one.estimators);
            }
        }
        for estimators in groups {
            let same = self.converted.iter();
            let same = same.filter(|one| one.estimators == estimators);
            let paths: Vec<&str> = same.map(|one| one.path.as_str()).collect();
            let count = paths.len();
            match estimators {
                [only] => writeln!(
                    f,
                    "  {count} with the {only} estimator alone, in layers that are not of `bayesadapter::nn`: {}",
                    shown(&paths)
                )?,
                several => {
                    let names: Vec<String> = several.iter().map(Estimator::to_string).collect();
                    writeln!(f, "  {count} with the estimators {}", names.join(", "))?;
                }
            }
        }
        Ok(())
    }
}

/// The first few of some paths, and how many more there are.
fn shown(paths: &[&str]) -> String {
    let first = paths[..paths.len().min(SHOWN)].join(", ");
    match paths.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}
