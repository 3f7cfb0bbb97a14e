//! Uniform noise within the budget of an attack.

use crate::data::{Picture, dice::Dice};

/// The most that a value changes, of a range from 0 to 1.
const BUDGET: f64 = 0.031;

/// Every value changes by a whole number of 1/255 within the budget, all of which are equally likely.
pub fn noisy(original: &Picture, dice: &mut Dice) -> Picture {
    let most = (BUDGET * 255.0) as usize;
    let mut changed = |&value: &u8| {
        let raised = usize::from(value) + dice.below(2 * most + 1);
        raised.saturating_sub(most).min(255) as u8
    };
    Picture {
        pixels: original.pixels.iter().map(&mut changed).collect(),
        ..*original
    }
}
