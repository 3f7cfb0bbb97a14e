//! The tiled products whose columns are positions of examples: forward, and backward for x.

use super::consts::{aligned, flag, geometry, numbers, rank_consts};
use super::segments::{Segments, Tiling};
use super::tile::{Request, TileShape, VECTOR_DEPTHS};
use super::traffic::{Pass, compulsory, first_frugal};
use super::{Kernel, Launch, SourceKind};
use crate::geometry::Map;

/// y. Buffers: info, x, y, parameters of the source.
pub fn product_forward(map: &Map, kind: SourceKind, segments: &Segments) -> Launch {
    Columns::new(map, kind, segments, Pass::Forward).launch()
}

/// dx. Buffers: info, grad, dx, parameters of the source.
pub fn product_backward_x(map: &Map, kind: SourceKind, segments: &Segments) -> Launch {
    Columns::new(map, kind, segments, Pass::BackwardX).launch()
}

/// One product, forward or backward for x.
pub(super) struct Columns<'a> {
    map: &'a Map,
    kind: SourceKind,
    segments: &'a Segments,
    pass: Pass,
    sides: Sides,
}

/// Result and operand, channels being those of one group.
struct Sides {
    result_channels: usize,
    operand_channels: usize,
    result: [usize; 2],
    operand: [usize; 2],
    /// Operand positions from one result to the next, and under one result.
    stride: [usize; 2],
    window: [usize; 2],
    groups: usize,
    taps: usize,
}

impl Sides {
    fn new(map: &Map, pass: Pass) -> Self {
        let mut sides = match map {
            Map::Matmul(m) => Self {
                result_channels: m.outputs,
                operand_channels: m.inputs,
                result: [m.rows, 1],
                operand: [m.rows, 1],
                stride: [1, 1],
                window: [1, 1],
                groups: 1,
                taps: 1,
            },
            Map::Conv2d(c) => Self {
                result_channels: c.channels_out / c.groups,
                operand_channels: c.channels_in / c.groups,
                result: c.output(),
                operand: c.image,
                stride: c.stride,
                window: [0, 1].map(|axis| (c.kernel[axis] - 1) * c.dilation[axis] + 1),
                groups: c.groups,
                taps: c.kernel[0] * c.kernel[1],
            },
        };
        if pass == Pass::BackwardX {
            std::mem::swap(&mut sides.result_channels, &mut sides.operand_channels);
            std::mem::swap(&mut sides.result, &mut sides.operand);
            sides.stride = [1, 1];
        }
        sides
    }

    fn positions(&self) -> usize {
        self.result[0] * self.result[1]
    }

    /// Distinct operand positions under so many neighbouring positions of the result.
    fn operand_under(&self, positions: usize) -> usize {
        let [rows, cols] = self.operand;
        if positions >= self.positions() {
            return positions.div_ceil(self.positions()) * rows * cols;
        }
        let counts = [
            positions.div_ceil(self.result[1]),
            positions.min(self.result[1]),
        ];
        let reach = |axis: usize| {
            let span = (counts[axis] - 1) * self.stride[axis] + self.window[axis];
            span.min(self.operand[axis])
        };
        reach(0) * reach(1)
    }
}

/// How the backward pass for x walks (output, tap): so many outputs at a time, whose weights are laid
/// out in so many floats per weight, or not at all.
#[derive(Clone, Copy)]
struct Chunk {
    outputs: usize,
    flat: usize,
}

impl<'a> Columns<'a> {
    pub(super) fn new(map: &'a Map, kind: SourceKind, segments: &'a Segments, pass: Pass) -> Self {
        Self {
            map,
            kind,
            segments,
            pass,
            sides: Sides::new(map, pass),
        }
    }

    /// Columns of a typical segment. Nothing that makes the kernel may look at the segments themselves.
    fn columns(&self) -> usize {
        self.segments.typical() * self.sides.positions()
    }

    fn request(&self, beside: usize) -> Request {
        Request {
            rows: self.sides.result_channels,
            columns: self.columns(),
            weights: self.segments.count(),
            sharing: self.kind != SourceKind::Given,
            sums: 64,
            beside,
        }
    }

    fn candidates(&self) -> Vec<(TileShape, Chunk)> {
        let taps = self.sides.taps;
        if self.pass == Pass::BackwardX && matches!(self.map, Map::Conv2d(_)) {
            let flat: Vec<_> = TileShape::candidates(self.request(taps))
                .filter_map(|tile| laid_out(tile, taps))
                .collect();
            if !flat.is_empty() {
                return flat;
            }
        }
        TileShape::candidates(self.request(0))
            .filter_map(|tile| tile.with_depth(VECTOR_DEPTHS, 0))
            .map(|tile| {
                // Chunks of a matrix are one step.
                let outputs = if taps == 1 { tile.depth } else { 1 };
                (tile, Chunk { outputs, flat: 0 })
            })
            .collect()
    }

    fn choose(&self) -> (TileShape, Chunk) {
        let least = compulsory(self.map, self.kind, self.segments.count(), self.pass);
        let positions = self.sides.positions();
        first_frugal(self.candidates(), least, |(tile, _)| {
            self.moved_by(tile, Tiling::typical(self.segments, positions, tile))
        })
    }

    /// Floats moved: what the workgroups load, and the result.
    pub(super) fn moved(&self) -> f64 {
        let (tile, _) = self.choose();
        self.moved_by(&tile, self.tiling(&tile).tiles())
    }

    /// Floats moved by so many column tiles.
    fn moved_by(&self, tile: &TileShape, tiles: u64) -> f64 {
        let Sides {
            result_channels,
            operand_channels,
            taps,
            groups,
            ..
        } = self.sides;
        let rows = tile.rows.min(result_channels);
        let sum = operand_channels * taps;
        let parameters = match self.kind {
            SourceKind::Given => rows * sum,
            SourceKind::Gaussian => 2 * rows * sum,
            SourceKind::LowRank { rank } => rows * sum + tile.weights * rank * (rows + sum),
        };
        let positions = tile.slot.min(self.columns());
        let operand = tile.weights * operand_channels * self.sides.operand_under(positions);
        let result = self.map.batch() * result_channels * groups * self.sides.positions();
        let workgroups = self.workgroups(tile, tiles);
        workgroups as f64 * (parameters + operand) as f64 + result as f64
    }

    fn tiling(&self, tile: &TileShape) -> Tiling {
        Tiling::new(self.segments, self.sides.positions(), tile)
    }

    fn workgroups(&self, tile: &TileShape, tiles: u64) -> u64 {
        let rows = self.sides.result_channels.div_ceil(tile.rows) * self.sides.groups;
        rows as u64 * tiles
    }

    fn launch(&self) -> Launch {
        let (tile, chunk) = self.choose();
        let tiling = self.tiling(&tile);
        let mut consts = geometry(self.map);
        consts.extend(rank_consts(self.kind));
        consts.extend(tile.consts());
        consts.push(flag("LISTED", self.segments.is_listed()));
        let (name, window) = match self.pass {
            Pass::BackwardX => ("product_backward_x", "window_grad"),
            Pass::Forward | Pass::BackwardW => ("product_forward", "window_x"),
        };
        if self.pass == Pass::BackwardX {
            consts.push(flag("FLAT", chunk.flat > 0));
            consts.extend(numbers([
                ("CHUNK_OUTPUTS", chunk.outputs),
                ("FLAT_LEN", chunk.flat.max(1)),
            ]));
        }
        let mut library = vec!["segment", "tile", "columns", window];
        library.extend(weight_library(self.map, self.kind));
        Launch {
            kernel: Kernel {
                name,
                library,
                consts,
                threads: tile.threads() as u32,
            },
            info: self.segments.info(Some(&tiling)),
            workgroups: self.workgroups(&tile, tiling.tiles()),
        }
    }
}

/// A tile beside which the weights of whole outputs fit: of several, where taps are few.
fn laid_out(tile: TileShape, taps: usize) -> Option<(TileShape, Chunk)> {
    [(18 / taps).max(1), 1].into_iter().find_map(|outputs| {
        let (chunk, flat) = (outputs * taps, outputs * taps * tile.rows);
        let depths = (1..=chunk)
            .map(|steps| chunk.div_ceil(steps))
            .filter(|depth| (4..=18).contains(depth));
        let tile = tile.with_depth(depths, flat)?;
        Some((tile, Chunk { outputs, flat }))
    })
}

pub(super) fn weight_library(map: &Map, kind: SourceKind) -> Vec<&'static str> {
    match (kind, aligned(map)) {
        (SourceKind::Given, false) => vec!["given"],
        (SourceKind::Given, true) => vec!["given_aligned"],
        (SourceKind::Gaussian, false) => vec!["noise", "gaussian"],
        (SourceKind::Gaussian, true) => vec!["noise", "gaussian_aligned"],
        (SourceKind::LowRank { .. }, _) => vec!["low_rank"],
    }
}
