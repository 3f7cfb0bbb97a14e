//! Pictures as they are shown: no larger than a display needs, and a texture can be.

use bayesadapter::data::Picture;
use egui::{ColorImage, TextureHandle, TextureOptions, Ui};

/// Pixels on the longer side of a picture among others: two for every point, which fine displays have.
pub const AMONG_OTHERS: usize = 128;
/// The same of one that stands alone.
pub const ALONE: usize = 512;

/// A picture as a texture. One that is larger than a texture can be is made smaller: the device would end the program.
pub fn texture(ui: &Ui, picture: &Picture) -> TextureHandle {
    let most = ui.input(|input| input.max_texture_side);
    let rgb = picture.within(most).with_channels(3);
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
