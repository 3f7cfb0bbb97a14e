//! Letters and symbols as strokes of a pen. None of them looks like a digit.

use super::canvas::{Canvas, Point};
use super::figures::pen;
use crate::data::dice::Dice;

/// Strokes through points of a grid of 5 x 5, x and y in one number: 24 is in column 2 and row 4.
type Glyph = &'static [&'static [u8]];

const GLYPHS: &[Glyph] = &[
    &[&[4, 20, 44], &[12, 32]],                            // A
    &[&[40, 0, 4, 44], &[2, 32]],                          // E
    &[&[40, 0, 4], &[2, 32]],                              // F
    &[&[0, 4], &[40, 44], &[2, 42]],                       // H
    &[&[0, 4], &[40, 2, 44]],                              // K
    &[&[4, 0, 22, 40, 44]],                                // M
    &[&[4, 0, 44, 40]],                                    // N
    &[&[4, 0, 30, 41, 32, 2], &[12, 44]],                  // R
    &[&[0, 40], &[20, 24]],                                // T
    &[&[0, 3, 14, 34, 43, 40]],                            // U
    &[&[0, 24, 40]],                                       // V
    &[&[0, 14, 21, 34, 40]],                               // W
    &[&[0, 44], &[40, 4]],                                 // X
    &[&[0, 22, 40], &[22, 24]],                            // Y
    &[&[20, 24], &[2, 42]],                                // plus
    &[&[10, 14], &[30, 34], &[1, 41], &[3, 43]],           // hash
    &[&[20, 24], &[1, 43], &[41, 3]],                      // asterisk
    &[&[1, 41], &[3, 43]],                                 // equals
    &[&[2, 24, 40]],                                       // tick
    &[&[4, 20, 44, 4]],                                    // triangle
    &[&[0, 40, 44, 4, 0], &[0, 44], &[40, 4]],             // square with its diagonals
    &[&[4, 2, 20, 42, 44, 4], &[2, 42]],                   // house
    &[&[2, 42], &[20, 42, 24]],                            // arrow
    &[&[4, 20, 44, 1, 41, 4]],                             // star
    &[&[24, 1, 10, 21, 30, 41, 24]],                       // heart
    &[&[10, 30, 43, 34, 14, 3, 10], &[11, 12], &[31, 32]], // face
    &[&[0, 4], &[40, 44], &[20, 24]],                      // three bars
];

/// One letter in the middle, or two or three side by side, by a hand that is not steady.
pub fn letters(canvas: &mut Canvas, dice: &mut Dice) {
    let [width, height] = canvas.extent();
    let half_width = pen(dice);
    let count = [1, 1, 2, 3][dice.below(4)];
    let place = width / count as f32;
    for number in 0..count {
        let glyph = GLYPHS[dice.below(GLYPHS.len())];
        let centre = [
            (number as f32 + 0.5) * place + dice.between(-0.06, 0.06),
            height / 2.0 + dice.between(-0.08, 0.08),
        ];
        let size = dice.between(0.6, 0.9);
        let size = [size.min(0.85 * place), size];
        draw(canvas, glyph, centre, size, half_width, dice);
    }
}

fn draw(
    canvas: &mut Canvas,
    glyph: Glyph,
    centre: Point,
    size: Point,
    half_width: f32,
    dice: &mut Dice,
) {
    let (sin, cos) = dice.between(-0.4, 0.4).sin_cos();
    let slant = dice.between(-0.2, 0.2);
    for stroke in glyph {
        let mut point = |&at: &u8| {
            let x = f32::from(at / 10) / 4.0 - 0.5 + dice.between(-0.05, 0.05);
            let y = f32::from(at % 10) / 4.0 - 0.5 + dice.between(-0.05, 0.05);
            let (x, y) = (size[0] * (x - slant * y), size[1] * y);
            [centre[0] + cos * x - sin * y, centre[1] + sin * x + cos * y]
        };
        let points: Vec<Point> = stroke.iter().map(&mut point).collect();
        canvas.path(&points, half_width);
    }
}
