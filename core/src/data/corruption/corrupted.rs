//! A data set made worse.

use super::{Corruption, FrostPictures, row};
use crate::data::dice::Purpose;
use crate::data::{DataError, Dataset, Picture};
use crate::ops::NoiseKey;
use std::sync::Arc;

/// A data set with every picture corrupted, always in the same way for the same seed.
///
/// ```
/// use bayesadapter::data::{Corrupted, Corruption, Dataset, Split, digits};
/// use std::sync::Arc;
///
/// let clean = Arc::new(digits(Split::Test));
/// let noisy = Corrupted::new(clean.clone(), Corruption::GaussianNoise, 5, 1)?;
/// assert_eq!((noisy.len(), noisy.label(7)), (clean.len(), clean.label(7)));
/// assert_ne!(noisy.picture(7)?, clean.picture(7)?);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone)]
pub struct Corrupted {
    dataset: Arc<dyn Dataset>,
    kind: Kind,
    severity: u8,
    seed: u64,
}

#[derive(Clone)]
enum Kind {
    Made(Corruption),
    Frost(FrostPictures),
}

impl Corrupted {
    /// With any corruption but frost.
    ///
    /// # Errors
    ///
    /// A severity outside 1..=5, and [`Corruption::Frost`], for which there is [`Corrupted::with_frost`].
    pub fn new(
        dataset: Arc<dyn Dataset>,
        corruption: Corruption,
        severity: u8,
        seed: u64,
    ) -> Result<Self, DataError> {
        row(severity)?;
        if corruption == Corruption::Frost {
            return Err(DataError::NoFrost {
                found: String::new(),
            });
        }
        Ok(Self {
            dataset,
            kind: Kind::Made(corruption),
            severity,
            seed,
        })
    }

    /// With frost.
    ///
    /// # Errors
    ///
    /// A severity outside 1..=5.
    pub fn with_frost(
        dataset: Arc<dyn Dataset>,
        frost: FrostPictures,
        severity: u8,
        seed: u64,
    ) -> Result<Self, DataError> {
        row(severity)?;
        Ok(Self {
            dataset,
            kind: Kind::Frost(frost),
            severity,
            seed,
        })
    }

    /// What is done to the pictures.
    pub fn corruption(&self) -> Corruption {
        match &self.kind {
            Kind::Made(corruption) => *corruption,
            Kind::Frost(_) => Corruption::Frost,
        }
    }
}

impl Dataset for Corrupted {
    fn len(&self) -> usize {
        self.dataset.len()
    }

    fn class_names(&self) -> &[String] {
        self.dataset.class_names()
    }

    fn label(&self, index: usize) -> u32 {
        self.dataset.label(index)
    }

    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        let picture = self.dataset.picture(index)?;
        let key = NoiseKey {
            seed: self.seed,
            draw: u32::from(self.severity),
            parameter: Purpose::Corruption as u32 + self.corruption() as u32,
            first_example: index as u32,
        };
        match &self.kind {
            Kind::Made(corruption) => corruption.apply(&picture, self.severity, key),
            Kind::Frost(frost) => frost.apply(&picture, self.severity, key),
        }
    }

    fn name(&self, index: usize) -> String {
        let (corruption, severity) = (self.corruption(), self.severity);
        format!(
            "{} ({corruption}, severity {severity})",
            self.dataset.name(index)
        )
    }

    fn unsplit(&self) -> bool {
        self.dataset.unsplit()
    }

    fn remark(&self) -> Option<String> {
        self.dataset.remark()
    }
}
