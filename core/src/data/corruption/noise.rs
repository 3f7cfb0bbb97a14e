//! Noise in every value.

use crate::data::{Picture, dice::Dice};

/// Changes every value, from 0 to 1, by the noise that is made for it.
fn each(picture: &Picture, mut value: impl FnMut(usize, f64) -> f64) -> Picture {
    let values = picture.pixels.iter().enumerate();
    let changed = values.map(|(at, &old)| value(at, f64::from(old) / 255.0));
    Picture {
        pixels: changed
            .map(|new| (new.clamp(0.0, 1.0) * 255.0) as u8)
            .collect(),
        ..*picture
    }
}

pub fn gaussian(picture: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let std = [0.04, 0.06, 0.08, 0.09, 0.10][row];
    let normals = dice.normals(picture.pixels.len());
    each(picture, |at, value| value + std * f64::from(normals[at]))
}

pub fn speckle(picture: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let std = [0.06, 0.1, 0.12, 0.16, 0.2][row];
    let normals = dice.normals(picture.pixels.len());
    each(picture, |at, value| {
        value + value * std * f64::from(normals[at])
    })
}

pub fn shot(picture: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let photons = [500.0, 250.0, 100.0, 75.0, 50.0][row];
    each(picture, |_, value| {
        poisson(value * photons, dice.fine_uniform()) / photons
    })
}

/// Half of the values that are hit become white, half become black.
pub fn impulse(picture: &Picture, row: usize, dice: &mut Dice) -> Picture {
    let amount = [0.01, 0.02, 0.03, 0.05, 0.07][row];
    each(picture, |_, value| {
        let (hit, salt) = (dice.uniform() < amount, dice.uniform() < 0.5);
        match (hit, salt) {
            (false, _) => value,
            (true, true) => 1.0,
            (true, false) => 0.0,
        }
    })
}

/// The count whose cumulative probability reaches `uniform`. Means up to 700 keep clear of underflow.
fn poisson(mean: f64, uniform: f64) -> f64 {
    let mut probability = (-mean).exp();
    let (mut count, mut cumulative) = (0.0, probability);
    while uniform > cumulative && probability > 0.0 {
        count += 1.0;
        probability *= mean / count;
        cumulative += probability;
    }
    count
}
