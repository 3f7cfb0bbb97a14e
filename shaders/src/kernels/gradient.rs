//! The tiled gradient of the weight, and the sum over its parts.

use super::consts::{flag, geometry, numbers};
use super::segments::Reduction;
use super::tile::{Request, TileShape, VECTOR_DEPTHS};
use super::traffic::{MOST, Pass, compulsory, first_frugal};
use super::{Kernel, Launch, SourceKind, plain};
use crate::geometry::Map;

/// Floats from one region of the parts to the next. With noise each of the two regions of a part may
/// become a tensor where it lies, which has to start where a binding may: at 256 bytes by the
/// strictest rule.
pub fn region_len(map: &Map, kind: SourceKind) -> usize {
    const REGION_ALIGN: usize = 64;
    match kind {
        SourceKind::Gaussian => map.weight_len().next_multiple_of(REGION_ALIGN),
        SourceKind::Given | SourceKind::LowRank { .. } => map.weight_len(),
    }
}

/// Gradients of the weight by part: `[parts][regions][region_len]`. Buffers: info, x, grad, parts,
/// and psi for the Gaussian source, whose second region is the gradient of psi.
pub fn product_backward_w(map: &Map, kind: SourceKind, reduction: &Reduction) -> Launch {
    let gradient = Gradient::new(map, kind);
    let tile = gradient.tile();
    let gaussian = kind == SourceKind::Gaussian;
    let mut consts = geometry(map);
    consts.extend(tile.consts());
    consts.push(flag("LISTED", reduction.segments.is_listed()));
    consts.push(flag("GAUSSIAN", gaussian));
    consts.extend(numbers([
        ("REGION", region_len(map, kind)),
        ("REGIONS", regions(kind)),
    ]));
    let mut library = vec!["segment", "tile", "window_x"];
    match gaussian {
        true => library.extend(["noise", "spread_gaussian"]),
        false => library.push("spread_none"),
    }
    Launch {
        kernel: Kernel {
            name: "product_backward_w",
            library,
            consts,
            threads: tile.threads() as u32,
        },
        info: reduction.segments.info(None),
        workgroups: gradient.workgroups(&tile) as u64 * reduction.parts() as u64,
    }
}

fn regions(kind: SourceKind) -> usize {
    1 + usize::from(kind == SourceKind::Gaussian)
}

/// The gradient of one weight, its rows and columns as they lie in memory; rows of one group.
pub(super) struct Gradient<'a> {
    map: &'a Map,
    kind: SourceKind,
    rows: usize,
    cols: usize,
    groups: usize,
}

impl<'a> Gradient<'a> {
    pub(super) fn new(map: &'a Map, kind: SourceKind) -> Self {
        let groups = match map {
            Map::Matmul(_) => 1,
            Map::Conv2d(c) => c.groups,
        };
        let shape = map.weight_shape();
        Self {
            map,
            kind,
            rows: shape[0] / groups,
            cols: shape[1..].iter().product(),
            groups,
        }
    }

    fn tile(&self) -> TileShape {
        let request = Request {
            rows: self.rows,
            columns: self.cols,
            weights: 1,
            sharing: false,
            // The noise takes two more tiles of registers: the sum of an example, and that of all.
            sums: if self.kind == SourceKind::Gaussian {
                32
            } else {
                64
            },
            beside: 0,
        };
        let tiles = TileShape::candidates(request)
            .filter_map(|tile| tile.with_depth(VECTOR_DEPTHS, 0))
            .collect();
        let least = compulsory(self.map, self.kind, 1, Pass::BackwardW);
        let one_part = part_floats(self.map, self.kind, 1, 1);
        first_frugal(tiles, least, |tile| self.operands(tile) + one_part)
    }

    fn workgroups(&self, tile: &TileShape) -> usize {
        self.rows.div_ceil(tile.rows) * self.cols.div_ceil(tile.slot) * self.groups
    }

    /// Floats of x and grad that the workgroups load, over all parts.
    fn operands(&self, tile: &TileShape) -> f64 {
        let row_tiles = self.rows.div_ceil(tile.rows) as f64;
        let col_tiles = self.cols.div_ceil(tile.slot) as f64;
        match self.map {
            Map::Matmul(_) => operand_floats(self.map, [col_tiles, row_tiles]),
            Map::Conv2d(c) => {
                // A column tile holds the taps of some inputs, of which those at its ends may be cut.
                let taps = (c.kernel[0] * c.kernel[1]) as f64;
                let inputs = self.cols as f64 / taps;
                let touched = (tile.slot as f64 / taps).ceil().min(inputs);
                let x_times = row_tiles * (col_tiles * touched / inputs).max(1.0);
                operand_floats(self.map, [x_times, col_tiles])
            }
        }
    }

    pub(super) fn moved(&self, reduction: &Reduction) -> f64 {
        self.operands(&self.tile()) + reduction_floats(self.map, self.kind, reduction)
    }

    /// Weights whose gradients together keep a device busy.
    pub(super) fn busy(&self) -> usize {
        const BUSY_WORKGROUPS: usize = 128;
        BUSY_WORKGROUPS / self.workgroups(&self.tile())
    }

    /// Parts that keep a device busy, as far as they are worth their traffic.
    pub(super) fn parts(&self) -> usize {
        let operands = self.operands(&self.tile());
        frugal_parts(self.map, self.kind, operands, self.busy())
    }
}

/// Floats of x and grad, read so many times.
pub(super) fn operand_floats(map: &Map, [x_times, y_times]: [f64; 2]) -> f64 {
    let len = |shape: Vec<usize>| shape.iter().product::<usize>() as f64;
    len(map.x_shape()) * x_times + len(map.y_shape()) * y_times
}

/// Floats moved for so many parts: they are written, and summed if there are more of them than slots.
fn part_floats(map: &Map, kind: SourceKind, parts: usize, slots: usize) -> f64 {
    let regions = regions(kind);
    // Each part of a gradient of psi is multiplied by exp(psi).
    let psi = parts * (regions - 1);
    let sums = match parts == slots {
        true => parts * regions,
        false => (2 * parts + slots) * regions,
    };
    ((psi + sums) * map.weight_len()) as f64
}

/// As [`part_floats`], for the parts of a reduction.
pub(super) fn reduction_floats(map: &Map, kind: SourceKind, reduction: &Reduction) -> f64 {
    let slots = reduction.slot_starts.len() - 1;
    part_floats(map, kind, reduction.parts(), slots)
}

/// As many of the useful parts of one weight as keep the traffic within bounds, or one.
pub(super) fn frugal_parts(map: &Map, kind: SourceKind, operands: f64, useful: usize) -> usize {
    let most = MOST * compulsory(map, kind, 1, Pass::BackwardW);
    (2..=useful)
        .rev()
        .find(|&parts| operands + part_floats(map, kind, parts, 1) <= most)
        .unwrap_or(1)
}

/// `out[slots][elements]`. Buffers: info, parts, out.
pub fn sum_parts(
    slot_starts: &[u32],
    elements: usize,
    part_stride: usize,
    region_offset: usize,
) -> Launch {
    let slots = slot_starts.len() - 1;
    let mut info = vec![
        slots as u32,
        elements as u32,
        part_stride as u32,
        region_offset as u32,
    ];
    info.extend(slot_starts);
    plain("sum_parts", vec![], vec![], info, slots * elements)
}
