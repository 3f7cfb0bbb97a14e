//! What is done to pictures before a network sees them.

use super::augment::Preparer;
use super::{DataError, MAX_SIDE, Picture};
use crate::models::Normalisation;
use serde::{Deserialize, Serialize};

/// The most numbers in one input: half a gibibyte, as much as a picture may take when it is decoded.
const MAX_VALUES: usize = 1 << 27;

/// Makes network inputs of pictures.
///
/// A picture becomes grey or RGB as `shape` asks. If it has another size, it is resized (a triangle filter, as
/// torchvision's and Pillow's "bilinear") and its centre is cut out: smaller pictures are enlarged until they cover
/// the input; larger ones are reduced until they cover 8/7 of it, as in 256 for 224, and those in between keep
/// their size. Then come augmentation and normalisation.
///
/// ```
/// use bayesadapter::{data::{Picture, Preparation}, models::Normalisation};
///
/// let preparation = Preparation::new([1, 1, 2], Normalisation::uniform(1, 0.5, 0.5));
/// let input = preparation.prepare(&Picture::new(1, 1, 2, vec![0, 255])?)?;
/// assert_eq!(input, [-1.0, 1.0]);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// Channels (1 or 3), height and width that the network takes.
    pub shape: [usize; 3],
    /// What it expects of pixels.
    pub normalisation: Normalisation,
    /// Random changes, for training.
    #[serde(default)]
    pub augmentation: Augmentation,
}

impl Preparation {
    /// Without augmentation.
    pub fn new(shape: [usize; 3], normalisation: Normalisation) -> Self {
        Self {
            shape,
            normalisation,
            augmentation: Augmentation::default(),
        }
    }

    /// The same with augmentation.
    pub fn with_augmentation(self, augmentation: Augmentation) -> Self {
        Self {
            augmentation,
            ..self
        }
    }

    /// One picture as input `[channels, height, width]`, without augmentation.
    ///
    /// # Errors
    ///
    /// Settings out of range, and a picture whose fields do not fit.
    pub fn prepare(&self, picture: &Picture) -> Result<Vec<f32>, DataError> {
        // A shape out of a file is believed once it has been looked at.
        let preparer = Preparer::new(self.clone())?;
        let mut input = vec![0.0; self.shape.iter().product()];
        preparer.write(picture, None, &mut input)?;
        Ok(input)
    }

    /// Whether this can be done at all.
    ///
    /// # Errors
    ///
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), DataError> {
        let [channels, height, width] = self.shape;
        let sides = 1..=MAX_SIDE;
        if !matches!(channels, 1 | 3) || !sides.contains(&height) || !sides.contains(&width) {
            let shape = format!("{channels} x {height} x {width}");
            let needed = format!("1 or 3 channels and sides of 1 to {MAX_SIDE} are needed");
            return Err(DataError::setting("the shape of inputs", shape, needed));
        }
        if channels * height * width > MAX_VALUES {
            let shape = format!("{channels} x {height} x {width}");
            let needed = format!("at most {MAX_VALUES} values are prepared");
            return Err(DataError::setting("the shape of inputs", shape, needed));
        }
        let Normalisation { mean, std } = &self.normalisation;
        for (what, values) in [("normalisation.mean", mean), ("normalisation.std", std)] {
            if values.len() != channels {
                let needed = format!("{channels} values are needed, one per channel");
                return Err(DataError::setting(what, format!("{values:?}"), needed));
            }
        }
        if let Some(mean) = mean.iter().find(|mean| !mean.is_finite()) {
            return Err(DataError::setting(
                "normalisation.mean",
                mean,
                "a number is needed",
            ));
        }
        if let Some(std) = std.iter().find(|std| !(std.is_finite() && **std > 0.0)) {
            return Err(DataError::setting(
                "normalisation.std",
                std,
                "it must be positive",
            ));
        }
        self.augmentation.validate(height.min(width))
    }
}

/// Random changes to training pictures, in this order: crop, flip, CutOut. None by default.
///
/// ```
/// use bayesadapter::data::Augmentation;
///
/// let paper = Augmentation::cifar();
/// assert_eq!((paper.crop_padding, paper.flip, paper.cutout), (4, true, 16));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Augmentation {
    /// Cuts the input out of the picture with so many black pixels around it: what torchvision's
    /// `RandomCrop(padding = ..)` does before normalisation, so that the border has the value of a black pixel.
    pub crop_padding: usize,
    /// Mirrors every other picture.
    pub flip: bool,
    /// Side of a square at a random place that is set to 0 after normalisation, which is the mean. Its centre is
    /// any pixel, so that parts of it may fall outside.
    pub cutout: usize,
    /// Smallest and largest share of the picture's area to cut out, with proportions of 3/4 to 4/3, and to
    /// resize to the input, as torchvision's `RandomResizedCrop`; instead of `crop_padding`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resized_crop: Option<[f32; 2]>,
}

impl Augmentation {
    /// Crop, flip and CutOut for pictures of 32 x 32.
    pub fn cifar() -> Self {
        Self {
            crop_padding: 4,
            flip: true,
            cutout: 16,
            resized_crop: None,
        }
    }

    /// Resized crops and flip for photographs.
    pub fn imagenet() -> Self {
        Self {
            flip: true,
            resized_crop: Some([0.08, 1.0]),
            ..Self::default()
        }
    }

    /// What suits images of `shape` (channels, height, width) and of these classes where nobody has chosen: resized
    /// crops of at least a quarter of the area for photographs (sides above 64), shifts by an eighth of the side for
    /// smaller images, nothing below 16 pixels, where one pixel is much. Images are mirrored where classes have names
    /// of several letters: numbers and single letters may be what the images show, and those change in a mirror.
    ///
    /// ```
    /// use bayesadapter::data::Augmentation;
    ///
    /// let pets = ["cat".to_owned(), "dog".to_owned()];
    /// let cifar = Augmentation::suited_to([3, 32, 32], &pets);
    /// assert_eq!((cifar.crop_padding, cifar.flip, cifar.cutout), (4, true, 0));
    /// let numbers = ["0".to_owned(), "1".to_owned()];
    /// assert!(!Augmentation::suited_to([1, 28, 28], &numbers).flip);
    /// ```
    pub fn suited_to(shape: [usize; 3], class_names: &[String]) -> Self {
        let side = shape[1].min(shape[2]);
        if side < 16 {
            return Self::default();
        }
        let is_word = |name: &String| name.chars().filter(|each| each.is_alphabetic()).count() > 1;
        let photographs = side > 64;
        Self {
            crop_padding: if photographs { 0 } else { side / 8 },
            flip: class_names.iter().all(is_word),
            cutout: 0,
            resized_crop: photographs.then_some([0.25, 1.0]),
        }
    }

    fn validate(&self, shorter_side: usize) -> Result<(), DataError> {
        if self.crop_padding > shorter_side {
            let needed = format!("the input's shorter side is {shorter_side}");
            return Err(DataError::setting(
                "crop_padding",
                self.crop_padding,
                needed,
            ));
        }
        if self.cutout > 2 * shorter_side {
            let needed = format!("more than {} would leave nothing", 2 * shorter_side);
            return Err(DataError::setting("cutout", self.cutout, needed));
        }
        let Some([smallest, largest]) = self.resized_crop else {
            return Ok(());
        };
        if self.crop_padding > 0 {
            let needed = "resized_crop is set too; choose one of them";
            return Err(DataError::setting(
                "crop_padding",
                self.crop_padding,
                needed,
            ));
        }
        if !(smallest > 0.0 && smallest <= largest && largest <= 1.0) {
            let value = format!("[{smallest}, {largest}]");
            let needed = "two shares of the area are needed, above 0, rising, at most 1";
            return Err(DataError::setting("resized_crop", value, needed));
        }
        Ok(())
    }
}
