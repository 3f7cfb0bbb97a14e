//! How a learning rate changes over the steps of a run.

use super::RateError;
use serde::{Deserialize, Serialize};
use std::{f64::consts::PI, fmt, str::FromStr};

/// Where a [`Schedule::Step`] multiplies unless it is told otherwise, as shares of all steps.
const QUARTERS: [f64; 3] = [0.25, 0.5, 0.75];

/// How a learning rate changes over the steps of a run.
///
/// As text, in flags and run files: `constant`, `step:0.2` (at each quarter), `step:0.2@0.3,0.6,0.8`, `cosine` (to 0)
/// and `cosine:0.1` (to a tenth of the first learning rate).
///
/// ```
/// use bayesadapter::train::Schedule;
///
/// let schedule: Schedule = "step:0.2@0.3,0.6,0.8".parse()?;
/// assert_eq!(schedule.lr_at(0.1, 0, 200), 0.1);
/// assert_eq!(schedule.lr_at(0.1, 60, 200), 0.1 * 0.2);
/// assert_eq!(schedule.to_string(), "step:0.2@0.3,0.6,0.8");
/// # Ok::<(), bayesadapter::train::RateError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// The same throughout.
    #[default]
    Constant,
    /// Multiplied by `gamma` at each milestone.
    Step {
        /// The factor.
        gamma: f64,
        /// When, as rising shares of all steps between 0 and 1.
        milestones: Vec<f64>,
    },
    /// Half a cosine from the first learning rate, changing at every step.
    Cosine {
        /// What the learning rate ends at, as a share of the first.
        end: f64,
    },
}

impl Schedule {
    /// Multiplied by `gamma` at a quarter, a half and three quarters of the steps.
    pub fn step(gamma: f64) -> Self {
        Self::Step {
            gamma,
            milestones: QUARTERS.to_vec(),
        }
    }

    /// Down to zero.
    pub fn cosine() -> Self {
        Self::Cosine { end: 0.0 }
    }

    /// The learning rate of step `step` out of `steps`, counted from 0, of a run that begins with `first`.
    pub fn lr_at(&self, first: f64, step: usize, steps: usize) -> f64 {
        match self {
            Self::Constant => first,
            Self::Step { gamma, milestones } => {
                let passed = |&&share: &&f64| step >= first_step(share, steps);
                first * gamma.powi(milestones.iter().filter(passed).count() as i32)
            }
            Self::Cosine { end } => {
                let share = step as f64 / steps.max(1) as f64;
                first * (end + (1.0 - end) * (1.0 + (PI * share).cos()) / 2.0)
            }
        }
    }

    /// # Errors
    ///
    /// A factor that is not positive, milestones outside of a run or not in order, and an end that is no share.
    pub fn checked(&self) -> Result<(), RateError> {
        let wrong = |need: &str| {
            Err(RateError::new(format!(
                "the schedule {self} cannot be used: {need}"
            )))
        };
        match self {
            Self::Constant => Ok(()),
            Self::Step { gamma, milestones } => {
                if !(gamma.is_finite() && *gamma > 0.0) {
                    return wrong("its factor must be positive");
                }
                let inside = milestones.iter().all(|share| (0.0..=1.0).contains(share));
                if !inside || !milestones.is_sorted() {
                    return wrong("its milestones must be rising shares between 0 and 1");
                }
                Ok(())
            }
            Self::Cosine { end } if (0.0..=1.0).contains(end) => Ok(()),
            Self::Cosine { .. } => {
                wrong("its end must be a share of the first learning rate, between 0 and 1")
            }
        }
    }
}

/// The first step after a share of all steps. Rounding makes 0.55 of 100 a little more than 55.
pub(super) fn first_step(share: f64, steps: usize) -> usize {
    (share * steps as f64 - 1e-9).ceil().max(0.0) as usize
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Step { gamma, milestones } if *milestones == QUARTERS => {
                write!(f, "step:{gamma}")
            }
            Self::Step { gamma, milestones } => {
                let shares: Vec<String> = milestones.iter().map(f64::to_string).collect();
                write!(f, "step:{gamma}@{}", shares.join(","))
            }
            Self::Cosine { end: 0.0 } => f.write_str("cosine"),
            Self::Cosine { end } => write!(f, "cosine:{end}"),
        }
    }
}

impl FromStr for Schedule {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name.trim(), Some(rest)),
            None => (text.trim(), None),
        };
        let schedule = match (name, rest) {
            ("constant", None) => Some(Self::Constant),
            ("cosine", None) => Some(Self::cosine()),
            ("cosine", Some(end)) => number(end).map(|end| Self::Cosine { end }),
            ("step", Some(rest)) => match rest.split_once('@') {
                None => number(rest).map(Self::step),
                Some((gamma, shares)) => {
                    let milestones: Option<Vec<f64>> = shares.split(',').map(number).collect();
                    let gamma = number(gamma);
                    let both = gamma.zip(milestones);
                    both.map(|(gamma, milestones)| Self::Step { gamma, milestones })
                }
            },
            _ => None,
        };
        let schedule = schedule.ok_or_else(|| {
            RateError::new(format!(
                "no schedule is called \"{text}\"; there are constant, step:0.2, step:0.2@0.3,0.6,0.8, cosine and \
                 cosine:0.1"
            ))
        })?;
        schedule.checked()?;
        Ok(schedule)
    }
}

impl TryFrom<String> for Schedule {
    type Error = RateError;

    fn try_from(text: String) -> Result<Self, RateError> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        schedule.to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in [
            "constant",
            "step:0.2",
            "step:0.5@0.3,0.6,0.8",
            "cosine",
            "cosine:0.1",
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!("cosine:1e-1".parse(), Ok(Schedule::Cosine { end: 0.1 }));
        assert_eq!("step:0.1@0.25,0.5,0.75".parse(), Ok(Schedule::step(0.1)));
        for text in [
            "",
            "cosinus",
            "step",
            "step:x",
            "step:-1",
            "step:0.1@0.5,0.2",
            "step:0.1@2",
            "cosine:-1",
            "cosine:2",
            "constant:1",
        ] {
            let error = text.parse::<Schedule>().unwrap_err().to_string();
            assert!(error.contains("schedule"), "{text}: {error}");
        }
    }

    #[test]
    fn a_cosine_is_at_its_ends_and_its_middle_where_it_should_be() {
        let schedule = Schedule::Cosine { end: 0.1 };
        assert_eq!(schedule.lr_at(1e-3, 0, 100), 1e-3);
        assert!((schedule.lr_at(1e-3, 50, 100) - 5.5e-4).abs() < 1e-15);
        let last = 1e-4 + 4.5e-4 * (1.0 + (0.99 * PI).cos());
        assert!((schedule.lr_at(1e-3, 99, 100) - last).abs() < 1e-15);
        // A third of the way the cosine of 60 degrees has lost a quarter.
        assert!((Schedule::cosine().lr_at(1.0, 1, 3) - 0.75).abs() < 1e-15);
    }

    #[test]
    fn rounding_moves_no_milestone() {
        let schedule: Schedule = "step:0.1@0.28,0.55".parse().unwrap();
        let found = [27, 28, 54, 55].map(|step| schedule.lr_at(1.0, step, 100));
        assert_eq!(found, [1.0, 0.1, 0.1, 0.1f64.powi(2)]);
    }

    #[test]
    fn steps_fall_at_their_milestones() {
        // The paper's pre-training: 200 epochs, times 0.2 at 60, 120 and 160.
        let schedule: Schedule = "step:0.2@0.3,0.6,0.8".parse().unwrap();
        let expected = |epoch: usize| match epoch {
            0..60 => 0.1,
            60..120 => 0.02,
            120..160 => 0.004,
            _ => 0.0008,
        };
        for epoch in 0..200 {
            let found = schedule.lr_at(0.1, epoch, 200);
            assert!((found / expected(epoch) - 1.0f64).abs() < 1e-12, "{epoch}");
        }
    }
}
