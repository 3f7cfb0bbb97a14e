//! Posteriors over the weights of a network, and the conversion of an ordinary network.
//!
//! A weight carries its posterior; no layer becomes another class. [`IntoBayes::into_bayes`] attaches
//! a [`MeanField`] or a [`LowRankEnsemble`] to the parameters of any Burn module and returns a
//! [`Bayes`] with an account of what was and was not converted.

mod account;
mod bayes;
mod complexity;
mod convert;
mod error;
mod inventory;
mod low_rank;
mod mean_field;
mod point;
mod prior;
mod product;
mod select;
mod summary;

pub use account::{Conversion, ConversionAccount, LeftAlone};
pub use bayes::Bayes;
pub use complexity::Complexity;
pub use convert::IntoBayes;
pub(crate) use convert::account as conversion_account;
pub use error::ConvertError;
pub use inventory::{Entry, Inventory, Spread};
pub use low_rank::{EnsembleMean, Factors, LowRankEnsemble, LowRankForm};
pub use mean_field::{InitialStd, LogStd, MeanField};
pub use point::Point;
pub use prior::{Prior, PriorMean};
pub use select::Select;
pub(crate) use select::layer;
pub use summary::Summary;

use crate::pass::Estimator;
use serde::{Deserialize, Serialize};

/// What is attached to the chosen parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Posterior {
    /// Independent Gaussians.
    MeanField(MeanField),
    /// An ensemble that shares its weights up to low-rank factors.
    LowRankEnsemble(LowRankEnsemble),
    /// None: every parameter stays a point.
    Point(Point),
}

impl Posterior {
    /// The prior, which all kinds have.
    pub fn prior(&self) -> &Prior {
        match self {
            Self::MeanField(posterior) => &posterior.prior,
            Self::LowRankEnsemble(posterior) => &posterior.prior,
            Self::Point(posterior) => &posterior.prior,
        }
    }

    /// How many different networks there are to draw, if there is an end to them: later draws begin anew, and to count
    /// some twice would give them more weight than the others.
    ///
    /// ```
    /// use bayesadapter::posterior::{LowRankEnsemble, MeanField, Posterior};
    ///
    /// let ensemble = LowRankEnsemble { components: 8, ..LowRankEnsemble::fine_tune(1_000) };
    /// assert_eq!(Posterior::from(ensemble).different_draws(), Some(8));
    /// assert_eq!(Posterior::from(MeanField::fine_tune(1_000)).different_draws(), None);
    /// ```
    pub fn different_draws(&self) -> Option<u32> {
        match self {
            Self::MeanField(_) => None,
            Self::LowRankEnsemble(posterior) => u32::try_from(posterior.components).ok(),
            Self::Point(_) => Some(1),
        }
    }

    /// Scalars that a parameter of this shape gets, if it can have the posterior.
    fn added(&self, shape: &[usize]) -> Option<usize> {
        match self {
            Self::MeanField(_) => Some(shape.iter().product()),
            // A file may claim any number of components.
            Self::LowRankEnsemble(posterior) => posterior.layout(shape).map(|layout| {
                let factors = posterior.components.saturating_mul(posterior.rank);
                factors.saturating_mul(layout.left_rows() + layout.fan_out)
            }),
            Self::Point(_) => None,
        }
    }

    /// The estimators that a converted parameter of this shape has. In a layer that cannot give every example weights
    /// of its own it is one tensor for all of them.
    fn estimators(&self, shape: &[usize], per_example: bool) -> Vec<Estimator> {
        let mut estimators = vec![Estimator::Vanilla];
        if per_example {
            estimators.push(Estimator::Exemplar);
            // The others are shortcuts to products with a Gaussian matrix, and vectors are not multiplied so.
            if matches!(self, Self::MeanField(_)) && shape.len() >= 2 {
                estimators.extend([Estimator::Local, Estimator::Flipout]);
            }
        }
        estimators
    }

    /// Which parameters are converted.
    pub fn select(&self) -> &Select {
        match self {
            Self::MeanField(posterior) => &posterior.select,
            Self::LowRankEnsemble(posterior) => &posterior.select,
            Self::Point(_) => &point::EVERYTHING,
        }
    }

    /// Start of all noise.
    pub fn seed(&self) -> u64 {
        match self {
            Self::MeanField(posterior) => posterior.seed,
            Self::LowRankEnsemble(posterior) => posterior.seed,
            Self::Point(_) => 0,
        }
    }
}

impl From<MeanField> for Posterior {
    fn from(posterior: MeanField) -> Self {
        Self::MeanField(posterior)
    }
}

impl From<LowRankEnsemble> for Posterior {
    fn from(posterior: LowRankEnsemble) -> Self {
        Self::LowRankEnsemble(posterior)
    }
}

impl From<Point> for Posterior {
    fn from(posterior: Point) -> Self {
        Self::Point(posterior)
    }
}
