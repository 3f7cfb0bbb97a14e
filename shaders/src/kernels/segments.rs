//! Which examples a workgroup works on together.

use super::tile::TileShape;
use crate::noise::NoiseKey;
use crate::source::{BySlot, Source};

/// Examples in sets that share one weight, or that make up one part of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    key: NoiseKey,
    count: usize,
    batch: usize,
    /// Size of every segment (the last may be shorter) where `list` is none.
    even: usize,
    list: Option<BySlot>,
}

impl Segments {
    /// The examples that share a weight.
    pub fn of_weights(source: &Source, batch: usize) -> Self {
        let even = |key, count, even| Self {
            key,
            count,
            batch,
            even,
            list: None,
        };
        match source {
            Source::Gaussian { key } => even(*key, batch, 1),
            Source::Given { count: 1, .. } | Source::LowRank { components: 1, .. } => {
                even(NoiseKey::default(), 1, batch)
            }
            Source::Given { index, count } => Self::listed(BySlot::new(index, *count), batch),
            Source::LowRank {
                index, components, ..
            } => Self::listed(BySlot::new(index, *components), batch),
        }
    }

    fn listed(list: BySlot, batch: usize) -> Self {
        Self {
            key: NoiseKey::default(),
            count: list.starts.len() - 1,
            batch,
            even: 1,
            list: Some(list),
        }
    }

    /// Number of segments.
    pub fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_listed(&self) -> bool {
        self.list.is_some()
    }

    /// Examples that tiles are cut for. Where an index deals the examples out, it is drawn anew in every
    /// step and must not change a kernel, so this follows from batch and count alone: an even share, rounded
    /// up because some segment gets more. A longer segment takes more tiles.
    pub(super) fn typical(&self) -> usize {
        match self.list {
            Some(_) => self.batch.div_ceil(self.count.max(1)).next_power_of_two(),
            None => self.even,
        }
    }

    /// Segments that can have examples, however these are dealt out.
    fn occupied(&self) -> usize {
        self.count.min(self.batch)
    }

    /// The `info` buffer that `lib/segment.wgsl` describes; kernels whose columns are positions of
    /// examples need a tiling.
    pub(super) fn info(&self, tiling: Option<&Tiling>) -> Vec<u32> {
        let key = self.key;
        let mut info = vec![
            key.seed as u32,
            (key.seed >> 32) as u32,
            key.draw,
            key.parameter,
            key.first_example,
            self.count as u32,
            tiling.map_or(0, |tiling| tiling.block as u32),
            self.even as u32,
            self.batch as u32,
        ];
        if let Some(list) = &self.list {
            info.extend(&list.starts);
            info.extend(&list.order);
        }
        info.extend(tiling.iter().flat_map(|tiling| &tiling.starts));
        info
    }
}

/// Examples of each segment.
fn lengths(list: &BySlot) -> impl Iterator<Item = usize> {
    let ends = list.starts.windows(2);
    ends.map(|ends| (ends[1] - ends[0]) as usize)
}

/// How many tiles each block of neighbouring segments takes: as many as its longest segment, so that
/// every tile has a column to work on, however uneven the segments are.
pub(super) struct Tiling {
    /// Tiles of every block, where segments are even.
    block: u64,
    /// Tiles before each block, where they are not.
    starts: Vec<u32>,
    all: u64,
}

impl Tiling {
    /// For segments whose examples have so many columns each.
    pub(super) fn new(segments: &Segments, positions: usize, tile: &TileShape) -> Self {
        let Some(list) = &segments.list else {
            return Self {
                block: tiles_of(segments.even, positions, tile),
                starts: Vec::new(),
                // All but the last, which may be shorter, are typical ones.
                all: Self::typical(segments, positions, tile),
            };
        };
        let lengths: Vec<usize> = lengths(list).collect();
        let mut all = 0;
        let starts = lengths.chunks(tile.weights).map(|block| {
            let start = all as u32;
            all += tiles_of(block.iter().copied().max().unwrap_or(0), positions, tile);
            start
        });
        Self {
            block: 0,
            starts: starts.collect(),
            all,
        }
    }

    /// Tiles of all blocks.
    pub(super) fn tiles(&self) -> u64 {
        self.all
    }

    /// Tiles of all blocks, were all segments [typical](Segments::typical).
    pub(super) fn typical(segments: &Segments, positions: usize, tile: &TileShape) -> u64 {
        let blocks = segments.occupied().div_ceil(tile.weights);
        tiles_of(segments.typical(), positions, tile) * blocks as u64
    }
}

/// Tiles of a segment with so many examples.
fn tiles_of(examples: usize, positions: usize, tile: &TileShape) -> u64 {
    (examples * positions).div_ceil(tile.slot) as u64
}

/// A reduction over the examples of each slot, cut into parts so that a device has enough to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// One segment per part.
    pub segments: Segments,
    /// Parts of slot `s`: `slot_starts[s] .. slot_starts[s + 1]`.
    pub slot_starts: Vec<u32>,
}

impl Reduction {
    /// For all slots; the Gaussian source has one. At most `parts` parts in all, or one per slot.
    pub fn of_all(source: &Source, batch: usize, parts: usize) -> Self {
        match source {
            Source::Gaussian { key } => Self::even(*key, batch, parts),
            Source::Given { count: 1, .. } => Self::even(NoiseKey::default(), batch, parts),
            Source::Given { index, count } => Self::of_slots(index, *count, 0..*count, parts),
            Source::LowRank {
                index, components, ..
            } => Self::of_slots(index, *components, 0..*components, parts),
        }
    }

    fn even(key: NoiseKey, batch: usize, parts: usize) -> Self {
        let even = batch.div_ceil(parts.clamp(1, batch.max(1))).max(1);
        let count = batch.div_ceil(even).max(1);
        Self {
            segments: Segments {
                key,
                count,
                batch,
                even,
                list: None,
            },
            slot_starts: vec![0, count as u32],
        }
    }

    /// For some of the slots.
    pub fn of_slots(
        index: &[u32],
        count: usize,
        slots: std::ops::Range<usize>,
        parts: usize,
    ) -> Self {
        let by_slot = BySlot::new(index, count);
        let parts_per_slot = (parts / slots.len().max(1)).max(1);
        let mut starts = vec![by_slot.starts[slots.start]];
        let mut slot_starts = vec![0];
        for slot in slots {
            let first = by_slot.starts[slot];
            let length = by_slot.slot(slot).len();
            let pieces = parts_per_slot.clamp(1, length.max(1));
            starts.extend((1..=pieces).map(|piece| first + (length * piece / pieces) as u32));
            slot_starts.push(starts.len() as u32 - 1);
        }
        let list = BySlot {
            order: by_slot.order,
            starts,
        };
        Self {
            segments: Segments::listed(list, index.len()),
            slot_starts,
        }
    }

    /// Every slot has exactly one part, so the parts are the result.
    pub fn is_direct(&self) -> bool {
        self.slot_starts
            .windows(2)
            .all(|ends| ends[1] - ends[0] == 1)
    }

    /// Number of parts of all slots together.
    pub fn parts(&self) -> usize {
        self.segments.count
    }
}
