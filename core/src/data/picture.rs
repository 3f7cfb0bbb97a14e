//! One picture in memory, and how it is decoded.

use super::DataError;
use image::{ColorType, ImageFormat, ImageReader, Limits, RgbImage, imageops};
use serde::{Deserialize, Serialize};
use std::io::Cursor;

/// The longest side that is decoded. Photographs have a third of it.
pub const MAX_SIDE: usize = 16_384;
/// The most memory that a decoder may ask for.
const MAX_DECODED_BYTES: u64 = 1 << 29;

/// A picture: height x width x channels, row by row, 8 bits each; one channel (grey) or three (RGB).
///
/// ```
/// use bayesadapter::data::Picture;
///
/// let picture = Picture::new(3, 1, 2, vec![255, 0, 0, 0, 0, 255])?; // red, blue
/// assert_eq!(picture.pixel(0, 1), [0, 0, 255]);
/// assert_eq!(picture.with_channels(1).pixels, [76, 29]);
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// 1 or 3.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// `height * width * channels` values.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// A picture of these pixels.
    ///
    /// # Errors
    ///
    /// Channels other than 1 or 3, a side of 0 or beyond [`MAX_SIDE`], and a wrong number of pixel values.
    pub fn new(
        channels: usize,
        height: usize,
        width: usize,
        pixels: Vec<u8>,
    ) -> Result<Self, DataError> {
        let picture = Self {
            channels,
            height,
            width,
            pixels,
        };
        picture.check()?;
        Ok(picture)
    }

    /// Whether the fields, which anyone may set, fit.
    pub(super) fn check(&self) -> Result<(), DataError> {
        let sides = 1..=MAX_SIDE;
        let needed = if !matches!(self.channels, 1 | 3) {
            "1 or 3 channels are needed"
        } else if !sides.contains(&self.height) || !sides.contains(&self.width) {
            "sides of 1 to 16,384 are needed"
        } else if self.pixels.len() != self.channels * self.height * self.width {
            "height * width * channels values are needed"
        } else {
            return Ok(());
        };
        Err(DataError::Picture {
            channels: self.channels,
            height: self.height,
            width: self.width,
            pixels: self.pixels.len(),
            needed,
        })
    }

    /// Decodes a file's bytes; `name` is for errors, and its ending for formats that cannot be told by their
    /// first bytes. Grey stays grey, transparency is dropped, 16 bits become 8, of an animation the first
    /// picture is taken, and the orientation that cameras write beside the pixels is ignored, as torchvision
    /// does.
    ///
    /// # Errors
    ///
    /// What is no picture, or too large a one.
    pub fn decode(bytes: &[u8], name: &str) -> Result<Self, DataError> {
        let broken = |reason: String| DataError::Broken {
            name: name.to_owned(),
            reason,
        };
        let mut reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|error| broken(error.to_string()))?;
        if reader.format().is_none() {
            let format = ImageFormat::from_path(name)
                .map_err(|_| broken("its first bytes are of no known format".to_owned()))?;
            reader.set_format(format);
        }
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_SIDE as u32);
        limits.max_image_height = Some(MAX_SIDE as u32);
        limits.max_alloc = Some(MAX_DECODED_BYTES);
        reader.limits(limits);
        let image = reader.decode().map_err(|error| broken(error.to_string()))?;
        let (width, height) = (image.width() as usize, image.height() as usize);
        let grey = matches!(
            image.color(),
            ColorType::L8 | ColorType::L16 | ColorType::La8 | ColorType::La16
        );
        let (channels, pixels) = if grey {
            (1, image.into_luma8().into_raw())
        } else {
            (3, image.into_rgb8().into_raw())
        };
        Self::new(channels, height, width, pixels).map_err(|error| broken(error.to_string()))
    }

    /// The values of one pixel.
    pub fn pixel(&self, y: usize, x: usize) -> &[u8] {
        let first = (y * self.width + x) * self.channels;
        &self.pixels[first..first + self.channels]
    }

    /// The same picture in grey (1) or in colour (3). Grey is 0.299 R + 0.587 G + 0.114 B.
    pub fn with_channels(&self, channels: usize) -> Self {
        let pixels = match (self.channels, channels) {
            (3, 1) => self.pixels.chunks_exact(3).map(luma).collect(),
            (1, 3) => self.pixels.iter().flat_map(|&value| [value; 3]).collect(),
            _ => return self.clone(),
        };
        Self {
            channels,
            pixels,
            ..*self
        }
    }

    /// The picture with no side longer than this, to be looked at; a large one comes back in colour.
    pub fn within(&self, side: usize) -> Self {
        let longer = self.width.max(self.height);
        if longer <= side {
            return self.clone();
        }
        let rgb = self.with_channels(3);
        let image = RgbImage::from_raw(rgb.width as u32, rgb.height as u32, rgb.pixels);
        let scaled = |pixels: usize| (pixels * side / longer).max(1);
        let (width, height) = (scaled(self.width), scaled(self.height));
        let image = imageops::thumbnail(&image.unwrap_or_default(), width as u32, height as u32);
        Self {
            channels: 3,
            height,
            width,
            pixels: image.into_raw(),
        }
    }

    /// The rectangle from `top` and `left` on; it has to lie inside.
    pub(super) fn crop(&self, top: usize, left: usize, height: usize, width: usize) -> Self {
        let row = |y: usize| {
            let first = (y * self.width + left) * self.channels;
            &self.pixels[first..first + width * self.channels]
        };
        Self {
            channels: self.channels,
            height,
            width,
            pixels: (top..top + height).flat_map(row).copied().collect(),
        }
    }
}

/// In 16 bits of fraction and rounded to nearest, as Pillow has it.
fn luma(rgb: &[u8]) -> u8 {
    let [r, g, b] = [rgb[0], rgb[1], rgb[2]].map(u32::from);
    ((r * 19_595 + g * 38_470 + b * 7_471 + 0x8000) >> 16) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pictures_keep_their_form_and_small_ones_everything() {
        let (width, height) = (3000, 1000);
        let wide = Picture::new(1, height, width, vec![77; width * height]).unwrap();
        let small = wide.within(300);
        assert_eq!([small.width, small.height], [300, 100]);
        assert!(small.pixels.iter().all(|&value| value == 77));
        let thin = Picture::new(3, 1, 5000, vec![9; 15_000]).unwrap();
        assert_eq!(thin.within(100).height, 1);
        let digit = Picture::new(1, 8, 8, (0..64).collect()).unwrap();
        assert_eq!(digit.within(8), digit);
    }
}
