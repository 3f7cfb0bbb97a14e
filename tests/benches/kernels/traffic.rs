//! The model of global-memory traffic: what the tiles of each kernel move against what must be moved.
//! None of it is measured; it tells what to expect of a GPU that is not here.

use crate::{
    gpu,
    shapes::{COMPONENTS, Shape, SourceKind},
    table::Row,
};
use bayesadapter_shaders::{
    Map, NoiseKey, Source,
    kernels::{Pass, Traffic, sample_traffic, traffic},
};

/// One row per layer, source and pass, for the kernels that real GPUs run, and for the draws of its weight.
/// The weight's gradient of a low-rank ensemble includes its folds. Linear layers of such an ensemble have no
/// row: they are products with the shared weight, whose rows are there, between scalings by Burn's own kernels.
pub fn traffic_rows(shapes: &[Shape]) -> Vec<Row> {
    let mut rows = Vec::new();
    for shape in shapes {
        for kind in SourceKind::ALL {
            if kind == SourceKind::LowRank && matches!(shape.map, Map::Matmul(_)) {
                continue;
            }
            let source = source(kind, shape.map.batch());
            for pass in Pass::ALL {
                let name = match pass {
                    Pass::Forward => "forward",
                    Pass::BackwardX => "backward x",
                    Pass::BackwardW => "backward weight",
                };
                rows.push(row(shape, kind, name, traffic(&shape.map, &source, pass)));
            }
        }
        rows.extend(draw_rows(shape));
    }
    rows
}

/// Materialised draws, as many as there are components.
fn draw_rows(shape: &Shape) -> Vec<Row> {
    let of_kind = |kind: SourceKind| {
        let source = source(kind, shape.map.batch());
        let traffic = sample_traffic(&shape.map, (&source).into(), COMPONENTS);
        let both = ["draws", "draws, backward"].into_iter().zip(traffic?);
        Some(both.map(move |(pass, traffic)| row(shape, kind, pass, traffic)))
    };
    let kinds = SourceKind::ALL.into_iter();
    kinds.filter_map(of_kind).flatten().collect()
}

fn row(shape: &Shape, kind: SourceKind, pass: &'static str, traffic: Traffic) -> Row {
    let figures = [
        ("of_compulsory", traffic.ratio()),
        ("flop_per_byte", traffic.flop_per_byte()),
        ("moved_mib", traffic.bytes / f64::from(1 << 20)),
    ];
    let name = shape.name.clone();
    let row = Row::figures("traffic", kind.name(), gpu::DEVICE, name, figures);
    Row { pass, ..row }
}

/// The source as the kernels see it, like the layers that are timed.
fn source(kind: SourceKind, batch: usize) -> Source {
    let indices = |count: usize| (0..batch).map(|example| (example % count) as u32).collect();
    match kind {
        SourceKind::Shared => Source::Given {
            index: indices(1),
            count: 1,
        },
        SourceKind::Given => Source::Given {
            index: indices(batch),
            count: batch,
        },
        SourceKind::Gaussian => Source::Gaussian {
            key: NoiseKey::default(),
        },
        SourceKind::LowRank => Source::LowRank {
            index: indices(COMPONENTS),
            components: COMPONENTS,
            rank: 1,
        },
    }
}
