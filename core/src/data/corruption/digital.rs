//! Corruptions of value, colour and resolution.

use super::field::{colours, picture};
use crate::data::resample::{Filter, resize};
use crate::data::{DataError, Picture};
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;

pub fn contrast(original: &Picture, row: usize) -> Picture {
    let kept = [0.75, 0.5, 0.4, 0.3, 0.15][row];
    picture(&colours(original).map(|colour| {
        let mean = colour.values.iter().sum::<f64>() / colour.values.len() as f64;
        colour.map(|value| (value - mean) * kept + mean)
    }))
}

pub fn brightness(original: &Picture, row: usize) -> Picture {
    let added = [0.05, 0.1, 0.15, 0.2, 0.3][row];
    by_hsv(original, |[h, s, v]| [h, s, (v + added).clamp(0.0, 1.0)])
}

pub fn saturate(original: &Picture, row: usize) -> Picture {
    let (factor, added) = [(0.3, 0.0), (0.1, 0.0), (1.5, 0.0), (2.0, 0.1), (2.5, 0.2)][row];
    by_hsv(original, |[h, s, v]| {
        [h, (s * factor + added).clamp(0.0, 1.0), v]
    })
}

/// Changes hue, saturation and value of every pixel.
fn by_hsv(original: &Picture, change: impl Fn([f64; 3]) -> [f64; 3]) -> Picture {
    let mut colours = colours(original);
    for at in 0..original.height * original.width {
        let rgb = colours.each_ref().map(|colour| colour.values[at]);
        let changed = rgb_from_hsv(change(hsv_from_rgb(rgb)));
        for (colour, value) in colours.iter_mut().zip(changed) {
            colour.values[at] = value;
        }
    }
    picture(&colours)
}

/// Hue in turns.
fn hsv_from_rgb([r, g, b]: [f64; 3]) -> [f64; 3] {
    let value = r.max(g).max(b);
    let range = value - r.min(g).min(b);
    if range == 0.0 {
        return [0.0, 0.0, value];
    }
    let sixths = if b == value {
        4.0 + (r - g) / range
    } else if g == value {
        2.0 + (b - r) / range
    } else {
        (g - b) / range
    };
    [(sixths / 6.0).rem_euclid(1.0), range / value, value]
}

fn rgb_from_hsv([hue, saturation, value]: [f64; 3]) -> [f64; 3] {
    let sixth = (hue * 6.0).floor();
    let within = hue * 6.0 - sixth;
    let low = value * (1.0 - saturation);
    let falling = value * (1.0 - within * saturation);
    let rising = value * (1.0 - (1.0 - within) * saturation);
    match sixth as u8 % 6 {
        0 => [value, rising, low],
        1 => [falling, value, low],
        2 => [low, value, rising],
        3 => [low, falling, value],
        4 => [rising, low, value],
        _ => [value, low, falling],
    }
}

pub fn pixelate(original: &Picture, row: usize) -> Picture {
    let kept = [0.95, 0.9, 0.85, 0.75, 0.65][row];
    let fewer = |side: usize| ((side as f64 * kept) as usize).max(1);
    let (height, width) = (original.height, original.width);
    let small = resize(original, fewer(height), fewer(width), Filter::Box);
    resize(&small, height, width, Filter::Box)
}

pub fn jpeg(original: &Picture, row: usize) -> Result<Picture, DataError> {
    compressed(original, [80, 65, 58, 50, 40][row])
}

/// An RGB image after a passage through JPEG of a quality from 1 to 100.
pub fn compressed(original: &Picture, quality: u8) -> Result<Picture, DataError> {
    const NAME: &str = "a picture compressed by this library";
    let mut bytes = Vec::new();
    let (width, height) = (original.width as u32, original.height as u32);
    JpegEncoder::new_with_quality(&mut bytes, quality)
        .encode(&original.pixels, width, height, ExtendedColorType::Rgb8)
        .map_err(|error| DataError::Broken {
            name: NAME.to_owned(),
            reason: error.to_string(),
        })?;
    Picture::decode(&bytes, NAME)
}
