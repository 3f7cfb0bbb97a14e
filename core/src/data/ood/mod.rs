//! Out-of-distribution images for training, made of the training images themselves or drawn.
//!
//! The uncertainty regulariser of training needs images on which draws of the posterior should disagree. These kinds
//! need no further data set. Evaluate on others: data sets that were not trained with, corruptions, adversarial
//! images, [`scribbles`](super::scribbles).

mod blur;
mod canvas;
mod doodles;
mod figures;
mod glyphs;
mod mixtures;
mod noise;
mod patches;

use super::augment::fitted;
use super::dice::{Dice, Purpose};
use super::{DataError, Dataset, MAX_SIDE, Picture};
use crate::ops::NoiseKey;
use mixtures::Partners;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, sync::Arc};

/// Images that a small data set is varied to.
const LEAST_IMAGES: usize = 4096;

/// A kind of generated out-of-distribution images.
///
/// ```
/// use bayesadapter::data::OodKind;
///
/// assert_eq!("blur-jpeg".parse::<OodKind>()?, OodKind::BlurJpeg);
/// assert_eq!(OodKind::Doodles.to_string(), "doodles");
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OodKind {
    /// Training images with uniform noise of at most 0.031 of the range of values: a cheap stand-in for adversarial
    /// images within that budget.
    Noise,
    /// Training images after a Gaussian blur, with a standard deviation of 1 to 3 pixels on 32, and JPEG of a quality
    /// from 5 to 40.
    BlurJpeg,
    /// Training images cut into 2 x 2 or 4 x 4 patches, every one of which is in another place.
    Patches,
    /// Weighted means of two training images of different classes, with weights of 0.35 to 0.65.
    Mixtures,
    /// Drawings: zigzags, spirals, arcs, tangles, filled blobs, dots, hatching, letters and symbols, in the ink and on
    /// the paper of a training image. For digits and other drawings on a plain background.
    Doodles,
}

impl OodKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Noise,
        Self::BlurJpeg,
        Self::Patches,
        Self::Mixtures,
        Self::Doodles,
    ];

    /// The name in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::BlurJpeg => "blur-jpeg",
            Self::Patches => "patches",
            Self::Mixtures => "mixtures",
            Self::Doodles => "doodles",
        }
    }
}

impl fmt::Display for OodKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for OodKind {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        let known = Self::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            let needed = format!("the generated kinds are {names}");
            DataError::setting("the kind of OOD images", format!("`{name}`"), needed)
        })
    }
}

/// Out-of-distribution images made of a data set: of the class `OOD`, at the sizes and with the channels of their
/// originals.
///
/// Image `i` is made of image `i % source.len()` and is a function of the seed and of `i` alone. Every run of as many
/// images as there are kinds has each kind once, in an order of its own; a kind that is named twice is made twice as
/// often.
///
/// ```
/// use bayesadapter::data::{Dataset, GeneratedOod, OodKind, Split, digits};
/// use std::sync::Arc;
///
/// let train = Arc::new(digits(Split::Train));
/// let ood = GeneratedOod::new(train, &[OodKind::Patches, OodKind::Doodles], 0)?;
/// assert_eq!((ood.len(), ood.class_names()), (4096, &["OOD".to_owned()][..]));
/// assert_eq!(ood.picture(17)?.pixels.len(), 8 * 8);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone)]
pub struct GeneratedOod {
    source: Arc<dyn Dataset>,
    kinds: Vec<OodKind>,
    seed: u64,
    partners: Partners,
    size: Option<[usize; 2]>,
    class_names: Vec<String>,
}

impl GeneratedOod {
    /// Images of these kinds, made of those of `source`. There are as many as in `source`, and 4,096 at least.
    ///
    /// # Errors
    ///
    /// No kinds, a source without images, and [`OodKind::Mixtures`] of a source with images of one class only.
    pub fn new(source: Arc<dyn Dataset>, kinds: &[OodKind], seed: u64) -> Result<Self, DataError> {
        const WHAT: &str = "the list of kinds of OOD images";
        if kinds.is_empty() {
            let names = OodKind::ALL.map(OodKind::name).join(", ");
            let needed = format!("one or more of {names} are needed");
            return Err(DataError::setting(WHAT, "empty", needed));
        }
        if source.is_empty() {
            return Err(DataError::Empty {
                place: "the source of OOD images".to_owned(),
            });
        }
        let partners = Partners::of(&*source);
        if kinds.contains(&OodKind::Mixtures) && partners.classes() < 2 {
            let given: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            let needed = "mixtures need images of two classes; leave them out";
            return Err(DataError::setting(WHAT, given.join(", "), needed));
        }
        Ok(Self {
            source,
            kinds: kinds.to_vec(),
            seed,
            partners,
            size: None,
            class_names: vec!["OOD".to_owned()],
        })
    }

    /// At the size of a network's input: originals are resized, and their centre is cut out, as
    /// [`Preparation`](super::Preparation) does it, before anything else. Otherwise the noise of large photographs is
    /// averaged away when they are reduced later.
    ///
    /// # Errors
    ///
    /// A side of 0 or beyond [`MAX_SIDE`].
    pub fn with_size(self, height: usize, width: usize) -> Result<Self, DataError> {
        let sides = 1..=MAX_SIDE;
        if !sides.contains(&height) || !sides.contains(&width) {
            let needed = format!("sides of 1 to {MAX_SIDE} are needed");
            let size = format!("{height} x {width}");
            return Err(DataError::setting("the size of OOD images", size, needed));
        }
        Ok(Self {
            size: Some([height, width]),
            ..self
        })
    }

    /// The kind of an image.
    pub fn kind(&self, index: usize) -> OodKind {
        let (turn, place) = (index / self.kinds.len(), index % self.kinds.len());
        let mut dice = self.dice(Purpose::OodOrder as u32, turn);
        let mut order: Vec<OodKind> = self.kinds.clone();
        for last in (1..order.len()).rev() {
            order.swap(last, dice.below(last + 1));
        }
        order[place]
    }

    fn dice(&self, parameter: u32, example: usize) -> Dice {
        Dice::new(NoiseKey {
            seed: self.seed,
            draw: 0,
            parameter,
            first_example: example as u32,
        })
    }

    /// An image of the source at the size that was asked for.
    fn original(&self, index: usize) -> Result<Picture, DataError> {
        let original = self.source.picture(index)?;
        original.check()?;
        Ok(match self.size {
            Some([height, width]) => fitted(&original, height, width).into_owned(),
            None => original,
        })
    }
}

impl Dataset for GeneratedOod {
    fn len(&self) -> usize {
        self.source.len().max(LEAST_IMAGES)
    }

    fn class_names(&self) -> &[String] {
        &self.class_names
    }

    fn label(&self, _: usize) -> u32 {
        0
    }

    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        let len = self.len();
        if index >= len {
            return Err(DataError::Index { index, len });
        }
        let (kind, of) = (self.kind(index), index % self.source.len());
        let original = self.original(of)?;
        let dice = &mut self.dice(Purpose::Ood as u32 + kind as u32, index);
        match kind {
            OodKind::Noise => Ok(noise::noisy(&original, dice)),
            OodKind::BlurJpeg => blur::degraded(&original, dice),
            OodKind::Patches => Ok(patches::shuffled(&original, dice)),
            OodKind::Mixtures => {
                let partner = self.partners.of_another_class(self.source.label(of), dice);
                Ok(mixtures::mixture(&original, &self.original(partner)?, dice))
            }
            OodKind::Doodles => Ok(doodles::doodle(&original, dice)),
        }
    }

    fn name(&self, index: usize) -> String {
        let original = self.source.name(index % self.source.len());
        format!("{} of {original}", self.kind(index))
    }

    fn remark(&self) -> Option<String> {
        self.source.remark()
    }
}
