//! Blur and JPEG.

use crate::data::corruption::{blurred, compressed};
use crate::data::resample::{Filter, resize};
use crate::data::{DataError, Picture, dice::Dice};

/// The shorter side for which the range of standard deviations is given, in pixels.
const SIDE: f64 = 32.0;
const STDS: [f32; 2] = [1.0, 3.0];
/// Wider blurs are made of a smaller image: their cost grows with their width, and no detail is left that the smaller
/// image could lack.
const WIDEST: f64 = 3.0;
const QUALITIES: [usize; 2] = [5, 40];

/// Blurred, then compressed, both by random amounts.
pub fn degraded(original: &Picture, dice: &mut Dice) -> Result<Picture, DataError> {
    let side = original.height.min(original.width) as f64;
    let std = f64::from(dice.between(STDS[0], STDS[1])) * side / SIDE;
    let quality = QUALITIES[0] + dice.below(QUALITIES[1] - QUALITIES[0] + 1);
    let blurred = blurred_widely(&original.with_channels(3), std);
    Ok(compressed(&blurred, quality as u8)?.with_channels(original.channels))
}

fn blurred_widely(original: &Picture, std: f64) -> Picture {
    let reduction = (std / WIDEST).max(1.0);
    let reduced = |side: usize| ((side as f64 / reduction).round() as usize).max(1);
    let (height, width) = (original.height, original.width);
    let small = resize(original, reduced(height), reduced(width), Filter::Box);
    let blurred = blurred(&small, std / reduction);
    resize(&blurred, height, width, Filter::Triangle)
}
