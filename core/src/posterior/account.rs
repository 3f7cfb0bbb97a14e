//! What a conversion did.

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
/// Which estimator a parameter gets depends on the layer that uses it, and layers of this library and of Burn look
/// alike from outside: [`Bayes::estimators`](super::Bayes::estimators) finds out by a forward pass.
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
        for reason in [
            LeftAlone::NotTrained,
            LeftAlone::NotSelected,
            LeftAlone::SharedVector,
            LeftAlone::Point,
            LeftAlone::Empty,
        ] {
            let of_reason = self.left_alone.iter().filter(|(_, why)| *why == reason);
            let paths: Vec<&str> = of_reason.map(|(path, _)| path.as_str()).collect();
            let shown = &paths[..paths.len().min(SHOWN)];
            match paths.len() {
                0 => {}
                count if count > SHOWN => {
                    let more = count - SHOWN;
                    writeln!(f, "  {reason}: {}, and {more} more", shown.join(", "))?;
                }
                _ => writeln!(f, "  {reason}: {}", shown.join(", "))?,
            }
        }
        for pattern in &self.unmatched {
            writeln!(f, "  no parameter is called \"{pattern}\"")?;
        }
        Ok(())
    }
}
