//! What to do if a training step does not fit.

use super::{
    OodBatch,
    budget::Budget,
    memory::{Footprint, Memory},
};
use crate::{
    pass::Estimator,
    posterior::{LowRankEnsemble, Posterior, Select},
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What to change. All but the last two are given only where they make a step fit that does not, each on
/// its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Advice {
    /// Use a batch of so many examples: the largest power of two that fits.
    SmallerBatch {
        /// Examples.
        batch: usize,
    },
    /// Use the exemplar estimator, which keeps fewer maps than the local and the flipout ones.
    Exemplar {
        /// Bytes of a step with it.
        bytes: u64,
    },
    /// Give the ensemble fewer components.
    FewerComponents {
        /// The most that fit.
        components: usize,
    },
    /// Convert the last layer only, with [`Select::LastLayer`].
    LastLayer {
        /// Bytes of a step then, at most.
        bytes: u64,
    },
    /// A single example does not fit: use another device, a smaller network or smaller images.
    NothingFits {
        /// Bytes of a step with one example.
        bytes: u64,
    },
    /// Use the CPU itself: the adapter is a CPU that pretends to be a GPU, and slower.
    Cpu,
    /// Count on more than was counted: these weights belong to layers that do not tell what they keep,
    /// such as stock layers of Burn.
    Uncounted {
        /// Paths of the weights.
        weights: Vec<String>,
    },
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SmallerBatch { batch } => write!(f, "use a batch of {batch}"),
            Self::Exemplar { bytes } => {
                write!(f, "use the exemplar estimator ({})", mebibytes(*bytes))
            }
            Self::FewerComponents { components } => {
                write!(f, "use an ensemble of {components} components")
            }
            Self::LastLayer { bytes } => {
                write!(f, "convert the last layer only ({})", mebibytes(*bytes))
            }
            Self::NothingFits { bytes } => write!(
                f,
                "one example takes {}: use another device, a smaller network or smaller images",
                mebibytes(*bytes)
            ),
            Self::Cpu => f.write_str("use the CPU device: this adapter is a CPU, and slower"),
            Self::Uncounted { weights } => write!(
                f,
                "expect more: the activations of these layers are not counted: {}",
                weights.join(", ")
            ),
        }
    }
}

pub(super) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// A step that may not fit.
pub(super) struct Situation<'a> {
    pub(super) footprint: &'a Footprint,
    /// The same with the exemplar estimator, if that is another one.
    pub(super) exemplar: Option<Footprint>,
    pub(super) posterior: &'a Posterior,
    pub(super) budget: Budget,
    pub(super) batch: usize,
    pub(super) ood_batch: OodBatch,
}

impl Situation<'_> {
    /// The memory of a step with so many examples, and the OOD images beside them.
    pub(super) fn memory(&self, footprint: &Footprint, batch: usize) -> Memory {
        footprint.memory(self.ood_batch.rows(batch))
    }

    /// Bytes of the largest map of such a step.
    pub(super) fn largest(&self, footprint: &Footprint, batch: usize) -> u64 {
        let rows = self.ood_batch.rows(batch) as u64;
        footprint.largest.saturating_mul(rows)
    }

    pub(super) fn fits(&self, footprint: &Footprint, batch: usize) -> Option<bool> {
        let total = self.memory(footprint, batch).total();
        self.budget.fits(total, self.largest(footprint, batch))
    }

    /// The largest power of two below the batch that is not known to be too large.
    pub(super) fn smaller_batch(&self) -> Option<usize> {
        let powers = (0..usize::BITS).map(|power| 1usize << power);
        let smaller = powers.take_while(|&batch| batch < self.batch);
        let fitting = smaller.filter(|&batch| self.fits(self.footprint, batch) != Some(false));
        fitting.last()
    }

    pub(super) fn advice(&self) -> Vec<Advice> {
        if self.fits(self.footprint, self.batch) != Some(false) {
            return Vec::new();
        }
        let smaller = self.smaller_batch();
        let mut advice = Vec::new();
        advice.extend(smaller.map(|batch| Advice::SmallerBatch { batch }));
        advice.extend(self.exemplar());
        advice.extend(self.fewer_components());
        advice.extend(self.last_layer());
        if advice.is_empty() {
            let bytes = self.memory(self.footprint, 1).total();
            advice.push(Advice::NothingFits { bytes });
        }
        advice
    }

    fn exemplar(&self) -> Option<Advice> {
        let footprint = self.exemplar.as_ref()?;
        let bytes = self.memory(footprint, self.batch).total();
        (self.fits(footprint, self.batch) != Some(false)).then_some(Advice::Exemplar { bytes })
    }

    fn fewer_components(&self) -> Option<Advice> {
        let Posterior::LowRankEnsemble(LowRankEnsemble { components, .. }) = self.posterior else {
            return None;
        };
        let each = self.footprint.spreads.iter().sum::<u64>() / (*components).max(1) as u64;
        // One component is no ensemble.
        let mut fewer = (2..*components).rev();
        let fitting = fewer.find(|&fewer| {
            let saved = each * (components - fewer) as u64;
            self.fits(&self.footprint.without(saved), self.batch) != Some(false)
        })?;
        Some(Advice::FewerComponents {
            components: fitting,
        })
    }

    fn last_layer(&self) -> Option<Advice> {
        if *self.posterior.select() == Select::LastLayer {
            return None;
        }
        let footprint = self.footprint.without(self.footprint.spreads[0]);
        let bytes = self.memory(&footprint, self.batch).total();
        (self.fits(&footprint, self.batch) != Some(false)).then_some(Advice::LastLayer { bytes })
    }
}

/// Whether the exemplar estimator would be another one, and cheaper.
pub(super) fn exemplar_is_cheaper(estimator: Estimator) -> bool {
    matches!(estimator, Estimator::Local | Estimator::Flipout)
}

#[cfg(test)]
mod tests;
