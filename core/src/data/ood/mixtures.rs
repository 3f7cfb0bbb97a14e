//! Two images in one.

use crate::data::resample::{Filter, resize};
use crate::data::{Dataset, Picture, dice::Dice};

/// The least weight of either image.
const LEAST: f32 = 0.35;

/// The images of a data set by class, of which one of another class is looked for.
#[derive(Clone)]
pub struct Partners {
    /// Indices, sorted by class.
    indices: Vec<usize>,
    /// Where a class begins in them, and where the last one ends.
    firsts: Vec<usize>,
}

impl Partners {
    pub fn of(data: &dyn Dataset) -> Self {
        let mut indices: Vec<usize> = (0..data.len()).collect();
        indices.sort_by_key(|&index| data.label(index));
        let first = |class: usize| indices.partition_point(|&at| (data.label(at) as usize) < class);
        let firsts = (0..=data.class_names().len()).map(first).collect();
        Self { indices, firsts }
    }

    /// Number of classes that have images.
    pub fn classes(&self) -> usize {
        let has_images = |ends: &&[usize]| ends[0] < ends[1];
        self.firsts.windows(2).filter(has_images).count()
    }

    /// The index of an image, each of another class being equally likely.
    pub fn of_another_class(&self, label: u32, dice: &mut Dice) -> usize {
        let (first, after) = (self.firsts[label as usize], self.firsts[label as usize + 1]);
        let place = dice.below(self.indices.len() - (after - first));
        let skipped = if place < first { 0 } else { after - first };
        self.indices[place + skipped]
    }
}

/// The weighted mean of two images, at the size and with the channels of the first.
pub fn mixture(one: &Picture, other: &Picture, dice: &mut Dice) -> Picture {
    let weight = dice.between(LEAST, 1.0 - LEAST);
    let other = resize(other, one.height, one.width, Filter::Triangle).with_channels(one.channels);
    let mean = |(&a, &b): (&u8, &u8)| {
        (weight * f32::from(a) + (1.0 - weight) * f32::from(b)).round() as u8
    };
    Picture {
        pixels: one.pixels.iter().zip(&other.pixels).map(mean).collect(),
        ..*one
    }
}
