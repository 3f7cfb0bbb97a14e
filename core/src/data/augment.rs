//! Pictures into network inputs.

use super::dice::Dice;
use super::resample::{Filter, resize};
use super::{DataError, Picture, Preparation};
use std::borrow::Cow;

/// Pictures larger than the input are reduced to this multiple of it before their centre is cut out.
const REDUCED: f64 = 8.0 / 7.0;
/// How often a resized crop is drawn until it lies inside the picture.
const TRIES: usize = 10;
/// Natural logarithm of the largest proportion of a resized crop, 4/3.
const LOG_PROPORTION: f32 = 0.287_682_07;

/// A preparation with its settings checked and its table of values made.
#[derive(Debug)]
pub(super) struct Preparer {
    settings: Preparation,
    /// The input value of every pixel value, channel by channel.
    values: Vec<[f32; 256]>,
}

/// Where one input comes from.
struct Window {
    /// Of the fitted picture; negative where the input's border lies in the padding.
    top: isize,
    left: isize,
    flipped: bool,
}

impl Preparer {
    pub fn new(settings: Preparation) -> Result<Self, DataError> {
        settings.validate()?;
        let normalisation = &settings.normalisation;
        let table = |(&mean, &std): (&f32, &f32)| {
            std::array::from_fn(|pixel| (pixel as f32 / 255.0 - mean) / std)
        };
        let values = normalisation.mean.iter().zip(&normalisation.std).map(table);
        Ok(Self {
            values: values.collect(),
            settings,
        })
    }

    /// Writes the input of a picture, `[channels, height, width]`; augmented if there are dice to do it with.
    pub fn write(
        &self,
        picture: &Picture,
        dice: Option<Dice>,
        input: &mut [f32],
    ) -> Result<(), DataError> {
        picture.check()?;
        let [channels, ..] = self.settings.shape;
        let converted;
        let picture = if picture.channels == channels {
            picture
        } else {
            converted = picture.with_channels(channels);
            &converted
        };
        let Some(mut dice) = dice else {
            self.copy(&self.fitted(picture), &Window::plain(), input);
            return Ok(());
        };
        let augmentation = &self.settings.augmentation;
        let fitted = match augmentation.resized_crop {
            Some(area) => self.resized_crop(picture, area, &mut dice),
            None => self.fitted(picture),
        };
        let padding = augmentation.crop_padding;
        let mut offset = || dice.below(2 * padding + 1) as isize - padding as isize;
        let window = Window {
            top: offset(),
            left: offset(),
            flipped: augmentation.flip && dice.below(2) == 1,
        };
        self.copy(&fitted, &window, input);
        if augmentation.cutout > 0 {
            self.cut_out(&mut dice, input);
        }
        Ok(())
    }

    fn fitted<'p>(&self, picture: &'p Picture) -> Cow<'p, Picture> {
        let [_, height, width] = self.settings.shape;
        fitted(picture, height, width)
    }

    /// A random part of the picture at the size of the input; its centre if no part was found.
    fn resized_crop<'p>(
        &self,
        picture: &'p Picture,
        [smallest, largest]: [f32; 2],
        dice: &mut Dice,
    ) -> Cow<'p, Picture> {
        let [_, height, width] = self.settings.shape;
        let whole = (picture.height * picture.width) as f32;
        for _ in 0..TRIES {
            let area = whole * dice.between(smallest, largest);
            let proportion = dice.between(-LOG_PROPORTION, LOG_PROPORTION).exp();
            let crop_width = (area * proportion).sqrt().round() as usize;
            let crop_height = (area / proportion).sqrt().round() as usize;
            let inside = (1..=picture.width).contains(&crop_width)
                && (1..=picture.height).contains(&crop_height);
            if inside {
                let top = dice.below(picture.height - crop_height + 1);
                let left = dice.below(picture.width - crop_width + 1);
                let part = picture.crop(top, left, crop_height, crop_width);
                return Cow::Owned(resize(&part, height, width, Filter::Triangle));
            }
        }
        self.fitted(picture)
    }

    /// Normalises a window of a picture that has the input's size.
    fn copy(&self, picture: &Picture, window: &Window, input: &mut [f32]) {
        let [channels, height, width] = self.settings.shape;
        for (channel, plane) in input.chunks_exact_mut(height * width).enumerate() {
            let values = &self.values[channel];
            for (y, row) in plane.chunks_exact_mut(width).enumerate() {
                let from = y as isize + window.top;
                if !(0..height as isize).contains(&from) {
                    row.fill(values[0]);
                    continue;
                }
                let first = from as usize * width * channels;
                let pixels = &picture.pixels[first..first + width * channels];
                for (x, value) in row.iter_mut().enumerate() {
                    let x = if window.flipped { width - 1 - x } else { x };
                    let from = x as isize + window.left;
                    *value = match (0..width as isize).contains(&from) {
                        true => values[usize::from(pixels[from as usize * channels + channel])],
                        false => values[0],
                    };
                }
            }
        }
    }

    /// Sets a square to 0.
    fn cut_out(&self, dice: &mut Dice, input: &mut [f32]) {
        let [_, height, width] = self.settings.shape;
        let side = self.settings.augmentation.cutout;
        let mut span = |length: usize| {
            let centre = dice.below(length);
            let first = centre.saturating_sub(side / 2);
            first..(centre + side - side / 2).min(length)
        };
        let (rows, columns) = (span(height), span(width));
        for plane in input.chunks_exact_mut(height * width) {
            for row in plane
                .chunks_exact_mut(width)
                .take(rows.end)
                .skip(rows.start)
            {
                row[columns.clone()].fill(0.0);
            }
        }
    }
}

impl Window {
    fn plain() -> Self {
        Self {
            top: 0,
            left: 0,
            flipped: false,
        }
    }
}

/// The centre of a picture at the size of an input.
pub(super) fn fitted(picture: &Picture, height: usize, width: usize) -> Cow<'_, Picture> {
    if (picture.height, picture.width) == (height, width) {
        return Cow::Borrowed(picture);
    }
    let covering = (height as f64 / picture.height as f64).max(width as f64 / picture.width as f64);
    let scale = if covering > 1.0 {
        covering
    } else {
        (REDUCED * covering).min(1.0)
    };
    let scaled = |side: usize, least: usize| ((side as f64 * scale).round() as usize).max(least);
    let (full_height, full_width) = (scaled(picture.height, height), scaled(picture.width, width));
    let full = resize(picture, full_height, full_width, Filter::Triangle);
    let (top, left) = ((full_height - height) / 2, (full_width - width) / 2);
    Cow::Owned(full.crop(top, left, height, width))
}
