//! Charts as PNG pictures.

use anyhow::{Context, Result, ensure};
use image::{ImageFormat, RgbaImage};
use resvg::{
    tiny_skia::{Color, Pixmap, Transform},
    usvg::{Options, Tree},
};
use std::io::Cursor;

/// The family that the font calls itself.
const FAMILY: &str = "Ubuntu";

/// Pixels per side that a picture may have.
const LARGEST_SIDE: f32 = 20_000.0;

/// A chart as a PNG file, on white, `scale` times as wide and high as the chart.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    let tree = Tree::from_str(svg, &options()).context("the chart is no SVG document")?;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|side| side * scale);
    ensure!(
        [width, height]
            .iter()
            .all(|side| (1.0..=LARGEST_SIDE).contains(side)),
        "a picture of {width} x {height} pixels was asked for, but a side has 1 to {LARGEST_SIDE}"
    );
    let mut pixels = Pixmap::new(width.round() as u32, height.round() as u32)
        .context("there is not enough memory for the picture")?;
    pixels.fill(Color::WHITE);
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    let (width, height) = (pixels.width(), pixels.height());
    // On an opaque ground, colours multiplied by their opacity are the colours themselves.
    let image = RgbaImage::from_raw(width, height, pixels.take())
        .context("the picture has another size than its pixels")?;
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

/// With the window's font alone, so that pictures are the same on every machine.
fn options() -> Options<'static> {
    let mut options = Options {
        font_family: FAMILY.to_owned(),
        ..Options::default()
    };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    options
}
