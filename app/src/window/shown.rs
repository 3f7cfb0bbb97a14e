//! Pictures as they are shown: no larger than a display needs, and a texture can be.

use bayesadapter::data::Picture;
use egui::{ColorImage, TextureHandle, TextureOptions, Ui};
use image::{RgbImage, imageops};

/// Pixels on the longer side of a picture among others: two for every point, which fine displays have.
pub const AMONG_OTHERS: usize = 128;
/// The same of one that stands alone.
pub const ALONE: usize = 512;

/// The picture, with no side longer than this.
pub fn within(picture: &Picture, side: usize) -> Picture {
    let longer = picture.width.max(picture.height);
    if longer <= side {
        return picture.clone();
    }
    let rgb = picture.with_channels(3);
    let image = RgbImage::from_raw(rgb.width as u32, rgb.height as u32, rgb.pixels);
    let scaled = |pixels: usize| (pixels * side / longer).max(1);
    let (width, height) = (scaled(picture.width), scaled(picture.height));
    let image = imageops::thumbnail(&image.unwrap_or_default(), width as u32, height as u32);
    Picture {
        channels: 3,
        height,
        width,
        pixels: image.into_raw(),
    }
}

/// A picture as a texture. One that is larger than a texture can be is made smaller: the device would end the program.
pub fn texture(ui: &Ui, picture: &Picture) -> TextureHandle {
    let most = ui.input(|input| input.max_texture_side);
    let rgb = within(picture, most).with_channels(3);
    let image = ColorImage::from_rgb([rgb.width, rgb.height], &rgb.pixels);
    ui.ctx()
        .load_texture("picture", image, TextureOptions::NEAREST)
}

/// Red, green and blue of every pixel.
pub fn rgb(image: &ColorImage) -> Vec<u8> {
    let pixels = image.pixels.iter();
    pixels
        .flat_map(|pixel| {
            let [red, green, blue, _] = pixel.to_array();
            [red, green, blue]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pictures_keep_their_form_and_small_ones_everything() {
        let (width, height) = (3000, 1000);
        let wide = Picture::new(1, height, width, vec![77; width * height]).unwrap();
        let small = within(&wide, 300);
        assert_eq!([small.width, small.height], [300, 100]);
        assert!(small.pixels.iter().all(|&value| value == 77));
        let thin = Picture::new(3, 1, 5000, vec![9; 15_000]).unwrap();
        assert_eq!(within(&thin, 100).height, 1);
        let digit = Picture::new(1, 8, 8, (0..64).collect()).unwrap();
        assert_eq!(within(&digit, 8), digit);
    }
}
