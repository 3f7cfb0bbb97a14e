//! The 19 corruptions of CIFAR-10-C (Hendrycks and Dietterich, "Benchmarking Neural Network Robustness to Common
//! Corruptions and Perturbations", ICLR 2019), each in five severities, with the parameters that were published for
//! pictures of 32 x 32.
//!
//! Randomness is keyed, so the pictures are not those of the published arrays, but others of the same kind. Further
//! differences: JPEG keeps the full resolution of colours, where Pillow halves it; warping interpolates without
//! OpenCV's rounding of coordinates to 1/32 pixel. Lengths are in pixels, whatever the size of the picture. Grey
//! pictures are corrupted as colour ones and made grey again.

mod blur;
mod corrupted;
mod digital;
mod elastic;
mod field;
mod frost;
mod noise;
mod spatter;
mod weather;
mod zoom;

pub(super) use blur::blurred;
pub use corrupted::Corrupted;
pub(super) use digital::compressed;
pub use frost::FrostPictures;

use super::dice::Dice;
use super::{DataError, Picture};
use crate::ops::NoiseKey;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A way to make a picture worse.
///
/// ```
/// use bayesadapter::{data::{Corruption, Picture}, ops::NoiseKey};
///
/// let corruption: Corruption = "contrast".parse()?;
/// let picture = Picture::new(1, 1, 2, vec![0, 200])?;
/// let key = NoiseKey { seed: 1, ..NoiseKey::default() };
/// assert_eq!(corruption.apply(&picture, 2, key)?.pixels, [50, 150]);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Corruption {
    /// Normal noise on every value.
    GaussianNoise,
    /// The noise of counting few photons.
    ShotNoise,
    /// Values that are black or white at random.
    ImpulseNoise,
    /// A lens out of focus.
    DefocusBlur,
    /// Pixels that change places, as behind frosted glass.
    GlassBlur,
    /// A camera that moves.
    MotionBlur,
    /// A camera that moves towards what it sees.
    ZoomBlur,
    /// Flakes that fall, on a paler picture.
    Snow,
    /// Photographs of frost laid over it.
    Frost,
    /// A plasma fractal laid over it.
    Fog,
    /// More light.
    Brightness,
    /// Values nearer to their mean.
    Contrast,
    /// Stretched and sheared in places.
    ElasticTransform,
    /// Fewer pixels.
    Pixelate,
    /// Saved as a JPEG of low quality.
    JpegCompression,
    /// Normal noise in proportion to the value.
    SpeckleNoise,
    /// A normal kernel.
    GaussianBlur,
    /// Drops of water or mud on the lens.
    Spatter,
    /// Colours stronger or weaker.
    Saturate,
}

impl Corruption {
    /// All of them: the 15 main ones, then the four extra ones.
    pub const ALL: [Self; 19] = [
        Self::GaussianNoise,
        Self::ShotNoise,
        Self::ImpulseNoise,
        Self::DefocusBlur,
        Self::GlassBlur,
        Self::MotionBlur,
        Self::ZoomBlur,
        Self::Snow,
        Self::Frost,
        Self::Fog,
        Self::Brightness,
        Self::Contrast,
        Self::ElasticTransform,
        Self::Pixelate,
        Self::JpegCompression,
        Self::SpeckleNoise,
        Self::GaussianBlur,
        Self::Spatter,
        Self::Saturate,
    ];

    /// The name that files of CIFAR-10-C have.
    pub fn name(self) -> &'static str {
        match self {
            Self::GaussianNoise => "gaussian_noise",
            Self::ShotNoise => "shot_noise",
            Self::ImpulseNoise => "impulse_noise",
            Self::DefocusBlur => "defocus_blur",
            Self::GlassBlur => "glass_blur",
            Self::MotionBlur => "motion_blur",
            Self::ZoomBlur => "zoom_blur",
            Self::Snow => "snow",
            Self::Frost => "frost",
            Self::Fog => "fog",
            Self::Brightness => "brightness",
            Self::Contrast => "contrast",
            Self::ElasticTransform => "elastic_transform",
            Self::Pixelate => "pixelate",
            Self::JpegCompression => "jpeg_compression",
            Self::SpeckleNoise => "speckle_noise",
            Self::GaussianBlur => "gaussian_blur",
            Self::Spatter => "spatter",
            Self::Saturate => "saturate",
        }
    }

    /// The picture made worse, with the random numbers of `key`'s first example.
    ///
    /// # Errors
    ///
    /// A picture whose fields do not fit, a severity outside 1..=5, and [`Frost`](Self::Frost), for which there is
    /// [`FrostPictures::apply`].
    pub fn apply(
        self,
        picture: &Picture,
        severity: u8,
        key: NoiseKey,
    ) -> Result<Picture, DataError> {
        picture.check()?;
        let row = row(severity)?;
        let colour = picture.with_channels(3);
        let dice = &mut Dice::new(key);
        let corrupted = match self {
            Self::GaussianNoise => noise::gaussian(&colour, row, dice),
            Self::ShotNoise => noise::shot(&colour, row, dice),
            Self::ImpulseNoise => noise::impulse(&colour, row, dice),
            Self::SpeckleNoise => noise::speckle(&colour, row, dice),
            Self::DefocusBlur => blur::defocus(&colour, row),
            Self::GaussianBlur => blur::gaussian(&colour, row),
            Self::GlassBlur => blur::glass(&colour, row, dice),
            Self::MotionBlur => blur::motion(&colour, row, dice),
            Self::ZoomBlur => zoom::blur(&colour, row),
            Self::Snow => weather::snow(&colour, row, dice),
            Self::Fog => weather::fog(&colour, row, dice),
            Self::Frost => {
                return Err(DataError::NoFrost {
                    found: String::new(),
                });
            }
            Self::Spatter => spatter::spatter(&colour, row, dice),
            Self::Brightness => digital::brightness(&colour, row),
            Self::Contrast => digital::contrast(&colour, row),
            Self::Saturate => digital::saturate(&colour, row),
            Self::Pixelate => digital::pixelate(&colour, row),
            Self::JpegCompression => digital::jpeg(&colour, row)?,
            Self::ElasticTransform => elastic::transform(&colour, row, dice),
        };
        Ok(corrupted.with_channels(picture.channels))
    }
}

/// The row of a table of parameters.
fn row(severity: u8) -> Result<usize, DataError> {
    match severity {
        1..=5 => Ok(usize::from(severity) - 1),
        _ => Err(DataError::setting("severity", severity, "1 to 5 are known")),
    }
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Corruption {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        let known = Self::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| DataError::UnknownCorruption {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
