//! The ratios that have targets, each beside its target.

use crate::{
    cpu, gpu,
    shapes::{Shape, SourceKind, SourceKind::*},
    table::{Row, Table, geometric_mean},
};

/// Layers that a target speaks of.
#[derive(Clone, Copy, Debug)]
enum Over {
    All,
    Convolutions,
    Dense3x3,
    Linear512,
}

/// Ratio, device, source, layers and target of a line, all of forward + backward.
type Line = (&'static str, &'static str, SourceKind, Over, &'static str);

/// What is aimed at.
const LINES: [Line; 8] = [
    (
        "torch_exemplar",
        cpu::DEVICE,
        Gaussian,
        Over::Dense3x3,
        "mean 2, least 1.2",
    ),
    (
        "torch_exemplar",
        cpu::DEVICE,
        Gaussian,
        Over::Linear512,
        "10",
    ),
    (
        "torch_shared",
        cpu::DEVICE,
        Gaussian,
        Over::Dense3x3,
        "aim: 1",
    ),
    ("torch_shared", cpu::DEVICE, Shared, Over::All, "least 0.8"),
    ("own_shared", cpu::DEVICE, LowRank, Over::All, "least 0.9"),
    (
        "burn_exemplar",
        gpu::DEVICE,
        Gaussian,
        Over::Convolutions,
        "least 5",
    ),
    (
        "burn_exemplar",
        gpu::DEVICE,
        LowRank,
        Over::Convolutions,
        "least 5",
    ),
    (
        "share_of_matmul",
        gpu::DEVICE,
        Gaussian,
        Over::Dense3x3,
        "aim: 0.5",
    ),
];

impl Over {
    fn holds(self, shapes: &[Shape], name: &str) -> bool {
        let dense = |shape: &Shape| shape.name == name && shape.is_dense_3x3();
        match self {
            Self::All => true,
            Self::Convolutions => !name.starts_with("linear"),
            Self::Dense3x3 => shapes.iter().any(dense),
            Self::Linear512 => name.starts_with("linear 512->512"),
        }
    }
}

/// Adds a row "summary" for every line that was measured, and prints it with its target.
pub fn summarise(table: &mut Table, shapes: &[Shape]) {
    println!("\nforward + backward, how many times faster than:");
    for (ratio, device, source, over, target) in LINES {
        let keep = |name: &str| over.holds(shapes, name);
        let values = table.ratios(ratio, device, source, keep);
        let Some(mean) = geometric_mean(&values) else {
            continue;
        };
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        // Some may have been left out when the time was up.
        let all = shapes.iter().filter(|shape| keep(&shape.name)).count();
        let (measured, over, source) = (values.len(), format!("{over:?}"), source.name());
        println!(
            "{ratio:<16} {device:<5} {source:<9} {over:<12} geometric mean {mean:.2}, least {least:.2} ({target}), over \
             {measured} of {all} layers",
        );
        let figures = [("geometric_mean", mean), ("least", least)];
        let shape = format!("{ratio}, {over}");
        let row = Row::figures("summary", source, device, shape, figures);
        table.rows.push(row);
    }
}
