//! Gradients of a low-rank ensemble from gradients of its weights.

use super::consts::{Consts, geometry, numbers, rank_consts};
use super::{Launch, SourceKind, plain};
use crate::geometry::Map;

fn consts(map: &Map, rank: usize, entry_stride: usize) -> Consts {
    let mut consts = geometry(map);
    consts.extend(rank_consts(SourceKind::LowRank { rank }));
    consts.extend(numbers([("REGION", entry_stride)]));
    consts
}

/// Buffers: info, d_weight, d_shared, left, right. `components[e]` is the component of entry `e`.
pub fn fold_shared(
    map: &Map,
    rank: usize,
    entry_stride: usize,
    components: &[u32],
    accumulate: bool,
) -> Launch {
    let mut info = vec![components.len() as u32, u32::from(accumulate)];
    info.extend(components);
    let consts = consts(map, rank, entry_stride);
    plain("fold_shared", vec![], consts, info, map.weight_len())
}

fn entry_info(first: usize, starts: &[u32], entries: &[u32]) -> Vec<u32> {
    let mut info = vec![first as u32, starts.len() as u32 - 1];
    info.extend(starts);
    info.extend(entries);
    info
}

/// Buffers: info, d_weight, shared, right, d_left. The entries of component `first + i` are
/// `entries[starts[i] .. starts[i + 1]]`.
pub fn fold_left(
    map: &Map,
    rank: usize,
    entry_stride: usize,
    first: usize,
    starts: &[u32],
    entries: &[u32],
) -> Launch {
    let invocations = (starts.len() - 1) * map.fan()[0] * rank;
    let info = entry_info(first, starts, entries);
    let consts = consts(map, rank, entry_stride);
    plain("fold_left", vec![], consts, info, invocations)
}

/// Buffers: info, d_weight, shared, left, d_right; entries as in [`fold_left`].
pub fn fold_right(
    map: &Map,
    rank: usize,
    entry_stride: usize,
    first: usize,
    starts: &[u32],
    entries: &[u32],
) -> Launch {
    let invocations = (starts.len() - 1) * map.fan()[1] * rank;
    let info = entry_info(first, starts, entries);
    let consts = consts(map, rank, entry_stride);
    plain("fold_right", vec![], consts, info, invocations)
}

/// Floats moved by the three folds of so many entries: each reads all entries, and the folds of the
/// factors read the shared weight beside every entry, once per rank.
pub(super) fn fold_floats(map: &Map, rank: usize, entries: usize) -> f64 {
    ((entries + 1 + 4 * rank * entries) * map.weight_len()) as f64
}
