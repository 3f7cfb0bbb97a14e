//! Gradients of a low-rank ensemble from gradients of its weights.

use super::consts::{Consts, geometry, numbers, rank_consts};
use super::{Launch, PLAIN_THREADS, SourceKind, plain};
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
    let [fan_in, fan_out] = map.fan();
    let lanes = match map {
        Map::Matmul(_) => row_lanes(fan_out),
        Map::Conv2d(_) => 1,
    };
    let consts = consts(map, rank, entry_stride);
    let info = entry_info(first, starts, entries);
    let results = (starts.len() - 1) * fan_in * rank;
    row_sum("fold_left", consts, info, results, lanes)
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
    let [fan_in, fan_out] = map.fan();
    let lanes = match map {
        Map::Matmul(_) => 1,
        Map::Conv2d(_) => row_lanes(fan_in),
    };
    let consts = consts(map, rank, entry_stride);
    let info = entry_info(first, starts, entries);
    let results = (starts.len() - 1) * rank * fan_out;
    row_sum("fold_right", consts, info, results, lanes)
}

/// Invocations that share a sum along a row of the weight. Sixteen floats are what memory gives at once;
/// a sum down the columns needs no sharing, for there neighbouring results are neighbours in memory.
fn row_lanes(row: usize) -> usize {
    row.next_power_of_two().min(16)
}

/// So many sums, each shared by so many lanes as `lib/row_sum.wgsl` describes.
fn row_sum(
    name: &'static str,
    mut consts: Consts,
    info: Vec<u32>,
    results: usize,
    lanes: usize,
) -> Launch {
    consts.extend(numbers([("LANES", lanes)]));
    let launch = plain(name, vec!["row_sum"], consts, info, results);
    Launch {
        workgroups: (results as u64 * lanes as u64).div_ceil(u64::from(PLAIN_THREADS)),
        ..launch
    }
}

/// Floats moved by the three folds of so many entries: each reads all entries, and the folds of the
/// factors read the shared weight beside every entry, once per rank.
pub(super) fn fold_floats(map: &Map, rank: usize, entries: usize) -> f64 {
    ((entries + 1 + 4 * rank * entries) * map.weight_len()) as f64
}
