//! The model of global-memory traffic: what the tiles of each kernel move against what must be moved.
//! None of it is measured; it tells what to expect of a GPU that is not here.

use crate::{
    gpu,
    shapes::{COMPONENTS, Shape, SourceKind},
    table::Row,
};
use bayesadapter_shaders::{
    Map, NoiseKey, Source,
    kernels::{Pass, traffic},
};

/// One row per layer, source and pass, for the kernels that real GPUs run. Linear layers of a low-rank
/// ensemble have no row: they are products with the shared weight between two scalings.
pub fn traffic_rows(shapes: &[Shape]) -> Vec<Row> {
    let mut rows = Vec::new();
    for shape in shapes {
        for kind in SourceKind::ALL {
            if kind == SourceKind::LowRank && matches!(shape.map, Map::Matmul(_)) {
                continue;
            }
            let source = source(kind, shape.map.batch());
            for pass in Pass::ALL {
                let traffic = traffic(&shape.map, &source, pass);
                let figures = [
                    ("of_compulsory", traffic.ratio()),
                    ("flop_per_byte", traffic.flop_per_byte()),
                    ("moved_mib", traffic.bytes / f64::from(1 << 20)),
                ];
                let name = shape.name.clone();
                let mut row = Row::figures("traffic", kind.name(), gpu::DEVICE, name, figures);
                row.pass = match pass {
                    Pass::Forward => "forward",
                    Pass::BackwardX => "backward x",
                    Pass::BackwardW => "backward weight",
                };
                rows.push(row);
            }
        }
    }
    rows
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
