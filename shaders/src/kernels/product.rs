//! The tiled products: forward, backward for x, backward for the weight.

use super::consts::{Consts, aligned, flag, geometry, numbers};
use super::segments::{Reduction, Segments};
use super::tile::{TapChunk, TileShape};
use super::{Kernel, Launch, SourceKind, plain};
use crate::geometry::Map;

/// Floats from one region of a part to the next: 256 bytes, the strictest alignment of a binding.
pub(super) const REGION_ALIGN: usize = 64;

/// Channels of one group and positions: (inputs, outputs, taps, input positions, output positions).
fn sizes(map: &Map) -> [usize; 5] {
    match map {
        Map::Matmul(m) => [m.inputs, m.outputs, 1, m.rows, m.rows],
        Map::Conv2d(c) => {
            let [h, w] = c.image;
            let [oh, ow] = c.output();
            [
                c.channels_in / c.groups,
                c.channels_out / c.groups,
                c.kernel[0] * c.kernel[1],
                h * w,
                oh * ow,
            ]
        }
    }
}

fn groups(map: &Map) -> usize {
    match map {
        Map::Matmul(_) => 1,
        Map::Conv2d(c) => c.groups,
    }
}

fn weight_library(map: &Map, kind: SourceKind) -> Vec<&'static str> {
    match (kind, aligned(map)) {
        (SourceKind::Given, false) => vec!["given"],
        (SourceKind::Given, true) => vec!["given_aligned"],
        (SourceKind::Gaussian, false) => vec!["noise", "gaussian"],
        (SourceKind::Gaussian, true) => vec!["noise", "gaussian_aligned"],
        (SourceKind::LowRank { .. }, _) => vec!["low_rank"],
    }
}

pub(super) fn rank_consts(kind: SourceKind) -> Consts {
    match kind {
        SourceKind::LowRank { rank } => numbers([("RANK", rank)]),
        _ => Consts::new(),
    }
}

fn tiled(
    name: &'static str,
    library: Vec<&'static str>,
    consts: Consts,
    tile: &TileShape,
    info: Vec<u32>,
    workgroups: usize,
) -> Launch {
    Launch {
        kernel: Kernel {
            name,
            library,
            consts,
            threads: tile.threads() as u32,
        },
        info,
        workgroups: workgroups as u32,
    }
}

/// y. Buffers: info, x, y, parameters of the source.
pub fn product_forward(map: &Map, kind: SourceKind, segments: &Segments) -> Launch {
    let [_, outputs, _, _, positions] = sizes(map);
    let columns = segments.longest() * positions;
    let tile = TileShape::new(outputs, columns);
    let mut consts = geometry(map);
    consts.extend(rank_consts(kind));
    consts.extend(tile.consts());
    consts.push(flag("LISTED", segments.is_listed()));
    let mut library = vec!["segment", "tile", "window_x"];
    library.extend(weight_library(map, kind));
    let tiles = columns.div_ceil(tile.cols);
    let rows = outputs.div_ceil(tile.rows) * groups(map);
    let workgroups = rows * tiles * segments.count();
    let info = segments.info(tiles);
    tiled("product_forward", library, consts, &tile, info, workgroups)
}

/// dx. Buffers: info, grad, dx, parameters of the source.
pub fn product_backward_x(map: &Map, kind: SourceKind, segments: &Segments) -> Launch {
    let [inputs, _, taps, positions, _] = sizes(map);
    let columns = segments.longest() * positions;
    let mut tile = TileShape::new(inputs, columns);
    let chunk = TapChunk::new(&mut tile, taps);
    let mut consts = geometry(map);
    consts.extend(rank_consts(kind));
    consts.extend(tile.consts());
    consts.push(flag("LISTED", segments.is_listed()));
    consts.push(flag("WHOLE_TAPS", chunk.whole));
    consts.extend(numbers([
        ("CHUNK_TAPS", chunk.taps),
        ("FLAT_LEN", chunk.flat_len),
    ]));
    let mut library = vec!["segment", "tile", "window_grad"];
    library.extend(weight_library(map, kind));
    let tiles = columns.div_ceil(tile.cols);
    let rows = inputs.div_ceil(tile.rows) * groups(map);
    let workgroups = rows * tiles * segments.count();
    let info = segments.info(tiles);
    tiled(
        "product_backward_x",
        library,
        consts,
        &tile,
        info,
        workgroups,
    )
}

/// Gradients of the weight by part: `[parts][regions][region_len]`. Buffers: info, x, grad, parts,
/// and psi for the Gaussian source, whose second region is the gradient of psi.
pub fn product_backward_w(map: &Map, kind: SourceKind, reduction: &Reduction) -> Launch {
    let (tile, workgroups) = backward_w_tile(map);
    let gaussian = kind == SourceKind::Gaussian;
    let mut consts = geometry(map);
    consts.extend(tile.consts());
    consts.push(flag("LISTED", reduction.segments.is_listed()));
    consts.push(flag("GAUSSIAN", gaussian));
    consts.extend(numbers([
        ("REGION", region_len(map)),
        ("REGIONS", 1 + usize::from(gaussian)),
    ]));
    let mut library = vec!["segment", "tile", "window_x"];
    if gaussian {
        library.extend(["noise", "spread_gaussian"]);
    } else {
        library.push("spread_none");
    }
    let workgroups = workgroups * reduction.parts();
    let info = reduction.segments.info(1);
    tiled(
        "product_backward_w",
        library,
        consts,
        &tile,
        info,
        workgroups,
    )
}

/// Tile, and workgroups per part.
fn backward_w_tile(map: &Map) -> (TileShape, usize) {
    let shape = map.weight_shape();
    let rows = shape[0] / groups(map);
    let cols: usize = shape[1..].iter().product();
    let mut tile = TileShape::new(rows, cols);
    // Three register tiles instead of one.
    tile.thread_cols = 4;
    while tile.threads() > 256 {
        tile.cols /= 2;
    }
    let workgroups = rows.div_ceil(tile.rows) * cols.div_ceil(tile.cols) * groups(map);
    (tile, workgroups)
}

/// Floats from one region of the parts to the next.
pub fn region_len(map: &Map) -> usize {
    map.weight_len().next_multiple_of(REGION_ALIGN)
}

/// Parts that keep a device busy.
pub(super) fn product_parts(map: &Map) -> usize {
    const BUSY_WORKGROUPS: usize = 128;
    let (_, workgroups) = backward_w_tile(map);
    (BUSY_WORKGROUPS / workgroups).max(1)
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
