//! The constants that a geometry puts into the prelude.

use super::SourceKind;
use crate::geometry::{Conv2d, Map, Matmul};

/// A value of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// A size or a count.
    U32(u32),
    /// A switch.
    Bool(bool),
}

pub(super) type Consts = Vec<(&'static str, Const)>;

pub(super) fn numbers<const N: usize>(named: [(&'static str, usize); N]) -> Consts {
    named
        .into_iter()
        .map(|(name, value)| (name, Const::U32(value as u32)))
        .collect()
}

pub(super) fn flag(name: &'static str, value: bool) -> (&'static str, Const) {
    (name, Const::Bool(value))
}

/// A matrix product is a 1x1 convolution over an image of `rows` x 1 whose channels lie innermost.
///
/// `ROWS` x `COLS` is one weight as it lies in memory, over all groups.
pub(super) fn geometry(map: &Map) -> Consts {
    let mut consts = match map {
        Map::Matmul(matmul) => matmul_consts(matmul),
        Map::Conv2d(conv) => conv_consts(conv),
    };
    let [fan_in, fan_out] = map.fan();
    let shape = map.weight_shape();
    let cols: usize = shape[1..].iter().product();
    consts.extend(numbers([
        ("ROWS", shape[0]),
        ("COLS", cols),
        ("FAN_IN", fan_in),
        ("FAN_OUT", fan_out),
    ]));
    consts.push(flag("MATMUL", matches!(map, Map::Matmul(_))));
    consts.push(flag("ALIGNED", aligned(map)));
    consts
}

pub(super) fn rank_consts(kind: SourceKind) -> Consts {
    match kind {
        SourceKind::LowRank { rank } => numbers([("RANK", rank)]),
        SourceKind::Given | SourceKind::Gaussian => Consts::new(),
    }
}

/// Whether every row of the weight starts at a whole block of four normals.
pub(super) fn aligned(map: &Map) -> bool {
    map.weight_shape()[1..].iter().product::<usize>() % 4 == 0
}

fn matmul_consts(m: &Matmul) -> Consts {
    numbers([
        ("GROUPS", 1),
        ("M", m.outputs),
        ("I", m.inputs),
        ("TAPS", 1),
        ("KH", 1),
        ("KW", 1),
        ("H", m.rows),
        ("W", 1),
        ("OH", m.rows),
        ("OW", 1),
        ("P", m.rows),
        ("SY", 1),
        ("SX", 1),
        ("DY", 1),
        ("DX", 1),
        ("PT", 0),
        ("PL", 0),
        ("X_EXAMPLE", m.rows * m.inputs),
        ("X_CHANNEL", 1),
        ("X_POSITION", m.inputs),
        ("Y_EXAMPLE", m.rows * m.outputs),
        ("Y_CHANNEL", 1),
        ("Y_POSITION", m.outputs),
    ])
}

fn conv_consts(c: &Conv2d) -> Consts {
    let [oh, ow] = c.output();
    let [h, w] = c.image;
    numbers([
        ("GROUPS", c.groups),
        ("M", c.channels_out / c.groups),
        ("I", c.channels_in / c.groups),
        ("TAPS", c.kernel[0] * c.kernel[1]),
        ("KH", c.kernel[0]),
        ("KW", c.kernel[1]),
        ("H", h),
        ("W", w),
        ("OH", oh),
        ("OW", ow),
        ("P", oh * ow),
        ("SY", c.stride[0]),
        ("SX", c.stride[1]),
        ("DY", c.dilation[0]),
        ("DX", c.dilation[1]),
        ("PT", c.padding.top),
        ("PL", c.padding.left),
        ("X_EXAMPLE", c.channels_in * h * w),
        ("X_CHANNEL", h * w),
        ("X_POSITION", 1),
        ("Y_EXAMPLE", c.channels_out * oh * ow),
        ("Y_CHANNEL", oh * ow),
        ("Y_POSITION", 1),
    ])
}
