//! What a launch moves between global memory and its workgroups, for benchmarks.
//!
//! Counted are the distinct bytes that each workgroup touches, summed over the workgroups: what
//! crosses to a compute unit whose first cache holds one step of the sum. The compulsory minimum is
//! every tensor once.

use super::segments::Reduction;
use super::{Launch, SourceKind, Variant, backward_w, backward_x, forward, useful_parts};
use crate::geometry::{Conv2d, Map};
use crate::source::Source;

/// Which of the three launches of a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    Forward,
    BackwardX,
    BackwardW,
}

impl Pass {
    pub const ALL: [Self; 3] = [Self::Forward, Self::BackwardX, Self::BackwardW];
}

/// Bytes and operations of one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    pub bytes: f64,
    pub compulsory_bytes: f64,
    pub flop: f64,
}

impl Traffic {
    /// How often the average byte is moved.
    pub fn ratio(&self) -> f64 {
        self.bytes / self.compulsory_bytes
    }

    pub fn flop_per_byte(&self) -> f64 {
        self.flop / self.bytes
    }
}

const FLOAT: f64 = 4.0;

fn len(shape: &[usize]) -> f64 {
    shape.iter().map(|&size| size as f64).product()
}

/// Floats of all parameters of a source.
fn parameters(map: &Map, source: &Source) -> f64 {
    let weight = map.weight_len() as f64;
    let [fan_in, fan_out] = map.fan();
    match source {
        Source::Given { count, .. } => *count as f64 * weight,
        Source::Gaussian { .. } => 2.0 * weight,
        Source::LowRank {
            components, rank, ..
        } => weight + (components * rank * (fan_in + fan_out)) as f64,
    }
}

/// Floats read for each element of a weight tile; factors are small beside it.
fn floats_per_weight(kind: SourceKind) -> f64 {
    match kind {
        SourceKind::Given | SourceKind::LowRank { .. } => 1.0,
        SourceKind::Gaussian => 2.0,
    }
}

/// Traffic of one pass of an op.
pub fn traffic(map: &Map, source: &Source, pass: Pass, variant: Variant) -> Traffic {
    let kind = SourceKind::from(source);
    let (x, y) = (len(&map.x_shape()), len(&map.y_shape()));
    let parameters = parameters(map, source);
    let floats = match pass {
        Pass::Forward => columns_floats(&forward(map, source, variant), map, kind, pass) + y,
        Pass::BackwardX => columns_floats(&backward_x(map, source, variant), map, kind, pass) + x,
        Pass::BackwardW => weight_gradient_floats(map, source, variant),
    };
    let compulsory = match pass {
        Pass::Forward | Pass::BackwardX => x + y + parameters,
        // The gradients of the parameters are written, psi is read.
        Pass::BackwardW if kind == SourceKind::Gaussian => x + y + 1.5 * parameters,
        Pass::BackwardW => x + y + parameters,
    };
    Traffic {
        bytes: FLOAT * floats,
        compulsory_bytes: FLOAT * compulsory,
        flop: map.flop(),
    }
}

fn constant(launch: &Launch, name: &str) -> f64 {
    f64::from(launch.kernel.constant(name).unwrap_or(1))
}

/// Floats loaded by a launch whose tiles are channels x positions.
fn columns_floats(launch: &Launch, map: &Map, kind: SourceKind, pass: Pass) -> f64 {
    let at = |name| constant(launch, name);
    let weights = floats_per_weight(kind);
    let (rows, operand_channels) = match pass {
        Pass::BackwardX => (at("I"), at("M")),
        Pass::Forward | Pass::BackwardW => (at("M"), at("I")),
    };
    let workgroups = f64::from(launch.workgroups);
    match launch.kernel.name {
        "vector_forward" | "vector_backward_x" => {
            let tile = at("THREADS") * 4.0 * weights;
            let steps = at("ROWS") * at("COLS") * map.batch() as f64
                / (at("EXAMPLES") * at("THREADS") * 4.0);
            let operand = workgroups * at("EXAMPLES") * operand_channels;
            steps * tile + operand
        }
        "direct_forward" | "direct_backward_x" => {
            // Invocations share little but what a cache line gives them.
            let invocations = workgroups * at("THREADS");
            let per_channel = at("EY") * at("EX") + at("TM") * at("TAPS") * weights;
            invocations * operand_channels * per_channel
        }
        _ => {
            let positions = at("NT");
            let operand = operand_channels * distinct_operand(map, positions, pass);
            let tile = at("MT").min(rows) * operand_channels * at("TAPS") * weights;
            workgroups * (tile + operand)
        }
    }
}

/// Distinct operand positions under so many neighbouring positions of the result.
fn distinct_operand(map: &Map, positions: f64, pass: Pass) -> f64 {
    let Map::Conv2d(c) = map else {
        return positions;
    };
    let (result, operand, stride) = match pass {
        Pass::BackwardX => (c.image, c.output(), [1, 1]),
        Pass::Forward | Pass::BackwardW => (c.output(), c.image, c.stride),
    };
    let image = (result[0] * result[1]) as f64;
    if positions >= image {
        return (positions / image).ceil() * (operand[0] * operand[1]) as f64;
    }
    let rows = (positions / result[1] as f64).ceil();
    let cols = positions.min(result[1] as f64);
    let reach = |count: f64, axis: usize| {
        let span = (count - 1.0) * stride[axis] as f64 + window(c, axis);
        span.min(operand[axis] as f64)
    };
    reach(rows, 0) * reach(cols, 1)
}

fn window(c: &Conv2d, axis: usize) -> f64 {
    ((c.kernel[axis] - 1) * c.dilation[axis] + 1) as f64
}

/// Floats moved by the gradient of the weight, the sum over its parts included.
fn weight_gradient_floats(map: &Map, source: &Source, variant: Variant) -> f64 {
    let kind = match source {
        Source::Gaussian { .. } => SourceKind::Gaussian,
        Source::Given { .. } | Source::LowRank { .. } => SourceKind::Given,
    };
    let reduction = Reduction::of_all(source, map.batch(), useful_parts(map, kind, variant));
    let launch = backward_w(map, kind, &reduction, variant);
    let at = |name| constant(&launch, name);
    let (x, y) = (len(&map.x_shape()), len(&map.y_shape()));
    let (group_rows, cols) = (at("ROWS") / at("GROUPS"), at("COLS"));
    // How often each operand is read: once per tile across the other one.
    let (x_times, y_times) = match launch.kernel.name {
        "vector_backward_w" => (
            (cols / 4.0).ceil() / f64::from(launch.kernel.threads()),
            at("I"),
        ),
        "direct_backward_w" => (
            (at("M") / at("TM")).ceil() * at("EY") * at("EX")
                / (at("PY") * at("PX") * at("SY") * at("SX")),
            (at("I") / at("STEP")).ceil(),
        ),
        _ => {
            let (row_tiles, col_tiles) = ((group_rows / at("MT")).ceil(), (cols / at("NT")).ceil());
            match map {
                Map::Matmul(_) => (col_tiles, row_tiles),
                // A column tile holds the taps of only some inputs.
                Map::Conv2d(_) => (
                    row_tiles * (col_tiles * at("NT") / cols).max(1.0),
                    col_tiles,
                ),
            }
        }
    };
    let regions = if kind == SourceKind::Gaussian {
        2.0
    } else {
        1.0
    };
    let parts = reduction.parts() as f64 * regions * map.weight_len() as f64;
    let sums = match reduction.is_direct() {
        true => parts,
        false => 2.0 * parts + regions * map.weight_len() as f64,
    };
    let psi = match kind {
        SourceKind::Gaussian => reduction.parts() as f64 * map.weight_len() as f64,
        _ => 0.0,
    };
    x * x_times.max(1.0) + y * y_times.max(1.0) + sums + psi
}
