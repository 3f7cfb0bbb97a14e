//! Materialised draws.

use super::consts::{flag, geometry, rank_consts};
use super::fold::fold_floats;
use super::traffic::Traffic;
use super::{Launch, PLAIN_THREADS, SourceKind, plain};
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

/// Traffic of so many draws of the weight of a map, and of their gradients; every draw of a low-rank ensemble is
/// another component. None for given weights, which are not drawn.
pub fn sample_traffic(map: &Map, kind: SourceKind, draws: usize) -> Option<[Traffic; 2]> {
    let (count, weight) = (draws as f64, map.weight_len() as f64);
    let all = count * weight;
    let traffic = |moved: f64, least: f64, flop: f64| Traffic {
        bytes: size_of::<f32>() as f64 * moved,
        compulsory_bytes: size_of::<f32>() as f64 * least,
        flop,
    };
    match kind {
        SourceKind::Given => None,
        // Every draw reads mean and spread again; its gradient is added to theirs at once.
        SourceKind::Gaussian => Some([
            traffic(3.0 * all, 2.0 * weight + all, 2.0 * all),
            traffic(all + 3.0 * weight, all + 3.0 * weight, 4.0 * all),
        ]),
        SourceKind::LowRank { rank } => {
            let ranks = rank as f64;
            let factors = count * ranks * map.fan().iter().sum::<usize>() as f64;
            // A workgroup makes a run of elements, which lie in a few rows or in a part of one.
            let run = f64::from(PLAIN_THREADS);
            let row = weight / map.weight_shape()[0] as f64;
            let touched = ranks * (row.min(run) + (run / row).max(1.0));
            let moved = all * (2.0 + touched / run);
            Some([
                traffic(moved, weight + factors + all, 2.0 * ranks * all),
                traffic(
                    fold_floats(map, rank, draws),
                    2.0 * weight + 2.0 * factors + all,
                    6.0 * ranks * all,
                ),
            ])
        }
    }
}
