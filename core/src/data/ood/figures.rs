//! What doodles are made of: figures that a hand draws without meaning a digit.

use super::canvas::{Canvas, Point};
use super::glyphs::letters;
use crate::data::dice::Dice;
use std::f32::consts::TAU;

/// Draws a figure with random sizes and places.
pub type Figure = fn(&mut Canvas, &mut Dice);

/// All figures, each as often as it is named. Those of two or three strokes only are left out: they may be digits.
pub const FIGURES: &[Figure] = &[
    zigzag, spiral, arcs, rings, tangle, loops, waves, blobs, dots, hatching, scrub, bars, stars,
    letters, letters, letters,
];

/// Half the width of a pen: about what writes a digit, on a canvas whose shorter side is 1.
pub fn pen(dice: &mut Dice) -> f32 {
    dice.between(0.035, 0.075)
}

/// One of `low..=high`.
fn count(dice: &mut Dice, low: usize, high: usize) -> usize {
    low + dice.below(high - low + 1)
}

/// Any place that is not too near the edge.
fn place(canvas: &Canvas, dice: &mut Dice, margin: f32) -> Point {
    canvas
        .extent()
        .map(|end| dice.between(margin, end - margin))
}

/// Near the middle.
fn middle(canvas: &Canvas, dice: &mut Dice) -> Point {
    canvas
        .extent()
        .map(|end| end / 2.0 + dice.between(-0.12, 0.12))
}

/// The point at an angle on an ellipse.
fn around(centre: Point, radii: Point, angle: f32) -> Point {
    let (sin, cos) = angle.sin_cos();
    [centre[0] + radii[0] * cos, centre[1] + radii[1] * sin]
}

/// A line with corners, to the farther of two places each time: short ones may be digits.
fn zigzag(canvas: &mut Canvas, dice: &mut Dice) {
    let half_width = pen(dice);
    let mut points = vec![place(canvas, dice, 0.08)];
    for _ in 0..count(dice, 5, 9) {
        let [one, other] = [0; 2].map(|_| place(canvas, dice, 0.08));
        let last = points[points.len() - 1];
        let distance = |to: Point| (to[0] - last[0]).hypot(to[1] - last[1]);
        let farther = distance(one) > distance(other);
        points.push(if farther { one } else { other });
    }
    canvas.path(&points, half_width);
}

fn spiral(canvas: &mut Canvas, dice: &mut Dice) {
    const STEPS: usize = 24;
    let (centre, radius) = (middle(canvas, dice), dice.between(0.35, 0.5));
    let turns = dice.between(2.0, 4.0);
    let (start, flat) = (dice.between(0.0, TAU), dice.between(0.7, 1.0));
    let direction = [-1.0, 1.0][dice.below(2)];
    let steps = (turns * STEPS as f32) as usize;
    let point = |step: usize| {
        let radius = radius * step as f32 / steps as f32;
        let angle = start + direction * TAU * step as f32 / STEPS as f32;
        around(centre, [radius, radius * flat], angle)
    };
    let points: Vec<Point> = (0..=steps).map(point).collect();
    canvas.path(&points, dice.between(0.03, 0.055));
}

/// Parts of circles anywhere.
fn arcs(canvas: &mut Canvas, dice: &mut Dice) {
    const STEPS: usize = 16;
    let half_width = pen(dice);
    for _ in 0..count(dice, 4, 7) {
        let (centre, radius) = (place(canvas, dice, 0.1), dice.between(0.12, 0.4));
        let (start, span) = (dice.between(0.0, TAU), dice.between(1.0, 4.5));
        let point = |step: usize| {
            let angle = start + span * step as f32 / STEPS as f32;
            around(centre, [radius, radius], angle)
        };
        let points: Vec<Point> = (0..=STEPS).map(point).collect();
        canvas.path(&points, half_width);
    }
}

/// Circles, three at least: one is a 0, and two may be an 8.
fn rings(canvas: &mut Canvas, dice: &mut Dice) {
    const STEPS: usize = 24;
    let half_width = dice.between(0.03, 0.055);
    for _ in 0..count(dice, 3, 5) {
        let centre = place(canvas, dice, 0.2);
        let radii = [0; 2].map(|_| dice.between(0.12, 0.3));
        let point = |step: usize| around(centre, radii, TAU * step as f32 / STEPS as f32);
        let points: Vec<Point> = (0..=STEPS).map(point).collect();
        canvas.path(&points, half_width);
    }
}

/// A long line that wanders and turns back at the edge.
fn tangle(canvas: &mut Canvas, dice: &mut Dice) {
    const STEP: f32 = 0.05;
    const MARGIN: f32 = 0.1;
    let (end, half_width) = (canvas.extent(), pen(dice));
    let mut at = place(canvas, dice, 2.0 * MARGIN);
    let (mut heading, mut turn) = (dice.between(0.0, TAU), dice.between(-0.4, 0.4));
    let mut points = vec![at];
    for _ in 0..count(dice, 50, 200) {
        turn = (turn + dice.between(-0.25, 0.25)).clamp(-0.7, 0.7);
        heading += turn;
        let outside = |axis: usize| !(MARGIN..=end[axis] - MARGIN).contains(&at[axis]);
        if outside(0) || outside(1) {
            heading = (end[1] / 2.0 - at[1]).atan2(end[0] / 2.0 - at[0]) + dice.between(-0.6, 0.6);
        }
        at = around(at, [STEP, STEP], heading);
        points.push(at);
    }
    canvas.path(&points, half_width);
}

/// Rows of loops, as of joined letters.
fn loops(canvas: &mut Canvas, dice: &mut Dice) {
    const STEPS: usize = 16;
    let [width, height] = canvas.extent();
    let (rows, half_width) = (count(dice, 1, 2), dice.between(0.03, 0.06));
    let place = height / rows as f32;
    for row in 0..rows {
        let turns = count(dice, 3, 5);
        let (advance, radius) = ((width - 0.3) / turns as f32, place * dice.between(0.2, 0.4));
        let middle = (row as f32 + 0.5) * place;
        let point = |step: usize| {
            let turn = step as f32 / STEPS as f32;
            around(
                [0.15 + advance * turn, middle],
                [radius * 0.7, radius],
                TAU * turn,
            )
        };
        let points: Vec<Point> = (0..=turns * STEPS).map(point).collect();
        canvas.path(&points, half_width);
    }
}

/// Waves above each other, in any direction.
fn waves(canvas: &mut Canvas, dice: &mut Dice) {
    const STEPS: usize = 32;
    let (rows, half_width) = (count(dice, 2, 4), pen(dice));
    let (amplitude, periods) = (
        dice.between(0.05, 0.5 / rows as f32),
        dice.between(1.5, 4.0),
    );
    let (phase, turned) = (dice.between(0.0, TAU), Turned::new(canvas, dice));
    for row in 0..rows {
        let middle = (row as f32 + 0.5) / rows as f32 - 0.5;
        let point = |step: usize| {
            let along = step as f32 / STEPS as f32;
            let across = middle + amplitude * (phase + TAU * periods * along).sin();
            turned.point([along - 0.5, across])
        };
        let points: Vec<Point> = (0..=STEPS).map(point).collect();
        canvas.path(&points, half_width);
    }
}

/// Filled areas with a soft outline: one that is large, or some that are small.
fn blobs(canvas: &mut Canvas, dice: &mut Dice) {
    const STEPS: usize = 48;
    let several = dice.below(2) == 1;
    let blobs = if several { count(dice, 2, 4) } else { 1 };
    for _ in 0..blobs {
        let (centre, radius) = match several {
            true => (place(canvas, dice, 0.2), dice.between(0.1, 0.24)),
            false => (middle(canvas, dice), dice.between(0.28, 0.5)),
        };
        let waves = [2.0, 3.0, 4.0, 5.0].map(|turns: f32| {
            (
                turns,
                dice.between(0.0, 0.4) / turns,
                dice.between(0.0, TAU),
            )
        });
        let corner = |step: usize| {
            let angle = TAU * step as f32 / STEPS as f32;
            let wave = waves.map(|(turns, height, phase)| height * (turns * angle + phase).sin());
            let radius = radius * (1.0 + wave.iter().sum::<f32>());
            around(centre, [radius, radius], angle)
        };
        let corners: Vec<Point> = (0..STEPS).map(corner).collect();
        canvas.fill(&corners);
    }
}

fn dots(canvas: &mut Canvas, dice: &mut Dice) {
    for _ in 0..count(dice, 4, 25) {
        let half_width = dice.between(0.03, 0.1);
        canvas.path(&[place(canvas, dice, 0.06)], half_width);
    }
}

/// Parallel lines in one or two directions.
fn hatching(canvas: &mut Canvas, dice: &mut Dice) {
    let half_width = dice.between(0.03, 0.06);
    for _ in 0..count(dice, 1, 2) {
        let (lines, turned) = (count(dice, 4, 7), Turned::new(canvas, dice));
        for line in 0..lines {
            let across = (line as f32 + 0.5) / lines as f32 - 0.5;
            let mut end = |along: f32| {
                turned.point([
                    along + dice.between(-0.08, 0.08),
                    across + dice.between(-0.03, 0.03),
                ])
            };
            canvas.path(&[end(-0.5), end(0.5)], half_width);
        }
    }
}

/// One line to and fro, as to black something out.
fn scrub(canvas: &mut Canvas, dice: &mut Dice) {
    let (turns, half_width, turned) = (count(dice, 5, 14), pen(dice), Turned::new(canvas, dice));
    let point = |turn: usize| {
        let side = if turn.is_multiple_of(2) { -0.5 } else { 0.5 };
        let along = side + dice.between(-0.1, 0.1);
        turned.point([along, turn as f32 / turns as f32 - 0.5])
    };
    let points: Vec<Point> = (0..=turns).map(point).collect();
    canvas.path(&points, half_width);
}

/// Broad strokes that cross.
fn bars(canvas: &mut Canvas, dice: &mut Dice) {
    for _ in 0..count(dice, 3, 5) {
        let half_width = dice.between(0.07, 0.16);
        let ends = [0; 2].map(|_| place(canvas, dice, 0.05));
        canvas.path(&ends, half_width);
    }
}

/// Polygons and stars, filled or with lines from their corners to the middle: a mere outline is a 0 on few pixels.
fn stars(canvas: &mut Canvas, dice: &mut Dice) {
    let (centre, radius) = (middle(canvas, dice), dice.between(0.3, 0.5));
    let (points, start) = (count(dice, 3, 6), dice.between(0.0, TAU));
    // A polygon is a star whose inner corners lie on the lines between the outer ones.
    let straight = (TAU / (2 * points) as f32).cos();
    let inner = [0.4, 0.6, straight][dice.below(3)];
    let corner = |at: usize| {
        let radius = radius * [1.0, inner][at % 2];
        let angle = start + TAU * at as f32 / (2 * points) as f32;
        around(centre, [radius, radius], angle)
    };
    let corners: Vec<Point> = (0..=2 * points).map(corner).collect();
    if dice.below(2) == 1 {
        canvas.fill(&corners);
        return;
    }
    let half_width = pen(dice);
    canvas.path(&corners, half_width);
    for outer in corners.into_iter().step_by(2) {
        canvas.path(&[centre, outer], half_width);
    }
}

/// A square about the middle, turned and scaled, in which figures are laid out from -0.5 to 0.5.
struct Turned {
    centre: Point,
    sin: f32,
    cos: f32,
    size: f32,
}

impl Turned {
    fn new(canvas: &Canvas, dice: &mut Dice) -> Self {
        let (sin, cos) = dice.between(0.0, TAU).sin_cos();
        Self {
            centre: middle(canvas, dice),
            sin,
            cos,
            size: dice.between(0.6, 1.0),
        }
    }

    fn point(&self, [x, y]: Point) -> Point {
        let (x, y) = (self.size * x, self.size * y);
        let Self {
            centre, sin, cos, ..
        } = self;
        [centre[0] + cos * x - sin * y, centre[1] + sin * x + cos * y]
    }
}
