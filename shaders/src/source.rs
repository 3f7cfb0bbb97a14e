//! Where the weight of example `b` comes from.

use crate::noise::NoiseKey;
use std::sync::Arc;

/// The three weight sources. None of them ever holds one weight per example in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Example `b` uses `w[index[b]]` of `count` given weights. Parameters: `w [count, ..]`.
    Given {
        /// Weight of each example, `[batch]`, below `count`.
        index: Arc<[u32]>,
        /// Number of weights.
        count: usize,
    },
    /// `w_b = mu + exp(psi) * eps_b`, `eps_b` being the normals of
    /// (`key`, example `key.first_example + b`). Parameters: `mu`, `psi`, both of the weight's shape.
    Gaussian {
        /// Names the noise; the example is added to it.
        key: NoiseKey,
    },
    /// `w_b = W * (l[c] r[c])` element by element, `c = index[b]`. Parameters: `W` of the weight's
    /// shape, `l [components, in, rank]`, `r [components, rank, out]` with `[in, out]` of
    /// [`Map::fan`](crate::Map::fan).
    LowRank {
        /// Component of each example, `[batch]`, below `components`.
        index: Arc<[u32]>,
        /// Number of components.
        components: usize,
        /// Columns of a left and rows of a right factor.
        rank: usize,
    },
}

impl Source {
    /// Number of parameter tensors.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Given { .. } => 1,
            Self::Gaussian { .. } => 2,
            Self::LowRank { .. } => 3,
        }
    }

    /// Slot of each example, and the number of slots, where the source has slots.
    pub fn slots(&self) -> Option<(&[u32], usize)> {
        match self {
            Self::Given { index, count } => Some((index, *count)),
            Self::LowRank {
                index, components, ..
            } => Some((index, *components)),
            Self::Gaussian { .. } => None,
        }
    }
}

/// Examples sorted by slot: those of slot `s` are `order[starts[s]..starts[s + 1]]`.
///
/// A reduction over the examples of a slot walks this list, on the CPU and on the GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BySlot {
    /// Examples, those of a slot next to each other, `[batch]`.
    pub order: Vec<u32>,
    /// Where each slot begins in `order`, and where the last one ends, `[slots + 1]`.
    pub starts: Vec<u32>,
}

impl BySlot {
    /// Counting sort, stable. `index` must hold slots below `count`.
    pub fn new(index: &[u32], count: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        for &slot in index {
            starts[slot as usize + 1] += 1;
        }
        for slot in 0..count {
            starts[slot + 1] += starts[slot];
        }
        let mut next = starts.clone();
        let mut order = vec![0u32; index.len()];
        for (example, &slot) in index.iter().enumerate() {
            order[next[slot as usize] as usize] = example as u32;
            next[slot as usize] += 1;
        }
        Self { order, starts }
    }

    /// The examples of one slot.
    pub fn slot(&self, slot: usize) -> &[u32] {
        &self.order[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// What successive materialised draws of one parameter differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawAxis {
    /// Draw `j` is the weight of example `first_example + j`, as the exemplar ops use it.
    Example,
    /// Draw `j` is the weight of draw `draw + j`, one network shared by all examples.
    Draw,
}

impl DrawAxis {
    /// Key and example of draw `slot`.
    #[inline]
    pub fn slot(self, key: &NoiseKey, slot: u32) -> (NoiseKey, u32) {
        match self {
            Self::Example => (*key, slot),
            Self::Draw => (key.later(slot), 0),
        }
    }
}
