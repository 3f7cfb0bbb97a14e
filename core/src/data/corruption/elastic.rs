//! A random affine map and a random displacement of every pixel.

use super::field::{Border, Field, colours, picture};
use crate::data::{Picture, dice::Dice};

/// Where SciPy's blur of the displacements is cut off.
const TRUNCATE: f64 = 3.0;

pub fn transform(original: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let (strength, smooth, corner_shift) = [
        (0.0, 0.0, 2.56),
        (1.6, 6.4, 2.24),
        (2.56, 1.92, 1.92),
        (3.2, 1.28, 1.6),
        (3.2, 0.96, 0.96),
    ][row];
    let (height, width) = (original.height, original.width);
    let map = affine(height, width, corner_shift, dice);
    let mut displacement = || {
        let random = Field::from_fn(height, width, |_, _| f64::from(dice.between(-1.0, 1.0)));
        random
            .gaussian(smooth, TRUNCATE, Border::Reflect)
            .map(|value| strength * value)
    };
    let (dx, dy) = (displacement(), displacement());
    picture(&colours(original).map(|colour| {
        let warped = Field::from_fn(height, width, |y, x| {
            let [from_x, from_y] = map.apply([x as f64, y as f64]);
            colour.between(from_y, from_x, Border::Mirror)
        });
        Field::from_fn(height, width, |y, x| {
            warped.between(
                y as f64 + dy.at(y, x),
                x as f64 + dx.at(y, x),
                Border::Reflect,
            )
        })
    }))
}

/// `x -> matrix * x + offset`.
struct Affine {
    matrix: [[f64; 2]; 2],
    offset: [f64; 2],
}

impl Affine {
    fn apply(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        std::array::from_fn(|row| {
            let [a, b] = self.matrix[row];
            a * x + b * y + self.offset[row]
        })
    }
}

/// The map of new places to old ones that moves three corners of a square around the centre by up to `shift`.
/// Corners that have come to lie on a line leave everything in place.
fn affine(height: usize, width: usize, shift: f32, dice: &mut Dice) -> Affine {
    // The authors' order of coordinates, which matters only for pictures that are not square.
    let [centre_x, centre_y] = [height, width].map(|side| (side / 2) as f64);
    let size = (height.min(width) / 3) as f64;
    let old =
        [[size, size], [size, -size], [-size, -size]].map(|[x, y]| [centre_x + x, centre_y + y]);
    let new = old.map(|place| place.map(|at| at + f64::from(dice.between(-shift, shift))));
    // From the plane of the new corners, whose edges from the last one are `u` and `v`, to the old ones.
    let edge = |of: [[f64; 2]; 3], corner: usize, axis: usize| of[corner][axis] - of[2][axis];
    let [u, v] = [0, 1].map(|corner| [edge(new, corner, 0), edge(new, corner, 1)]);
    let determinant = u[0] * v[1] - u[1] * v[0];
    if determinant.abs() < f64::EPSILON {
        return Affine {
            matrix: [[1.0, 0.0], [0.0, 1.0]],
            offset: [0.0, 0.0],
        };
    }
    let matrix = [0, 1].map(|axis| {
        let (s, t) = (edge(old, 0, axis), edge(old, 1, axis));
        [
            (s * v[1] - t * u[1]) / determinant,
            (t * u[0] - s * v[0]) / determinant,
        ]
    });
    let linear = Affine {
        matrix,
        offset: [0.0, 0.0],
    };
    let [x, y] = linear.apply(new[2]);
    Affine {
        matrix,
        offset: [old[2][0] - x, old[2][1] - y],
    }
}
