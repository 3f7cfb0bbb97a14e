//! Images whose patches change places.

use crate::data::{Picture, dice::Dice};

/// The image in 2 x 2 or 4 x 4 patches, every one of which is in the place of another. Rows and columns that are left
/// over at the lower and right edge stay where they are.
pub fn shuffled(original: &Picture, dice: &mut Dice) -> Picture {
    let grid = [2, 4][dice.below(2)]
        .min(original.height)
        .min(original.width);
    let (height, width) = (original.height / grid, original.width / grid);
    // Sattolo's algorithm: all patches in one cycle. So none stays, and halves are never merely exchanged, which would
    // leave an 8 an 8.
    let mut from: Vec<usize> = (0..grid * grid).collect();
    for last in (1..from.len()).rev() {
        from.swap(last, dice.below(last));
    }
    let mut pixels = original.pixels.clone();
    let bytes = width * original.channels;
    for (to, from) in from.into_iter().enumerate() {
        for row in 0..height {
            let first = |patch: usize| {
                let (y, x) = (patch / grid * height + row, patch % grid * width);
                (y * original.width + x) * original.channels
            };
            let (from, to) = (first(from), first(to));
            pixels[to..to + bytes].copy_from_slice(&original.pixels[from..from + bytes]);
        }
    }
    Picture {
        pixels,
        ..*original
    }
}
