//! Random numbers one after another, each a pure function of a key.

use crate::ops::{NoiseKey, fill_normals};
use bayesadapter_shaders::noise::uniform;

/// What a random number of this module is for. Parameters of networks count from zero, so that the same seed
/// serves both without their noise being the same.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(super) enum Purpose {
    Order = 0xDA7A_0000,
    Augmentation = 0xDA7A_0001,
    Scribble = 0xDA7A_0002,
    Validation = 0xDA7A_0003,
    /// In which order kinds of OOD images take turns.
    OodOrder = 0xDA7A_0004,
    /// And the following ones, one per corruption.
    Corruption = 0xDA7A_0100,
    /// And the following ones, one per kind of OOD images.
    Ood = 0xDA7A_0200,
    /// And the following ones, one per kind of strange drawings.
    Strange = 0xDA7A_0300,
}

/// The numbers of one example of a key, in order.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    key: NoiseKey,
    /// The next block of four words.
    block: u32,
    words: [u32; 4],
    /// How many of `words` are used up.
    used: usize,
}

impl Dice {
    /// From the first number of `key`'s first example on.
    pub fn new(key: NoiseKey) -> Self {
        Self {
            key,
            block: 0,
            words: [0; 4],
            used: 4,
        }
    }

    pub fn word(&mut self) -> u32 {
        if self.used == self.words.len() {
            self.words = self.key.bits(0, self.block);
            self.block = self.block.wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// In the open interval (0, 1).
    pub fn uniform(&mut self) -> f32 {
        uniform(self.word())
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.uniform()
    }

    /// One of `0 .. count`, each as likely as the others to within 2^-32.
    pub fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.word()) * count as u64) >> 32) as usize
    }

    /// In [0, 1) with 53 bits, of two words.
    pub fn fine_uniform(&mut self) -> f64 {
        let (high, low) = (u64::from(self.word()), u64::from(self.word()));
        ((high << 32 | low) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normals, from the next block of four words on.
    pub fn normals(&mut self, count: usize) -> Vec<f32> {
        let mut normals = vec![0.0; count];
        fill_normals(&self.key, 0, self.block.wrapping_mul(4), &mut normals);
        self.block = self.block.wrapping_add(count.div_ceil(4) as u32);
        self.used = self.words.len();
        normals
    }
}
