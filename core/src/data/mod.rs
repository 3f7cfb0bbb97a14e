//! Data: pictures with labels, in the layouts they are published in, made into mini-batches.
//!
//! [`open`] finds out the layout of a folder or archive by itself; [`Files`] and [`open_files`] do the same for
//! bytes, as in a browser. [`Batches`] decodes, augments and normalises ahead of the training loop. [`Corrupted`] makes
//! a data set worse, as CIFAR-10-C does, and [`FacePairs`] reads lists of pairs of faces. [`Splits`] are the training,
//! validation and test set of a run, and [`GeneratedOod`] makes out-of-distribution images of a training set.
//!
//! ```
//! use bayesadapter::data::{BatchSettings, Batches, Dataset, Preparation, Split, digits};
//! use bayesadapter::models::Normalisation;
//! use std::sync::Arc;
//!
//! let preparation = Preparation::new([1, 8, 8], Normalisation::digits(1));
//! let settings = BatchSettings { shuffle: true, ..BatchSettings::new(64, preparation) };
//! let batches = Batches::new(Arc::new(digits(Split::Train)), settings)?;
//! for batch in batches.epoch(0, 0) {
//!     let batch = batch?;
//!     let (images, labels) = batch.to_tensors(&burn::tensor::Device::flex());
//!     assert_eq!(images.dims()[0], labels.dims()[0]);
//! }
//! # Ok::<(), bayesadapter::data::DataError>(())
//! ```
//!
//! Order, augmentation and corruption are pure functions of (seed, epoch, example) through keyed noise: the number
//! of workers changes nothing, and an epoch can be entered at any batch.

mod augment;
mod batches;
mod corruption;
mod dice;
mod digits;
mod epoch;
mod error;
mod faces;
mod files;
mod joined;
mod layout;
mod listed;
mod memory;
mod ood;
mod pen;
mod picture;
mod preparation;
mod resample;
mod scribbles;
mod split;
mod strange;

pub use batches::{Batch, BatchSettings, Batches};
pub use corruption::{Corrupted, Corruption, FrostPictures};
pub use digits::{digits, few_digits};
pub use epoch::Epoch;
pub use error::DataError;
pub use faces::{CfpPairs, FacePair, FacePairs};
pub use files::Files;
pub(crate) use joined::Joined;
pub(crate) use layout::Source;
pub use layout::{open, open_files, open_validation};
pub use memory::Pictures;
pub use ood::{GeneratedOod, OodKind};
pub use picture::{MAX_SIDE, Picture};
pub use preparation::{Augmentation, Preparation};
pub use scribbles::scribbles;
pub use split::{Share, Splits, Subset, ValidationSource, ValidationSplit, stratified_split};
pub use strange::{StrangeDrawings, StrangeKind, strange_drawings};

use serde::{Deserialize, Serialize};
use std::fmt;

/// Pictures with labels.
pub trait Dataset: Send + Sync {
    /// Number of pictures.
    fn len(&self) -> usize;

    /// Whether there are none; [`open`] and [`Pictures::new`] refuse that.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The classes, by label.
    fn class_names(&self) -> &[String];

    /// The class of a picture.
    ///
    /// # Panics
    ///
    /// An index past the last picture.
    fn label(&self, index: usize) -> u32;

    /// A picture, decoded.
    ///
    /// # Errors
    ///
    /// A picture that cannot be read or decoded, and an index past the last one.
    fn picture(&self, index: usize) -> Result<Picture, DataError>;

    /// What messages call a picture: its path, or "test_batch.bin, picture 17".
    fn name(&self, index: usize) -> String;

    /// Whether the source knows no splits, so that it gives the same pictures for training and for tests. A
    /// program that trains on them should test on others.
    fn unsplit(&self) -> bool {
        false
    }

    /// What a user should know before these pictures are used, such as some that were left out.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Which part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// To train on.
    Train,
    /// To test on; of sets with a validation and no test part, that. [`open_validation`] opens a validation set that
    /// lies beside a test set.
    Test,
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Train => "train",
            Self::Test => "test",
        })
    }
}
