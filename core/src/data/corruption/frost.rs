//! Frost: parts of photographs laid over the picture.

use super::row;
use crate::data::dice::Dice;
use crate::data::resample::{Filter, resize};
use crate::data::{DataError, Files, Picture};
use crate::ops::NoiseKey;
#[cfg(not(target_family = "wasm"))]
use std::path::Path;

const COUNT: usize = 5;
/// The published photographs are reduced to a fifth; what is smaller than this has been reduced already.
const REDUCED_SIDE: usize = 200;
const REDUCTION: f64 = 0.2;

/// The photographs of frost that CIFAR-10-C's authors publish, reduced to a fifth.
///
/// ```no_run
/// use bayesadapter::data::FrostPictures;
///
/// let frost = FrostPictures::open("robustness/ImageNet-C/create_c")?; // frost1.png to frost5.jpg
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FrostPictures {
    pictures: Vec<Picture>,
}

impl FrostPictures {
    /// Photographs in full size, or reduced.
    ///
    /// # Errors
    ///
    /// An empty list, and pictures whose fields do not fit.
    pub fn new(pictures: Vec<Picture>) -> Result<Self, DataError> {
        if pictures.is_empty() {
            return Err(DataError::NoFrost {
                found: "; the list is empty".to_owned(),
            });
        }
        pictures.iter().try_for_each(Picture::check)?;
        let reduced = |picture: Picture| {
            let colour = picture.with_channels(3);
            if picture.height.min(picture.width) <= REDUCED_SIDE {
                return colour;
            }
            let fifth = |side: usize| (side as f64 * REDUCTION).round() as usize;
            resize(
                &colour,
                fifth(picture.height),
                fifth(picture.width),
                Filter::Triangle,
            )
        };
        Ok(Self {
            pictures: pictures.into_iter().map(reduced).collect(),
        })
    }

    /// The files `frost1` to `frost5`, `.png` or `.jpg`, of a folder.
    ///
    /// # Errors
    ///
    /// Files that are missing or broken.
    #[cfg(not(target_family = "wasm"))]
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, DataError> {
        Self::from_files(&Files::from_folder(folder)?)
    }

    /// The same from files that are at hand already.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_files(files: &Files) -> Result<Self, DataError> {
        let picture = |number: usize| {
            let stem = format!("frost{number}.");
            let name = files
                .starting_with(&stem)
                .ok_or_else(|| DataError::NoFrost {
                    found: format!("; {} has no {stem}png or {stem}jpg", files.place()),
                })?;
            Picture::decode(&files.read(name)?, &files.full_name(name))
        };
        Self::new((1..=COUNT).map(picture).collect::<Result<_, _>>()?)
    }

    /// The picture with frost on it, with the random numbers of `key`'s first example.
    ///
    /// # Errors
    ///
    /// A severity outside 1..=5, and a picture that is larger than the photograph.
    pub fn apply(
        &self,
        picture: &Picture,
        severity: u8,
        key: NoiseKey,
    ) -> Result<Picture, DataError> {
        let rows = [
            (1.0, 0.2),
            (1.0, 0.3),
            (0.9, 0.4),
            (0.85, 0.4),
            (0.75, 0.45),
        ];
        picture.check()?;
        let (kept, weight) = rows[row(severity)?];
        let mut dice = Dice::new(key);
        let frost = &self.pictures[dice.below(self.pictures.len())];
        if frost.height < picture.height || frost.width < picture.width {
            return Err(DataError::NoFrost {
                found: format!(
                    "; those at hand are reduced to {} x {}, but a picture is {} x {}",
                    frost.width, frost.height, picture.width, picture.height
                ),
            });
        }
        let mut offset = |larger: usize, smaller: usize| dice.below((larger - smaller).max(1));
        let top = offset(frost.height, picture.height);
        let left = offset(frost.width, picture.width);
        let part = frost.crop(top, left, picture.height, picture.width);
        let colour = picture.with_channels(3);
        let values = colour.pixels.iter().zip(&part.pixels);
        let frosted = Picture {
            pixels: values
                .map(|(&value, &frost)| (kept * f64::from(value) + weight * f64::from(frost)) as u8)
                .collect(),
            ..colour
        };
        Ok(frosted.with_channels(picture.channels))
    }
}
