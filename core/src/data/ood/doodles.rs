//! Drawings of another kind than the training images, in their colours.

use super::canvas::Canvas;
use super::figures::FIGURES;
use crate::data::{Picture, dice::Dice};

/// One drawing in so many is an empty canvas, and one is full of ink.
const BLANK: usize = 48;
/// One drawing in so many is cut out of ink.
const CUT_OUT: usize = 12;
/// One drawing in so many is of two figures.
const TWO: usize = 3;
/// Values of paper and ink that differ by less than this cannot be told apart.
const CONTRAST: u8 = 64;

/// A drawing at the size of an image and with its ink on its paper.
pub fn doodle(original: &Picture, dice: &mut Dice) -> Picture {
    let coverage = drawn(original.height, original.width, dice).coverage();
    let (paper, ink) = colours(original);
    let mut pixels = Vec::with_capacity(original.pixels.len());
    for share in coverage {
        for (&paper, &ink) in paper.iter().zip(&ink) {
            let (paper, ink) = (f32::from(paper), f32::from(ink));
            pixels.push((paper + share * (ink - paper)).round() as u8);
        }
    }
    Picture {
        pixels,
        ..*original
    }
}

fn drawn(height: usize, width: usize, dice: &mut Dice) -> Canvas {
    let mut canvas = Canvas::new(height, width);
    match dice.below(BLANK) {
        0 => {}
        1 => canvas.invert(),
        _ => {
            let figures = 1 + usize::from(dice.below(TWO) == 0);
            for _ in 0..figures {
                FIGURES[dice.below(FIGURES.len())](&mut canvas, dice);
            }
            if dice.below(CUT_OUT) == 0 {
                canvas.invert();
            }
        }
    }
    canvas
}

/// The values of paper and ink, channel by channel: what the border of an image mostly is, and the value of it that is
/// farthest from that; black or white, where the image is too plain to tell.
fn colours(original: &Picture) -> (Vec<u8>, Vec<u8>) {
    let channels = 0..original.channels;
    let paper: Vec<u8> = channels.map(|channel| border(original, channel)).collect();
    let farthest = |(channel, &paper): (usize, &u8)| {
        let values = original.pixels.iter().skip(channel);
        let values = values.step_by(original.channels).copied();
        values
            .max_by_key(|value| value.abs_diff(paper))
            .unwrap_or(paper)
    };
    let ink: Vec<u8> = paper.iter().enumerate().map(farthest).collect();
    let contrast = paper
        .iter()
        .zip(&ink)
        .map(|(paper, ink)| ink.abs_diff(*paper));
    if contrast.max() >= Some(CONTRAST) {
        return (paper, ink);
    }
    let opposite = |&paper: &u8| if paper < 128 { 255 } else { 0 };
    let ink = paper.iter().map(opposite).collect();
    (paper, ink)
}

/// The median of the values along the border.
fn border(original: &Picture, channel: usize) -> u8 {
    let (last_y, last_x) = (original.height - 1, original.width - 1);
    let rows = (0..=last_x).flat_map(|x| [(0, x), (last_y, x)]);
    let columns = (0..=last_y).flat_map(|y| [(y, 0), (y, last_x)]);
    let mut values: Vec<u8> = rows
        .chain(columns)
        .map(|(y, x)| original.pixel(y, x)[channel])
        .collect();
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1
}
