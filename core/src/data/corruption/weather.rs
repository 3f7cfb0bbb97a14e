//! Fog and snow.

use super::blur::trail;
use super::field::{Field, colours, picture};
use super::zoom::zoomed;
use crate::data::{Picture, dice::Dice};

pub fn fog(original: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let (weight, decay) = [(0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75)][row];
    let colours = colours(original);
    let brightest = colours.iter().map(Field::max).fold(0.0, f64::max);
    let side = original.height.max(original.width).next_power_of_two();
    let clouds = clouds(side, decay, dice);
    picture(&colours.map(|colour| {
        Field::from_fn(original.height, original.width, |y, x| {
            (colour.at(y, x) + weight * clouds.at(y, x)) * brightest / (brightest + weight)
        })
    }))
}

/// A fractal from 0 to 1 by the diamond-square method on a torus whose side is a power of two. In every round the
/// centres of squares, then those of diamonds, get the mean of their four corners and a random part, which falls by
/// `decay`.
fn clouds(side: usize, decay: f64, dice: &mut Dice) -> Field {
    let mut map = Field::from_fn(side, side, |_, _| 0.0);
    let (mut step, mut amplitude) = (side, 100.0);
    while step >= 2 {
        let half = step / 2;
        // Centres of squares; then of diamonds on the squares' upper edges, then on their left edges.
        for (y0, x0) in [(half, half), (0, half), (half, 0)] {
            let straight = (y0, x0) != (half, half);
            for y in (y0..side).step_by(step) {
                for x in (x0..side).step_by(step) {
                    let corners = match straight {
                        true => [(half, 0), (side - half, 0), (0, half), (0, side - half)],
                        false => [
                            (half, half),
                            (half, side - half),
                            (side - half, half),
                            (side - half, side - half),
                        ],
                    };
                    let corner =
                        |(dy, dx): (usize, usize)| map.at((y + dy) % side, (x + dx) % side);
                    let mean = corners.map(corner).iter().sum::<f64>() / 4.0;
                    let random = f64::from(dice.between(-1.0, 1.0)) * amplitude * amplitude;
                    map.values[y * side + x] = mean + random;
                }
            }
        }
        step = half;
        amplitude /= decay;
    }
    let (low, high) = (map.min(), map.max());
    // A single pixel has one height.
    map.map(|height| (height - low) / (high - low).max(f64::MIN_POSITIVE))
}

struct Snow {
    mean: f64,
    std: f64,
    zoom: f64,
    threshold: f64,
    radius: isize,
    trail_std: f64,
    kept: f64,
}

impl Snow {
    fn new([mean, std, zoom, threshold, radius, trail_std, kept]: [f64; 7]) -> Self {
        Self {
            mean,
            std,
            zoom,
            threshold,
            radius: radius as isize,
            trail_std,
            kept,
        }
    }
}

/// Flakes that fall in one direction, and the same turned by half a turn, over a whitened picture.
pub fn snow(original: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let snow = Snow::new(
        [
            [0.1, 0.2, 1.0, 0.6, 8.0, 3.0, 0.95],
            [0.1, 0.2, 1.0, 0.5, 10.0, 4.0, 0.9],
            [0.15, 0.3, 1.75, 0.55, 10.0, 4.0, 0.9],
            [0.25, 0.3, 2.25, 0.6, 12.0, 6.0, 0.85],
            [0.3, 0.3, 1.25, 0.65, 14.0, 12.0, 0.8],
        ][row],
    );
    let (height, width) = (original.height, original.width);
    let normals = dice.normals(height * width);
    let flakes = Field::from_fn(height, width, |y, x| {
        snow.mean + snow.std * f64::from(normals[y * width + x])
    });
    let flakes = zoomed(&flakes, snow.zoom).map(|value| {
        let value = if value < snow.threshold {
            0.0
        } else {
            value.clamp(0.0, 1.0)
        };
        (value * 255.0).floor() / 255.0
    });
    let angle = f64::from(dice.between(-135.0, -45.0));
    let flakes = trail(&flakes, snow.radius, snow.trail_std, angle);
    let colours = colours(original);
    let [red, green, blue] = &colours;
    let grey = Field::from_fn(height, width, |y, x| {
        0.299 * red.at(y, x) + 0.587 * green.at(y, x) + 0.114 * blue.at(y, x)
    });
    picture(&colours.each_ref().map(|colour| {
        Field::from_fn(height, width, |y, x| {
            let value = colour.at(y, x);
            let white = value.max(1.5 * grey.at(y, x) + 0.5);
            let turned = flakes.at(height - 1 - y, width - 1 - x);
            snow.kept * value + (1.0 - snow.kept) * white + flakes.at(y, x) + turned
        })
    }))
}
