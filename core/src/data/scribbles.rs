//! Scribbles: what a pen leaves that writes no digit.

use super::{
    Picture, Pictures,
    dice::{Dice, Purpose},
};
use crate::ops::NoiseKey;

/// Side of a picture, and of the finer grid that its pixels are counted on, as the digits were made.
const SIDE: usize = 8;
const FINE: usize = 32;
const BLOCK: usize = FINE / SIDE;
/// Half the width of the pen, on the finer grid.
const PEN: f32 = 1.7;
/// Steps of the pen along one stroke.
const STEPS: usize = 160;

/// Random strokes of a pen, drawn and counted as [`digits`](super::digits) were, and like them of 8 x 8 pixels: data
/// on which a classifier of digits should be unsure. The same seed gives the same scribbles.
///
/// ```
/// use bayesadapter::data::{Dataset, scribbles};
///
/// let scribbles = scribbles(10, 0);
/// assert_eq!(scribbles.len(), 10);
/// assert!(scribbles.picture(3)?.pixels.iter().any(|&ink| ink > 128));
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
pub fn scribbles(count: usize, seed: u64) -> Pictures {
    let pictures: Vec<Picture> = (0..count)
        .map(|example| scribble(seed, example as u32))
        .collect();
    Pictures {
        labels: vec![0; pictures.len()],
        pictures,
        class_names: vec!["scribble".to_owned()],
        origins: vec![("scribbles".to_owned(), 0)],
        unsplit: true,
    }
}

fn scribble(seed: u64, example: u32) -> Picture {
    let mut dice = Dice::new(NoiseKey {
        seed,
        draw: 0,
        parameter: Purpose::Scribble as u32,
        first_example: example,
    });
    let mut ink = [[false; FINE]; FINE];
    for _ in 0..2 + dice.below(3) {
        stroke(&mut dice, &mut ink);
    }
    let count = |pixel: usize| {
        let (top, left) = (pixel / SIDE * BLOCK, pixel % SIDE * BLOCK);
        let rows = ink[top..top + BLOCK].iter();
        let inked = rows
            .flat_map(|row| &row[left..left + BLOCK])
            .filter(|&&inked| inked);
        inked.count()
    };
    let most = BLOCK * BLOCK;
    Picture {
        channels: 1,
        height: SIDE,
        width: SIDE,
        pixels: (0..SIDE * SIDE)
            .map(|pixel| (count(pixel) * 255 / most) as u8)
            .collect(),
    }
}

/// A curve through random points.
fn stroke(dice: &mut Dice, ink: &mut [[bool; FINE]; FINE]) {
    let [from, through, to] = [0; 3].map(|_| [0; 2].map(|_| dice.between(PEN, FINE as f32 - PEN)));
    for step in 0..=STEPS {
        let t = step as f32 / STEPS as f32;
        let along = |axis: usize| {
            let first = from[axis] + t * (through[axis] - from[axis]);
            let second = through[axis] + t * (to[axis] - through[axis]);
            first + t * (second - first)
        };
        dot(along(0), along(1), ink);
    }
}

fn dot(y: f32, x: f32, ink: &mut [[bool; FINE]; FINE]) {
    for (row, line) in ink.iter_mut().enumerate() {
        for (column, inked) in line.iter_mut().enumerate() {
            let (dy, dx) = (row as f32 + 0.5 - y, column as f32 + 0.5 - x);
            *inked |= dy * dy + dx * dx <= PEN * PEN;
        }
    }
}
