//! Scribbles: what a pen leaves that writes no digit.

use super::{
    Picture, Pictures,
    dice::{Dice, Purpose},
    pen::{CELLS, Grid},
};
use crate::ops::NoiseKey;

/// Half the width of the pen, in cells of the grid.
const PEN: f32 = 1.7;

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
    let mut grid = Grid::blank();
    for _ in 0..2 + dice.below(3) {
        let places = [0; 3].map(|_| [0; 2].map(|_| dice.between(PEN, CELLS as f32 - PEN)));
        grid.curve(places, PEN);
    }
    grid.image()
}
