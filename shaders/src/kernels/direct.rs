//! The direct convolutions: large register tiles, no workgroup memory.

use super::consts::{Consts, flag, geometry, numbers, rank_consts};
use super::gradient::region_len;
use super::segments::Reduction;
use super::{Const, Kernel, Launch, SourceKind, Variant};
use crate::geometry::{Conv2d, Map};
use crate::source::Source;

/// What one invocation keeps in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectShape {
    /// Channels of the result.
    channels: usize,
    /// Channels of the operand per step.
    step: usize,
    /// Positions, `[vertical, horizontal]`.
    block: [usize; 2],
    /// Operand positions under the block.
    area: [usize; 2],
}

/// Multiply-adds written out per step. More is quicker, until compiling takes seconds.
const MAX_UNROLLED: usize = 1200;
/// Operand values in registers.
const MAX_AREA: usize = 160;

fn taps(c: &Conv2d) -> usize {
    c.kernel[0] * c.kernel[1]
}

impl DirectShape {
    /// A block of at most `block` out of `positions`, `stride` operand positions apart.
    fn new(c: &Conv2d, positions: [usize; 2], stride: [usize; 2], block: [usize; 2]) -> Self {
        let block = [positions[0].min(block[0]), positions[1].min(block[1])];
        let area = [0, 1].map(|axis| {
            (block[axis] - 1) * stride[axis] + (c.kernel[axis] - 1) * c.dilation[axis] + 1
        });
        Self {
            channels: 1,
            step: 1,
            block,
            area,
        }
    }

    fn unrolled(&self, c: &Conv2d) -> usize {
        self.channels * self.step * taps(c) * self.block[0] * self.block[1]
    }

    fn fits(&self, c: &Conv2d) -> bool {
        self.unrolled(c) <= MAX_UNROLLED && self.step * self.area[0] * self.area[1] <= MAX_AREA
    }

    /// The largest count of channels up to `most` that fits.
    fn with_channels(mut self, c: &Conv2d, most: usize) -> Self {
        while self.channels < most
            && (Self {
                channels: self.channels + 1,
                ..self
            })
            .fits(c)
        {
            self.channels += 1;
        }
        self
    }

    fn consts(&self, c: &Conv2d, run: usize) -> Consts {
        numbers([
            ("TM", self.channels),
            ("STEP", self.step),
            ("PY", self.block[0]),
            ("PX", self.block[1]),
            ("EY", self.area[0]),
            ("EX", self.area[1]),
            ("RUN", run),
            // A run may begin anywhere in a block of four normals.
            ("RUN_BLOCKS", run_blocks(c, run)),
            ("RUN_VECTORS", run.div_ceil(4)),
        ])
    }
}

fn run_blocks(c: &Conv2d, run: usize) -> usize {
    let row = c.channels_in / c.groups * taps(c);
    match row.is_multiple_of(4) && run.is_multiple_of(4) {
        true => run / 4,
        false => (run + 3).div_ceil(4),
    }
}

/// Channels of one group: (inputs, outputs).
fn channels(c: &Conv2d) -> [usize; 2] {
    [c.channels_in / c.groups, c.channels_out / c.groups]
}

/// Positions that share a weight in registers: the more a weight costs, the more of them.
fn block(kind: SourceKind) -> [usize; 2] {
    match kind {
        SourceKind::Given => [8, 4],
        SourceKind::Gaussian | SourceKind::LowRank { .. } => [8, 8],
    }
}

fn forward_shape(c: &Conv2d, kind: SourceKind) -> DirectShape {
    let [inputs, outputs] = channels(c);
    // One call of the generator makes four neighbours, which are of four channels where there is one tap. So many
    // channels of fewer positions fit the registers.
    let (step, block) = match taps(c) == 1 && inputs % 4 == 0 {
        true => (4, [8, 4]),
        false => (1, block(kind)),
    };
    let shape = DirectShape::new(c, c.output(), c.stride, block);
    DirectShape { step, ..shape }.with_channels(c, outputs.min(8))
}

fn backward_x_shape(c: &Conv2d, kind: SourceKind) -> DirectShape {
    let [inputs, _] = channels(c);
    DirectShape::new(c, c.image, [1, 1], block(kind)).with_channels(c, inputs.min(8))
}

fn backward_w_shape(c: &Conv2d) -> DirectShape {
    let [inputs, outputs] = channels(c);
    // Several taps use every value several times; a single one makes up for it by more channels.
    let most = if taps(c) == 1 { 8 } else { 4 };
    let mut shape =
        DirectShape::new(c, c.output(), c.stride, [4, 4]).with_channels(c, outputs.min(most));
    while shape.step < inputs.min(most)
        && (DirectShape {
            step: shape.step * 2,
            ..shape
        })
        .fits(c)
    {
        shape.step *= 2;
    }
    shape
}

/// Whether direct kernels are the right ones for y and the gradient of the weight. Only for Mesa's
/// software adapter: written out they are long, and browsers take minutes to compile them.
pub(super) fn suits(c: &Conv2d, variant: Variant) -> bool {
    let fits = forward_shape(c, SourceKind::Gaussian).fits(c) && backward_w_shape(c).fits(c);
    fits && variant == Variant::Software
}

/// Whether direct kernels are the right ones for dx.
pub(super) fn suits_backward_x(c: &Conv2d, variant: Variant) -> bool {
    suits(c, variant) && c.stride == [1, 1] && backward_x_shape(c, SourceKind::Gaussian).fits(c)
}

/// One SIMD register of the software adapter, so that no lane idles at the end.
const THREADS: u32 = 8;

fn direct(
    name: &'static str,
    library: Vec<&'static str>,
    mut consts: Consts,
    info: Vec<u32>,
    invocations: usize,
) -> Launch {
    consts.push(("THREADS", Const::U32(THREADS)));
    Launch {
        kernel: Kernel {
            name,
            library,
            consts,
            threads: THREADS,
        },
        info,
        workgroups: (invocations as u64).div_ceil(u64::from(THREADS)),
    }
}

fn library(kind: SourceKind) -> Vec<&'static str> {
    match kind {
        SourceKind::Given => vec!["slot", "run_given"],
        SourceKind::Gaussian => vec!["slot", "noise", "noise_run", "run_gaussian"],
        SourceKind::LowRank { .. } => vec!["slot", "run_low_rank"],
    }
}

/// Whether examples have slots worth a list, and the `info` buffer of `lib/slot.wgsl`.
fn slot_info(source: &Source, invocations: usize) -> (bool, Vec<u32>) {
    let key = match source {
        Source::Gaussian { key } => *key,
        _ => Default::default(),
    };
    let mut info = vec![
        key.seed as u32,
        (key.seed >> 32) as u32,
        key.draw,
        key.parameter,
        key.first_example,
        invocations as u32,
    ];
    match source.slots() {
        Some((index, count)) if count > 1 => {
            info.extend(index);
            (true, info)
        }
        _ => (false, info),
    }
}

fn with_source(
    name: &'static str,
    c: &Conv2d,
    source: &Source,
    mut consts: Consts,
    invocations: usize,
) -> Launch {
    let kind = SourceKind::from(source);
    let (slotted, info) = slot_info(source, invocations);
    let mut all = geometry(&Map::Conv2d(*c));
    all.append(&mut consts);
    all.extend(rank_consts(kind));
    all.push(flag("SLOTTED", slotted));
    all.push(flag("GAUSSIAN", kind == SourceKind::Gaussian));
    direct(name, library(kind), all, info, invocations)
}

fn blocks(positions: [usize; 2], block: [usize; 2]) -> usize {
    positions[0].div_ceil(block[0]) * positions[1].div_ceil(block[1])
}

/// y. Buffers: info, x, y, parameters of the source.
pub fn direct_forward(c: &Conv2d, source: &Source) -> Launch {
    let shape = forward_shape(c, source.into());
    let rows = channels(c)[1].div_ceil(shape.channels) * c.groups;
    let invocations = c.batch * rows * blocks(c.output(), shape.block);
    let consts = shape.consts(c, shape.step * taps(c));
    with_source("direct_forward", c, source, consts, invocations)
}

/// dx, at stride one. Buffers: info, grad, dx, parameters of the source.
pub fn direct_backward_x(c: &Conv2d, source: &Source) -> Launch {
    let shape = backward_x_shape(c, source.into());
    let rows = channels(c)[0].div_ceil(shape.channels) * c.groups;
    let invocations = c.batch * rows * blocks(c.image, shape.block);
    let consts = shape.consts(c, shape.channels * taps(c));
    with_source("direct_backward_x", c, source, consts, invocations)
}

fn backward_w_invocations(c: &Conv2d) -> usize {
    let shape = backward_w_shape(c);
    let [inputs, outputs] = channels(c);
    inputs.div_ceil(shape.step) * outputs.div_ceil(shape.channels) * c.groups
}

/// Gradients of the weight by part, as [`super::product_backward_w`] lays them out.
pub fn direct_backward_w(c: &Conv2d, kind: SourceKind, reduction: &Reduction) -> Launch {
    let shape = backward_w_shape(c);
    let map = Map::Conv2d(*c);
    let gaussian = kind == SourceKind::Gaussian;
    let mut consts = geometry(&map);
    consts.extend(shape.consts(c, shape.step * taps(c)));
    consts.push(flag("LISTED", reduction.segments.is_listed()));
    consts.push(flag("GAUSSIAN", gaussian));
    consts.extend(numbers([
        ("REGION", region_len(&map, kind)),
        ("REGIONS", 1 + usize::from(gaussian)),
    ]));
    let mut library = vec!["segment"];
    match gaussian {
        true => library.extend(["noise", "noise_run", "spread_run_gaussian"]),
        false => library.push("spread_run_none"),
    }
    let invocations = backward_w_invocations(c) * reduction.parts();
    let info = reduction.segments.info(None);
    direct("direct_backward_w", library, consts, info, invocations)
}

/// Parts that keep a handful of cores busy.
pub(super) fn direct_parts(c: &Conv2d) -> usize {
    (256 / backward_w_invocations(c)).clamp(1, 32)
}
