//! Blurs, except by zooming.

use super::field::{Border, Field, bell, colours, normalised, picture};
use crate::data::{Picture, dice::Dice};

/// Where scikit-image cuts Gaussians off.
pub const TRUNCATE: f64 = 4.0;

pub fn gaussian(original: &Picture, row: usize) -> Picture {
    let std = [0.4, 0.6, 0.7, 0.8, 1.0][row];
    blurred(original, std)
}

/// An RGB image, blurred by a normal kernel with a standard deviation in pixels.
pub fn blurred(original: &Picture, std: f64) -> Picture {
    picture(&colours(original).map(|colour| colour.gaussian(std, TRUNCATE, Border::Nearest)))
}

/// Blur, pixels taken from neighbours, blur.
///
/// The authors mean to swap pixels, but their script does so through views of one array, which copies: the published
/// pictures have copies, and networks fail on swaps far more often than on those.
pub fn glass(original: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let (std, shift, turns) = [
        (0.05, 1, 1),
        (0.25, 1, 1),
        (0.4, 1, 1),
        (0.25, 1, 2),
        (0.4, 1, 2),
    ][row];
    let mut shifted = blurred(original, std);
    let channels = shifted.channels;
    for _ in 0..turns {
        for y in (shift + 1..(shifted.height + 1).saturating_sub(shift)).rev() {
            for x in (shift + 1..(shifted.width + 1).saturating_sub(shift)).rev() {
                // From -shift to shift - 1.
                let from_x = x + dice.below(2 * shift) - shift;
                let from_y = y + dice.below(2 * shift) - shift;
                let from = (from_y * shifted.width + from_x) * channels;
                let to = (y * shifted.width + x) * channels;
                shifted.pixels.copy_within(from..from + channels, to);
            }
        }
    }
    blurred(&shifted, std)
}

/// Every point becomes a disk with soft edges.
pub fn defocus(original: &Picture, row: usize) -> Picture {
    const REACH: isize = 8;
    let (radius, soft) = [(0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1)][row];
    let side = (2 * REACH + 1) as usize;
    let disk = Field::from_fn(side, side, |y, x| {
        let (y, x) = (y as isize - REACH, x as isize - REACH);
        f64::from((y * y + x * x) as f64 <= radius * radius)
    });
    let edge = normalised((-1..=1).map(|at| (at, bell(at, soft))).collect());
    let edges: Vec<_> = edge
        .iter()
        .flat_map(|&(dy, down)| {
            edge.iter()
                .map(move |&(dx, across)| (dy, dx, down * across))
        })
        .collect();
    let soft_disk = disk.weighted(&edges, Border::Mirror);
    let places = (-REACH..=REACH).flat_map(|y| (-REACH..=REACH).map(move |x| (y, x)));
    let taps = places
        .zip(soft_disk.values)
        .filter(|(_, weight)| *weight > 0.0);
    let taps: Vec<_> = normalised(taps.collect())
        .into_iter()
        .map(|((y, x), weight)| (y, x, weight))
        .collect();
    picture(&colours(original).map(|colour| colour.weighted(&taps, Border::Mirror)))
}

pub fn motion(original: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let (radius, std) = [(6, 1.0), (6, 1.5), (6, 2.0), (8, 2.0), (9, 2.5)][row];
    let angle = f64::from(dice.between(-45.0, 45.0));
    picture(&colours(original).map(|colour| trail(&colour, radius, std, angle)))
}

/// ImageMagick's motion blur: half a Gaussian along a line, with places rounded to whole pixels, and values to
/// 1/255.
pub fn trail(field: &Field, radius: isize, std: f64, degrees: f64) -> Field {
    let (down, across) = degrees.to_radians().sin_cos();
    let place = |steps: isize, direction: f64| (steps as f64 * direction - 0.5).ceil() as isize;
    let taps = (0..=2 * radius).map(|at| ((place(at, down), place(at, across)), bell(at, std)));
    let taps = normalised(taps.collect()).into_iter();
    let taps: Vec<_> = taps.map(|((dy, dx), weight)| (dy, dx, weight)).collect();
    // A little above the multiple of 1/255, so that cutting fractions off cannot take one away.
    let rounded = |value: f64| ((value * 255.0).round() + 1e-6) / 255.0;
    field.weighted(&taps, Border::Nearest).map(rounded)
}
