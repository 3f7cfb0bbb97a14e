//! Materialised draws.

use super::consts::{flag, geometry, rank_consts};
use super::{Launch, SourceKind, plain};
use crate::geometry::Map;
use crate::noise::NoiseKey;
use crate::source::DrawAxis;

fn info(key: NoiseKey, axis: DrawAxis, draws: usize, elements: usize) -> Vec<u32> {
    vec![
        key.seed as u32,
        (key.seed >> 32) as u32,
        key.draw,
        key.parameter,
        key.first_example,
        elements as u32,
        draws as u32,
        u32::from(axis == DrawAxis::Draw),
    ]
}

/// Buffers: info, mu, psi, out.
pub fn sample_gaussian(key: NoiseKey, axis: DrawAxis, draws: usize, elements: usize) -> Launch {
    let info = info(key, axis, draws, elements);
    let consts = vec![flag("ALIGNED", true)];
    let invocations = draws * elements.div_ceil(4);
    plain("sample_gaussian", vec!["noise"], consts, info, invocations)
}

/// Buffers: info, grad, psi, d_mu, d_psi.
pub fn sample_gaussian_backward(
    key: NoiseKey,
    axis: DrawAxis,
    draws: usize,
    elements: usize,
) -> Launch {
    let info = info(key, axis, draws, elements);
    let consts = vec![flag("ALIGNED", true)];
    let invocations = elements.div_ceil(4);
    plain(
        "sample_gaussian_backward",
        vec!["noise"],
        consts,
        info,
        invocations,
    )
}

/// Buffers: info, left, right, shared, out.
pub fn sample_low_rank(map: &Map, rank: usize, index: &[u32]) -> Launch {
    let mut consts = geometry(map);
    consts.extend(rank_consts(SourceKind::LowRank { rank }));
    let mut info = vec![index.len() as u32];
    info.extend(index);
    let invocations = index.len() * map.weight_len();
    plain("sample_low_rank", vec![], consts, info, invocations)
}
