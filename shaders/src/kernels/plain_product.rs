//! Ordinary products of small matrices, by one pipeline for all of them.

use super::{Launch, plain};
use crate::geometry::Matmul;

/// Multiply-adds up to which a product is small.
const MOST_WORK: usize = 1 << 21;

/// Elements on a side of what an invocation makes.
const BLOCK: usize = 4;

/// Whether this is the product of two small matrices. Tiles are compiled anew for every shape, which costs a browser far
/// more than so little work ever does; and a posterior of many layers makes such products of as many shapes.
pub(super) fn suits(m: &Matmul) -> bool {
    let work = [m.rows, m.inputs, m.outputs]
        .into_iter()
        .fold(1, usize::saturating_mul);
    m.batch == 1 && work <= MOST_WORK
}

/// y of one example with the only weight. Buffers: info, x, y, weights.
pub fn plain_product(m: &Matmul) -> Launch {
    let info = [m.rows, m.inputs, m.outputs].map(|size| size as u32);
    let invocations = m.rows.div_ceil(BLOCK) * m.outputs.div_ceil(BLOCK);
    plain("plain_product", vec![], vec![], info.into(), invocations)
}
