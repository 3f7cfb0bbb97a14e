//! What can be wrong with the input of a metric.

use super::ConformalMethod;

/// Why a metric was refused. Positions count from zero.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// There is nothing to measure.
    #[error("{what} is empty; at least one is needed")]
    Empty {
        /// The argument.
        what: &'static str,
    },
    /// A slice does not have the length that the other arguments imply.
    #[error("{what} has {found} elements, but {expected} are needed here")]
    Length {
        /// The argument.
        what: &'static str,
        /// The length that the other arguments imply.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A label names a class that does not exist.
    #[error("labels[{position}] = {label}, but there are only {classes} classes (0..{classes})")]
    Label {
        /// The example.
        position: usize,
        /// Its label.
        label: u32,
        /// The number of classes.
        classes: usize,
    },
    /// A probability is negative, infinite or not a number.
    #[error("the probability of class {class} in example {example} is {value}")]
    Probability {
        /// The row.
        example: usize,
        /// The column.
        class: usize,
        /// What stands there.
        value: f32,
    },
    /// The probabilities of one example are no distribution. Logits are the usual reason.
    #[error("the probabilities of example {example} sum to {sum}, not to 1; apply a softmax first")]
    RowSum {
        /// The row.
        example: usize,
        /// What it sums to.
        sum: f64,
    },
    /// The probabilities of one draw are wrong.
    #[error("draw {draw}: {reason}")]
    Draw {
        /// The draw.
        draw: usize,
        /// What is wrong with it.
        reason: Box<MetricError>,
    },
    /// A score, confidence or threshold cannot be compared with others.
    #[error("{what}[{position}] = {value}, but {needed} is needed")]
    Score {
        /// The argument.
        what: &'static str,
        /// The element.
        position: usize,
        /// What stands there.
        value: f64,
        /// What could stand there.
        needed: &'static str,
    },
    /// Nothing can be divided into no parts.
    #[error("{what} is 0; at least 1 is needed")]
    Zero {
        /// The argument.
        what: &'static str,
    },
    /// More parts than are kept.
    #[error("{what} is {found}; at most {limit} are possible")]
    TooMany {
        /// The argument.
        what: &'static str,
        /// The number asked for.
        found: usize,
        /// The most that there can be.
        limit: usize,
    },
    /// The label cannot be among that many classes.
    #[error("k = {k}, but the best 1 to {classes} of {classes} classes can be looked at")]
    TopK {
        /// The number asked for.
        k: usize,
        /// The number of classes.
        classes: usize,
    },
    /// No threshold can be asked to reach this rate.
    #[error("a true positive rate of {value} was asked for, but it must be above 0 and at most 1")]
    TruePositiveRate {
        /// The rate asked for.
        value: f64,
    },
    /// Folds are numbered from zero without gaps.
    #[error(
        "the largest fold is {largest}, but no pair is in fold {missing}; number folds from 0 without gaps"
    )]
    MissingFold {
        /// The first fold without a pair.
        missing: usize,
        /// The largest number that is used.
        largest: usize,
    },
    /// The threshold of a fold is chosen on the others.
    #[error("all pairs are in fold 0, but a threshold is chosen on other folds; use two or more")]
    OneFold,
    /// A setting that cannot be used.
    #[error("{what} is {value}, but {needed} is needed")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it could be.
        needed: &'static str,
    },
    /// A file of prediction sets has a penalty that its method does not know, or lacks one.
    #[error(
        "the method of the prediction sets is {method}, but a penalty (`raps`) goes with the method raps and no other"
    )]
    Penalty {
        /// The method.
        method: ConformalMethod,
    },
    /// A name that no method of making prediction sets has.
    #[error("there is no method of prediction sets called {name:?}; there are {known}")]
    UnknownConformalMethod {
        /// The name.
        name: String,
        /// Those that exist.
        known: String,
    },
}
