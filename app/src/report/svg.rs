//! A chart as one SVG document.

use super::{palette::Ink, text::escaped};
use image::RgbImage;
use std::fmt::Write;

/// Units of drawing per pixel. Charts are drawn on a grid of whole numbers, and steps of a pixel would show in
/// their curves.
pub const UNITS_PER_PIXEL: u32 = 2;

/// Width of every chart in units: small enough for its words to be read on a phone.
pub const WIDTH: u32 = 960;

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Name for a file, without an ending.
    pub name: String,
    /// What is shown; also in the picture.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The picture, a whole document.
    pub svg: String,
}

impl Chart {
    /// From the elements of a picture of so many units of height.
    pub fn new(name: String, title: String, caption: String, height: u32, elements: &str) -> Self {
        let (pixels_wide, pixels_high) = (WIDTH / UNITS_PER_PIXEL, height / UNITS_PER_PIXEL);
        let (spoken_title, description) = (escaped(&title), escaped(&caption));
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{spoken_title}\" \
             width=\"{pixels_wide}\" height=\"{pixels_high}\" viewBox=\"0 0 {WIDTH} {height}\">\n\
             <title>{spoken_title}</title>\n<desc>{description}</desc>\n{elements}</svg>"
        );
        Self {
            name,
            title,
            caption,
            svg,
        }
    }
}

/// A line of text at a place, of so many units; it starts, ends, or has its middle there.
pub fn words((x, y): (f64, f64), size: u32, ink: Ink, anchor: &str, text: &str) -> String {
    let (fill, text) = (ink.light_hex(), escaped(text));
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-family=\"sans-serif\" font-size=\"{size}\" \
         fill=\"{fill}\">{text}</text>\n"
    )
}

/// A filled rectangle: its left and upper edge, width and height.
pub fn rectangle(out: &mut String, [x, y, width, height]: [f64; 4], ink: Ink, opacity: f64) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{}\" \
         fill-opacity=\"{opacity}\"/>",
        ink.light_hex()
    );
}

/// An image from a place on; its pixels are as wide and as high as `scale` says.
pub fn pixels(out: &mut String, image: &RgbImage, (x, y): (f64, f64), [across, down]: [f64; 2]) {
    let _ = writeln!(
        out,
        "<g transform=\"translate({x:.1} {y:.1}) scale({across:.3} {down:.3})\" shape-rendering=\"crispEdges\">"
    );
    for (x, y, pixel) in image.enumerate_pixels() {
        let [red, green, blue] = pixel.0;
        // Lower case, which the rules for dark ground do not match: these colours are data.
        let _ = write!(
            out,
            "<path fill=\"#{red:02x}{green:02x}{blue:02x}\" d=\"M{x} {y}h1v1h-1z\"/>"
        );
    }
    out.push_str("</g>\n");
}
