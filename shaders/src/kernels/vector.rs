//! Products of single rows with a Gaussian weight per example: as many weights as multiply-adds, so
//! the noise is the work, and nothing is gained by tiles.

use super::consts::{Consts, flag, geometry, numbers};
use super::product::region_len;
use super::segments::Reduction;
use super::{Kernel, Launch, PLAIN_THREADS};
use crate::geometry::{Map, Matmul};
use crate::noise::NoiseKey;

/// Examples that share one load of mean and spread.
const EXAMPLES: usize = 8;
/// Neighbouring invocations on neighbouring outputs, for coalesced loads.
const COLUMNS: usize = 16;

fn launch(
    name: &'static str,
    library: Vec<&'static str>,
    consts: Consts,
    info: Vec<u32>,
    workgroups: usize,
) -> Launch {
    let mut all = consts;
    all.extend(numbers([("THREADS", PLAIN_THREADS as usize)]));
    Launch {
        kernel: Kernel {
            name,
            library,
            consts: all,
            threads: PLAIN_THREADS,
        },
        info,
        workgroups: workgroups as u32,
    }
}

fn info(key: NoiseKey, batch: usize) -> Vec<u32> {
    vec![
        key.seed as u32,
        (key.seed >> 32) as u32,
        key.draw,
        key.parameter,
        key.first_example,
        batch as u32,
    ]
}

/// y. Buffers: info, x, y, mu, psi.
pub fn vector_forward(m: &Matmul, key: NoiseKey) -> Launch {
    let mut consts = geometry(&Map::Matmul(*m));
    let columns = COLUMNS.min(m.outputs.div_ceil(4).next_power_of_two());
    consts.extend(numbers([("EXAMPLES", EXAMPLES), ("COLUMNS", columns)]));
    let workgroups = m.outputs.div_ceil(4).div_ceil(columns) * m.batch.div_ceil(EXAMPLES);
    launch(
        "vector_forward",
        vec!["noise"],
        consts,
        info(key, m.batch),
        workgroups,
    )
}

/// dx. Buffers: info, grad, dx, mu, psi.
pub fn vector_backward_x(m: &Matmul, key: NoiseKey) -> Launch {
    let mut consts = geometry(&Map::Matmul(*m));
    let lanes = COLUMNS.min(m.outputs.div_ceil(4).next_power_of_two());
    consts.extend(numbers([("EXAMPLES", EXAMPLES), ("LANES", lanes)]));
    let inputs = PLAIN_THREADS as usize / lanes;
    let workgroups = m.inputs.div_ceil(inputs) * m.batch.div_ceil(EXAMPLES);
    launch(
        "vector_backward_x",
        vec!["noise"],
        consts,
        info(key, m.batch),
        workgroups,
    )
}

/// Gradients of mu and psi by part, as [`super::product_backward_w`] lays them out.
pub fn vector_backward_w(m: &Matmul, reduction: &Reduction) -> Launch {
    let map = Map::Matmul(*m);
    let mut consts = geometry(&map);
    consts.push(flag("LISTED", reduction.segments.is_listed()));
    consts.extend(numbers([("REGION", region_len(&map)), ("REGIONS", 2)]));
    let library = vec!["segment", "noise", "spread_gaussian"];
    let invocations = m.outputs.div_ceil(4) * m.inputs * reduction.parts();
    let workgroups = invocations.div_ceil(PLAIN_THREADS as usize);
    launch(
        "vector_backward_w",
        library,
        consts,
        reduction.segments.info(1),
        workgroups,
    )
}

/// Parts that keep a device busy.
pub(super) fn vector_parts(m: &Matmul) -> usize {
    const BUSY_INVOCATIONS: usize = 8192;
    (BUSY_INVOCATIONS / (m.outputs.div_ceil(4) * m.inputs)).clamp(1, 16)
}
