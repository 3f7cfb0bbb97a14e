//! What the kernels of real GPUs move between global memory and their workgroups.
//!
//! Counted are the distinct bytes that each workgroup touches, summed over the workgroups: what
//! crosses to a compute unit whose first cache holds one step of the sum. The compulsory minimum is
//! every tensor once. Tiles are chosen by this model, and benchmarks print it.

use super::columns::Columns;
use super::fold::fold_floats;
use super::gradient::Gradient;
use super::segments::{Reduction, Segments};
use super::select::single_rows;
use super::{SourceKind, Variant, useful_parts, vector};
use crate::geometry::Map;
use crate::source::Source;

/// How many times the compulsory minimum a launch may move, where any tile allows it.
pub(super) const MOST: f64 = 4.0;

/// Which of the three launches of a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// y of x and weights.
    Forward,
    /// The gradient of x.
    BackwardX,
    /// The gradients of a source's parameters.
    BackwardW,
}

impl Pass {
    /// All three, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Forward, Self::BackwardX, Self::BackwardW];
}

/// Bytes and operations of one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Bytes that are moved.
    pub bytes: f64,
    /// Bytes if every tensor were moved once.
    pub compulsory_bytes: f64,
    /// Operations, a multiply-add being two.
    pub flop: f64,
}

impl Traffic {
    /// How often the average byte is moved.
    pub fn ratio(&self) -> f64 {
        self.bytes / self.compulsory_bytes
    }

    /// Operations for each byte that is moved.
    pub fn flop_per_byte(&self) -> f64 {
        self.flop / self.bytes
    }
}

/// Floats of x, y and the parameters of a source with so many weights, each once. Backward for the
/// weight, the gradients of the parameters are written, and those that they depend on are read.
pub(super) fn compulsory(map: &Map, kind: SourceKind, weights: usize, pass: Pass) -> f64 {
    let len = |shape: Vec<usize>| shape.iter().product::<usize>();
    let [fan_in, fan_out] = map.fan();
    let weight = map.weight_len();
    let parameters = match kind {
        SourceKind::Given => weights * weight,
        SourceKind::Gaussian => 2 * weight,
        SourceKind::LowRank { rank } => weight + weights * rank * (fan_in + fan_out),
    };
    let read = match (pass, kind) {
        (Pass::BackwardW, SourceKind::Gaussian) => weight,
        (Pass::BackwardW, SourceKind::LowRank { .. }) => parameters,
        _ => 0,
    };
    (len(map.x_shape()) + len(map.y_shape()) + parameters + read) as f64
}

/// The first of the choices that moves at most [`MOST`] times the least possible, or the one that
/// moves least.
///
/// # Panics
/// On no choice at all, which the tests rule out for every kernel.
pub(super) fn first_frugal<T>(choices: Vec<T>, least: f64, moved: impl Fn(&T) -> f64) -> T {
    let frugal = choices
        .iter()
        .position(|choice| moved(choice) <= MOST * least);
    let at = frugal.or_else(|| {
        (0..choices.len()).min_by(|&a, &b| moved(&choices[a]).total_cmp(&moved(&choices[b])))
    });
    choices
        .into_iter()
        .nth(at.unwrap_or(0))
        .unwrap_or_else(|| panic!("no tile fits into workgroup memory"))
}

/// Traffic of one pass of an op.
pub fn traffic(map: &Map, source: &Source, pass: Pass) -> Traffic {
    let kind = SourceKind::from(source);
    let weights = source.slots().map_or(1, |(_, count)| count);
    let floats = match (pass, single_rows(map, kind)) {
        (Pass::BackwardW, _) => weight_gradient(map, source),
        (_, Some(m)) => vector::Rows::new(m, pass).moved(),
        (_, None) => {
            let segments = Segments::of_weights(source, map.batch());
            Columns::new(map, kind, &segments, pass).moved()
        }
    };
    Traffic {
        bytes: (size_of::<f32>() as f64) * floats,
        compulsory_bytes: (size_of::<f32>() as f64) * compulsory(map, kind, weights, pass),
        flop: map.flop(),
    }
}

/// Floats moved by the gradient of the weight, with the sum over its parts or the folds.
fn weight_gradient(map: &Map, source: &Source) -> f64 {
    match source {
        Source::Gaussian { .. } => parts_moved(map, source, SourceKind::Gaussian),
        Source::Given { .. } => parts_moved(map, source, SourceKind::Given),
        // The gradient of every component's weight is stored and folded.
        Source::LowRank {
            components, rank, ..
        } => {
            let reduction = Reduction::of_all(source, map.batch(), *components);
            let entries = reduction.parts();
            Gradient::new(map, SourceKind::Given).moved(&reduction)
                + fold_floats(map, *rank, entries)
        }
    }
}

fn parts_moved(map: &Map, source: &Source, kind: SourceKind) -> f64 {
    let parts = useful_parts(map, kind, Variant::Gpu);
    let reduction = Reduction::of_all(source, map.batch(), parts);
    match single_rows(map, kind) {
        Some(m) => vector::gradient_moved(m, &reduction),
        None => Gradient::new(map, kind).moved(&reduction),
    }
}
