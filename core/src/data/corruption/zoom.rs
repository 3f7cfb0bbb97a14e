//! Zooming into the centre.

use super::field::{Border, Field, colours, picture};
use crate::data::Picture;

/// The mean of the picture and of ever closer views of it.
pub fn blur(original: &Picture, row: usize) -> Picture {
    let steps = [5, 10, 15, 20, 25][row];
    picture(&colours(original).map(|colour| {
        let mut sum = colour.clone();
        for step in 0..=steps {
            let closer = zoomed(&colour, 1.0 + f64::from(step) / 100.0);
            sum = sum.with(&closer, |sum, value| sum + value);
        }
        sum.map(|sum| sum / f64::from(steps + 2))
    }))
}

/// The centre, enlarged to the size of the whole, with linear interpolation from the first pixel's centre to the
/// last one's, as SciPy's `zoom` does it.
pub fn zoomed(field: &Field, factor: f64) -> Field {
    let (height, width) = (field.height, field.width);
    let (down, across) = (Axis::new(height, factor), Axis::new(width, factor));
    Field::from_fn(height, width, |y, x| {
        field.between(down.place(y), across.place(x), Border::Nearest)
    })
}

/// Where rows, or columns, of a zoomed field come from.
struct Axis {
    first: f64,
    trim: f64,
    step: f64,
}

impl Axis {
    fn new(length: usize, factor: f64) -> Self {
        let part = (length as f64 / factor).ceil();
        let enlarged = (part * factor).round_ties_even();
        Self {
            first: ((length as f64 - part) / 2.0).floor(),
            trim: ((enlarged - length as f64) / 2.0).floor(),
            step: (part - 1.0) / (enlarged - 1.0).max(1.0),
        }
    }

    fn place(&self, at: usize) -> f64 {
        self.first + (at as f64 + self.trim) * self.step
    }
}
