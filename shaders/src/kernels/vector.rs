//! Products of single rows with a Gaussian weight per example: as many weights as multiply-adds, so
//! the noise is the work, and the weights never pass through workgroup memory.

use super::columns::weight_library;
use super::consts::{Consts, flag, geometry, numbers};
use super::gradient::{frugal_parts, operand_floats, reduction_floats, region_len};
use super::segments::Reduction;
use super::traffic::{Pass, compulsory, first_frugal};
use super::{Kernel, Launch, SourceKind};
use crate::geometry::{Map, Matmul};
use crate::noise::NoiseKey;

/// Examples of one invocation, which share a load of mean and spread.
const EXAMPLES: usize = 8;
const THREADS: usize = 256;
const GAUSSIAN: SourceKind = SourceKind::Gaussian;

fn launch(
    name: &'static str,
    library: Vec<&'static str>,
    consts: Consts,
    info: Vec<u32>,
    threads: usize,
    workgroups: usize,
) -> Launch {
    Launch {
        kernel: Kernel {
            name,
            library,
            consts,
            threads: threads as u32,
        },
        info,
        workgroups: workgroups as u64,
    }
}

/// y. Buffers: info, x, y, mu, psi.
pub fn vector_forward(m: &Matmul, key: NoiseKey) -> Launch {
    Rows::new(m, Pass::Forward).launch("vector_forward", key)
}

/// dx. Buffers: info, grad, dx, mu, psi.
pub fn vector_backward_x(m: &Matmul, key: NoiseKey) -> Launch {
    Rows::new(m, Pass::BackwardX).launch("vector_backward_x", key)
}

/// One product of single rows.
pub(super) struct Rows<'a> {
    m: &'a Matmul,
    pass: Pass,
    /// Channels of the result and of the sum.
    result: usize,
    summed: usize,
}

/// A workgroup, as `lib/lanes.wgsl` describes it.
#[derive(Clone, Copy)]
struct Workgroup {
    columns: usize,
    batches: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(m: &'a Matmul, pass: Pass) -> Self {
        let (result, summed) = match pass {
            Pass::BackwardX => (m.inputs, m.outputs),
            Pass::Forward | Pass::BackwardW => (m.outputs, m.inputs),
        };
        Self {
            m,
            pass,
            result,
            summed,
        }
    }

    /// As few examples to a workgroup as the traffic allows, for the sake of many workgroups.
    fn choose(&self) -> Workgroup {
        let columns = self.result.div_ceil(4).next_power_of_two().min(8);
        let sets = self.m.batch.div_ceil(EXAMPLES);
        let choices = [1, 2, 4, 8]
            .into_iter()
            .filter(|&batches| batches == 1 || batches <= sets)
            .map(|batches| Workgroup { columns, batches })
            .collect();
        let least = compulsory(&Map::Matmul(*self.m), GAUSSIAN, 1, self.pass);
        first_frugal(choices, least, |workgroup| self.moved_by(workgroup))
    }

    fn workgroups(&self, workgroup: &Workgroup) -> usize {
        self.result.div_ceil(4 * workgroup.columns)
            * self.m.batch.div_ceil(EXAMPLES * workgroup.batches)
    }

    fn moved_by(&self, workgroup: &Workgroup) -> f64 {
        let channels = (4 * workgroup.columns).min(self.result);
        let examples = (EXAMPLES * workgroup.batches).min(self.m.batch);
        let loaded = (2 * channels + examples) * self.summed;
        self.workgroups(workgroup) as f64 * loaded as f64 + (self.m.batch * self.result) as f64
    }

    /// Floats moved: what the workgroups load, and the result.
    pub(super) fn moved(&self) -> f64 {
        self.moved_by(&self.choose())
    }

    fn launch(&self, name: &'static str, key: NoiseKey) -> Launch {
        let workgroup = self.choose();
        let map = Map::Matmul(*self.m);
        let most = THREADS / (workgroup.columns * workgroup.batches);
        let lanes = most.min(self.summed.div_ceil(4).next_power_of_two());
        let mut consts = geometry(&map);
        consts.extend(numbers([
            ("EXAMPLES", EXAMPLES),
            ("COLUMNS", workgroup.columns),
            ("BATCHES", workgroup.batches),
            ("LANES", lanes),
        ]));
        let mut library = weight_library(&map, GAUSSIAN);
        library.push("lanes");
        let info = vec![
            key.seed as u32,
            (key.seed >> 32) as u32,
            key.draw,
            key.parameter,
            key.first_example,
            self.m.batch as u32,
        ];
        let threads = workgroup.columns * workgroup.batches * lanes;
        let workgroups = self.workgroups(&workgroup);
        launch(name, library, consts, info, threads, workgroups)
    }
}

/// Invocations of a workgroup along each side of the weight, and the channels that they cover.
const SIDE: usize = 8;
const COVERED: usize = 4 * SIDE;

/// Gradients of mu and psi by part, as [`super::product_backward_w`] lays them out.
pub fn vector_backward_w(m: &Matmul, reduction: &Reduction) -> Launch {
    let map = Map::Matmul(*m);
    let mut consts = geometry(&map);
    consts.push(flag("LISTED", reduction.segments.is_listed()));
    consts.extend(numbers([
        ("REGION", region_len(&map, GAUSSIAN)),
        ("REGIONS", 2),
        ("SIDE", SIDE),
        ("THREADS", SIDE * SIDE),
    ]));
    let library = vec!["segment", "noise", "spread_gaussian"];
    let tiles = m.inputs.div_ceil(COVERED) * m.outputs.div_ceil(COVERED);
    let info = reduction.segments.info(None);
    let workgroups = tiles * reduction.parts();
    launch(
        "vector_backward_w",
        library,
        consts,
        info,
        SIDE * SIDE,
        workgroups,
    )
}

/// Floats of x and grad that the workgroups load.
fn gradient_operands(m: &Matmul) -> f64 {
    let times = [m.outputs, m.inputs].map(|channels| channels.div_ceil(COVERED) as f64);
    operand_floats(&Map::Matmul(*m), times)
}

/// Floats moved by [`vector_backward_w`] and the sum over its parts.
pub(super) fn gradient_moved(m: &Matmul, reduction: &Reduction) -> f64 {
    gradient_operands(m) + reduction_floats(&Map::Matmul(*m), GAUSSIAN, reduction)
}

/// Parts that keep a device busy, as far as they are worth their traffic.
pub(super) fn vector_parts(m: &Matmul) -> usize {
    const BUSY_INVOCATIONS: usize = 8192;
    let useful = BUSY_INVOCATIONS / (m.outputs.div_ceil(4) * m.inputs.div_ceil(4));
    frugal_parts(
        &Map::Matmul(*m),
        GAUSSIAN,
        gradient_operands(m),
        useful.min(16),
    )
}
