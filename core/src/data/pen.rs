//! A round pen on a grid of 32 x 32 cells, which are counted to make an image of 8 x 8 pixels, as the digits were made.

use super::Picture;
use std::ops::Range;

/// Side of an image, in pixels.
pub const SIDE: usize = 8;
/// Side of the grid, in cells.
pub const CELLS: usize = 32;
const BLOCK: usize = CELLS / SIDE;
/// Steps of the pen along one curve.
const STEPS: usize = 160;

/// A place on the grid: y downwards and x to the right, in cells.
pub type Place = [f32; 2];

/// Which cells have ink.
pub struct Grid([[bool; CELLS]; CELLS]);

impl Grid {
    /// Without ink.
    pub fn blank() -> Self {
        Self([[false; CELLS]; CELLS])
    }

    /// Ink in all cells whose centre is no farther than `radius` from a place.
    pub fn dot(&mut self, [y, x]: Place, radius: f32) {
        for row in near(y, radius) {
            for column in near(x, radius) {
                let (dy, dx) = (row as f32 + 0.5 - y, column as f32 + 0.5 - x);
                self.0[row][column] |= dy * dy + dx * dx <= radius * radius;
            }
        }
    }

    /// A curve from the first to the last place, drawn towards the one between them: a quadratic Bézier curve.
    pub fn curve(&mut self, [from, through, to]: [Place; 3], radius: f32) {
        for step in 0..=STEPS {
            let t = step as f32 / STEPS as f32;
            let along = |axis: usize| {
                let first = from[axis] + t * (through[axis] - from[axis]);
                let second = through[axis] + t * (to[axis] - through[axis]);
                first + t * (second - first)
            };
            self.dot([along(0), along(1)], radius);
        }
    }

    /// A straight line.
    pub fn line(&mut self, [from, to]: [Place; 2], radius: f32) {
        let middle = [0, 1].map(|axis| 0.5 * (from[axis] + to[axis]));
        self.curve([from, middle, to], radius);
    }

    /// Ink in all cells whose centre is `inside`.
    pub fn fill(&mut self, inside: impl Fn(Place) -> bool) {
        for (row, cells) in self.0.iter_mut().enumerate() {
            for (column, ink) in cells.iter_mut().enumerate() {
                *ink |= inside([row as f32 + 0.5, column as f32 + 0.5]);
            }
        }
    }

    /// The share of the cells of every pixel that have ink, as shades from 0 to 255.
    pub fn image(&self) -> Picture {
        let count = |pixel: usize| {
            let (top, left) = (pixel / SIDE * BLOCK, pixel % SIDE * BLOCK);
            let rows = self.0[top..top + BLOCK].iter();
            let cells = rows.flat_map(|row| &row[left..left + BLOCK]);
            cells.filter(|&&ink| ink).count()
        };
        let most = BLOCK * BLOCK;
        grey((0..SIDE * SIDE).map(|pixel| (count(pixel) * 255 / most) as u8))
    }
}

/// A grey image of 8 x 8 pixels, row by row.
pub fn grey(pixels: impl Iterator<Item = u8>) -> Picture {
    Picture {
        channels: 1,
        height: SIDE,
        width: SIDE,
        pixels: pixels.collect(),
    }
}

/// Rows or columns whose centres may be within `radius` of a place. Conversions to whole numbers end at 0.
fn near(at: f32, radius: f32) -> Range<usize> {
    (at - radius) as usize..((at + radius) as usize + 1).min(CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::PI;

    /// Cells with ink.
    fn area(grid: &Grid) -> f32 {
        grid.0.as_flattened().iter().filter(|&&ink| ink).count() as f32
    }

    #[test]
    fn areas_are_those_of_the_shapes() {
        let mut dot = Grid::blank();
        dot.dot([15.7, 16.2], 10.0);
        assert!((area(&dot) - 100.0 * PI).abs() < 8.0, "{}", area(&dot));
        let mut capsule = Grid::blank();
        capsule.line([[16.0, 8.0], [16.0, 24.0]], 4.0);
        let expected = 16.0 * 8.0 + 16.0 * PI;
        assert!(
            (area(&capsule) - expected).abs() < 8.0,
            "{}",
            area(&capsule)
        );
    }

    #[test]
    fn ink_beyond_the_edge_is_lost() {
        let mut corner = Grid::blank();
        corner.dot([0.0, 0.0], 12.0);
        assert!((area(&corner) - 36.0 * PI).abs() < 8.0);
        let mut outside = Grid::blank();
        outside.dot([-9.0, 40.0], 5.0);
        outside.line([[50.0, 50.0], [60.0, 40.0]], 3.0);
        assert_eq!(area(&outside), 0.0);
    }

    #[test]
    fn a_pixel_is_the_share_of_its_cells() {
        let mut grid = Grid::blank();
        grid.fill(|[y, x]| y < 4.0 && x < 6.0);
        assert_eq!(grid.image().pixels[..3], [255, 127, 0]);
        assert!(grid.image().pixels[3..].iter().all(|&shade| shade == 0));
    }
}
