//! Drawings that are no digits, for the evaluation of classifiers of digits.

use super::{
    Dataset, Picture, Pictures, Split,
    dice::{Dice, Purpose},
    few_digits,
    pen::{CELLS, Grid, Place, SIDE, grey},
};
use crate::ops::NoiseKey;
use serde::{Deserialize, Serialize};
use std::{array, f32::consts::PI, fmt};

/// The middle of the grid, along either side.
const MIDDLE: f32 = CELLS as f32 / 2.0;

/// A kind of drawings that are no digits.
///
/// ```
/// use bayesadapter::data::StrangeKind;
///
/// assert_eq!(StrangeKind::OverlaidDigits.to_string(), "overlaid digits");
/// assert_eq!(StrangeKind::ALL.len(), 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrangeKind {
    /// One of A, E, H, K, M, W and X.
    Letters,
    /// Two digits of different classes over each other: the larger value of each pixel.
    OverlaidDigits,
    /// One filled area with an uneven outline.
    Blobs,
    /// Parallel lines across the whole image, every other time in two directions.
    Hatching,
    /// Separate dots.
    Dots,
    /// Digits with 255 minus the value of each pixel.
    InvertedDigits,
    /// Squares of ink and none by turns.
    Checkerboards,
    /// Nothing, or up to three faint specks.
    EmptyCanvases,
}

impl StrangeKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Letters,
        Self::OverlaidDigits,
        Self::Blobs,
        Self::Hatching,
        Self::Dots,
        Self::InvertedDigits,
        Self::Checkerboards,
        Self::EmptyCanvases,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Letters => "letters",
            Self::OverlaidDigits => "overlaid digits",
            Self::Blobs => "blobs",
            Self::Hatching => "hatching",
            Self::Dots => "dots",
            Self::InvertedDigits => "inverted digits",
            Self::Checkerboards => "checkerboards",
            Self::EmptyCanvases => "empty canvases",
        }
    }
}

impl fmt::Display for StrangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Images of one kind.
#[derive(Clone, Debug)]
pub struct StrangeDrawings {
    /// What they are.
    pub kind: StrangeKind,
    /// Grey images of 8 x 8 pixels, all of one class with the name of the kind.
    pub images: Pictures,
}

/// Drawings that are no digits, `count_per_kind` of each [kind](StrangeKind), of 8 x 8 pixels like
/// [`digits`](super::digits): images that a classifier of digits should recognise as unlike its training images.
///
/// They are for evaluation only. [`OodKind::Doodles`](super::OodKind::Doodles), which networks are trained with, are
/// drawn in another way. Overlaid and inverted digits are made of the test part of [`few_digits`]. An image is a
/// function of the seed, its kind and its index alone.
///
/// ```
/// use bayesadapter::data::{Dataset, StrangeKind, strange_drawings};
///
/// let drawings = strange_drawings(5, 0);
/// assert_eq!(drawings.len(), StrangeKind::ALL.len());
/// for of_kind in &drawings {
///     assert_eq!(of_kind.images.len(), 5);
///     assert_eq!(of_kind.images.picture(4)?.pixels.len(), 8 * 8);
/// }
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
pub fn strange_drawings(count_per_kind: usize, seed: u64) -> Vec<StrangeDrawings> {
    let digits = few_digits(Split::Test);
    let of_kind = |kind: StrangeKind| {
        let image = |index| drawing(kind, index, seed, &digits);
        StrangeDrawings {
            kind,
            images: Pictures {
                pictures: (0..count_per_kind).map(image).collect(),
                labels: vec![0; count_per_kind],
                class_names: vec![kind.to_string()],
                origins: vec![(format!("strange drawings, {kind}"), 0)],
                unsplit: true,
            },
        }
    };
    StrangeKind::ALL.map(of_kind).into()
}

fn drawing(kind: StrangeKind, index: usize, seed: u64, digits: &Pictures) -> Picture {
    let dice = &mut Dice::new(NoiseKey {
        seed,
        draw: 0,
        parameter: Purpose::Strange as u32 + kind as u32,
        first_example: index as u32,
    });
    let mut grid = Grid::blank();
    match kind {
        StrangeKind::OverlaidDigits => return overlaid(digits, dice),
        StrangeKind::InvertedDigits => return inverted(digits, dice),
        StrangeKind::EmptyCanvases => return nearly_empty(dice),
        StrangeKind::Letters => letter(&mut grid, LETTERS[index % LETTERS.len()], dice),
        StrangeKind::Blobs => blob(&mut grid, dice),
        StrangeKind::Hatching => hatching(&mut grid, dice),
        StrangeKind::Dots => dots(&mut grid, dice),
        StrangeKind::Checkerboards => checkerboard(&mut grid, dice),
    }
    grid.image()
}

/// Strokes through places in a square of side 1: y downwards and x to the right.
type Letter = &'static [&'static [Place]];

const LETTERS: [Letter; 7] = [
    &[
        &[[1.0, 0.0], [0.0, 0.5], [1.0, 1.0]],
        &[[0.62, 0.2], [0.62, 0.8]],
    ], // A
    &[
        &[[0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]],
        &[[0.5, 0.0], [0.5, 0.8]],
    ], // E
    &[
        &[[0.0, 0.0], [1.0, 0.0]],
        &[[0.0, 1.0], [1.0, 1.0]],
        &[[0.5, 0.0], [0.5, 1.0]],
    ], // H
    &[
        &[[0.0, 0.0], [1.0, 0.0]],
        &[[0.0, 1.0], [0.55, 0.0], [1.0, 1.0]],
    ], // K
    &[&[[1.0, 0.0], [0.0, 0.0], [0.6, 0.5], [0.0, 1.0], [1.0, 1.0]]], // M
    &[&[
        [0.0, 0.0],
        [1.0, 0.25],
        [0.35, 0.5],
        [1.0, 0.75],
        [0.0, 1.0],
    ]], // W
    &[&[[0.0, 0.0], [1.0, 1.0]], &[[0.0, 1.0], [1.0, 0.0]]],          // X
];

/// About as large as a digit, not quite upright.
fn letter(grid: &mut Grid, letter: Letter, dice: &mut Dice) {
    let (height, width) = (dice.between(22.0, 26.0), dice.between(17.0, 24.0));
    let centre = [0; 2].map(|_| MIDDLE + dice.between(-1.5, 1.5));
    let (sin, cos) = dice.between(-0.15, 0.15).sin_cos();
    let pen = dice.between(1.4, 2.0);
    let place = |[y, x]: Place| {
        let (y, x) = (height * (y - 0.5), width * (x - 0.5));
        [centre[0] + cos * y + sin * x, centre[1] + cos * x - sin * y]
    };
    for stroke in letter {
        for ends in stroke.windows(2) {
            grid.line([place(ends[0]), place(ends[1])], pen);
        }
    }
}

/// Large dots over each other.
fn blob(grid: &mut Grid, dice: &mut Dice) {
    let centre = [0; 2].map(|_| MIDDLE + dice.between(-2.0, 2.0));
    for _ in 0..4 + dice.below(5) {
        let place = centre.map(|at| at + dice.between(-6.0, 6.0));
        grid.dot(place, dice.between(5.0, 9.0));
    }
}

fn hatching(grid: &mut Grid, dice: &mut Dice) {
    /// Half the length of a line, and how far away from the middle there is still something to draw on.
    const REACH: f32 = 23.0;
    let angle = dice.between(0.0, PI);
    let (spacing, pen) = (dice.between(6.0, 9.0), dice.between(1.0, 1.6));
    for direction in 0..1 + dice.below(2) {
        let (sin, cos) = (angle + direction as f32 * PI / 2.0).sin_cos();
        let mut across = -REACH + dice.between(0.0, spacing);
        while across < REACH {
            let end = |along: f32| {
                [
                    MIDDLE + across * cos + along * sin,
                    MIDDLE - across * sin + along * cos,
                ]
            };
            grid.line([end(-REACH), end(REACH)], pen);
            across += spacing;
        }
    }
}

/// Dots in some fields of a board of 4 x 4, so that they stay apart.
fn dots(grid: &mut Grid, dice: &mut Dice) {
    const FIELDS: usize = 4;
    let field = CELLS as f32 / FIELDS as f32;
    let mut fields: [usize; FIELDS * FIELDS] = array::from_fn(|at| at);
    for taken in 0..6 + dice.below(8) {
        let other = taken + dice.below(fields.len() - taken);
        fields.swap(taken, other);
        let place = [fields[taken] / FIELDS, fields[taken] % FIELDS]
            .map(|at| (at as f32 + 0.5) * field + dice.between(-1.5, 1.5));
        grid.dot(place, dice.between(1.7, 3.0));
    }
}

fn checkerboard(grid: &mut Grid, dice: &mut Dice) {
    // Squares as small as a pixel would be an even grey where they lie across two.
    let square = dice.between(6.0, 11.0);
    let start = [0; 2].map(|_| dice.between(0.0, 2.0 * square));
    grid.fill(|place| {
        let at = |axis: usize| ((place[axis] + start[axis]) / square) as usize;
        (at(0) + at(1)).is_multiple_of(2)
    });
}

fn overlaid(digits: &Pictures, dice: &mut Dice) -> Picture {
    let one = dice.below(digits.len());
    let of_others = |&other: &usize| digits.label(other) != digits.label(one);
    let others: Vec<usize> = (0..digits.len()).filter(of_others).collect();
    let other = others[dice.below(others.len())];
    let pixels = [one, other].map(|index| digits.pictures[index].pixels.iter());
    let [below, above] = pixels;
    grey(below.zip(above).map(|(&below, &above)| below.max(above)))
}

fn inverted(digits: &Pictures, dice: &mut Dice) -> Picture {
    let digit = &digits.pictures[dice.below(digits.len())];
    grey(digit.pixels.iter().map(|&shade| 255 - shade))
}

fn nearly_empty(dice: &mut Dice) -> Picture {
    const FAINTEST: usize = 8;
    let mut image = grey([0; SIDE * SIDE].into_iter());
    for _ in 0..dice.below(4) {
        let pixel = dice.below(image.pixels.len());
        image.pixels[pixel] = (FAINTEST + dice.below(5 * FAINTEST)) as u8;
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const COUNT: usize = 40;

    fn images(drawings: &[StrangeDrawings], kind: StrangeKind) -> Vec<Vec<u8>> {
        let found = drawings.iter().find(|drawings| drawings.kind == kind);
        let images = found.map(|found| found.images.pictures.iter());
        let images = images.into_iter().flatten();
        images.map(|image| image.pixels.clone()).collect()
    }

    #[test]
    fn an_image_is_a_function_of_seed_kind_and_index() {
        let (many, few, other) = (
            strange_drawings(COUNT, 3),
            strange_drawings(COUNT / 2, 3),
            strange_drawings(COUNT, 4),
        );
        for kind in StrangeKind::ALL {
            let [many, few, other] = [&many, &few, &other].map(|drawings| images(drawings, kind));
            assert_eq!(many[..COUNT / 2], few, "{kind}");
            assert_ne!(many, other, "{kind}");
        }
    }

    #[test]
    fn kinds_are_distinct_and_vary() {
        let drawings = strange_drawings(COUNT, 0);
        let (mut names, mut met) = (BTreeSet::new(), BTreeSet::new());
        for kind in StrangeKind::ALL {
            assert!(names.insert(kind.name()), "{kind}");
            let of_kind: BTreeSet<Vec<u8>> = images(&drawings, kind).into_iter().collect();
            // A quarter of the canvases is quite empty.
            let least = match kind {
                StrangeKind::EmptyCanvases => COUNT / 2,
                _ => COUNT - 2,
            };
            assert!(of_kind.len() >= least, "{} {kind}", of_kind.len());
            for image in of_kind {
                assert_eq!(image.len(), 64);
                assert!(met.insert(image), "{kind} are like another kind");
            }
        }
    }

    #[test]
    fn inverted_digits_are_inverted() {
        let digits = few_digits(Split::Test);
        let pixels = digits.pictures.iter().map(|digit| &digit.pixels);
        let digits: BTreeSet<&Vec<u8>> = pixels.collect();
        for image in images(&strange_drawings(COUNT, 0), StrangeKind::InvertedDigits) {
            let back: Vec<u8> = image.iter().map(|&shade| 255 - shade).collect();
            assert!(digits.contains(&back) && !digits.contains(&image));
        }
    }

    #[test]
    fn overlaid_digits_are_two_of_different_classes() {
        let digits = few_digits(Split::Test);
        for image in images(&strange_drawings(COUNT, 0), StrangeKind::OverlaidDigits) {
            let covered = |digit: &&usize| {
                let pixels = digits.pictures[**digit].pixels.iter();
                pixels.zip(&image).all(|(of_digit, both)| of_digit <= both)
            };
            let all: Vec<usize> = (0..digits.len()).collect();
            let parts: Vec<usize> = all.iter().filter(covered).copied().collect();
            let makes = |one: usize, other: usize| {
                let [one, other] = [one, other].map(|at| &digits.pictures[at].pixels);
                (0..64).all(|pixel| one[pixel].max(other[pixel]) == image[pixel])
            };
            let found = parts.iter().any(|&one| {
                let of_others = |&&other: &&usize| digits.label(one) != digits.label(other);
                let mut others = parts.iter().filter(of_others);
                others.any(|&other| makes(one, other))
            });
            assert!(found);
        }
    }

    #[test]
    fn kinds_have_the_ink_of_their_shapes() {
        let drawings = strange_drawings(COUNT, 0);
        let ink = |kind: StrangeKind| {
            let images = images(&drawings, kind);
            let values = images.iter().flatten().map(|&value| f64::from(value));
            values.sum::<f64>() / (255.0 * 64.0 * COUNT as f64)
        };
        assert!((ink(StrangeKind::Checkerboards) - 0.5).abs() < 0.03);
        assert!(ink(StrangeKind::EmptyCanvases) < 0.005);
        // A pen of 2.6 cells every 7.5, in one direction or two: 1 - (1 - 0.35)^2 is 0.58.
        assert!((0.35..0.58).contains(&ink(StrangeKind::Hatching)));
        // 9.5 dots with radii of 1.7 to 3 cells cover 169 of 1,024.
        assert!((ink(StrangeKind::Dots) - 0.165).abs() < 0.03);
        let digits = few_digits(Split::Test);
        let digits = digits.pictures.iter().flat_map(|digit| &digit.pixels);
        let of_digits: Vec<f64> = digits.map(|&shade| f64::from(shade) / 255.0).collect();
        let of_digits = of_digits.iter().sum::<f64>() / of_digits.len() as f64;
        assert!((ink(StrangeKind::InvertedDigits) - (1.0 - of_digits)).abs() < 0.03);
        assert!(ink(StrangeKind::OverlaidDigits) > of_digits);
        assert!(ink(StrangeKind::Blobs) > of_digits);
    }
}
