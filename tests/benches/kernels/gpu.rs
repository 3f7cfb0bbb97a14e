//! Rows of the wgpu adapter, which may be a software one: then everything takes a hundred times
//! longer than on the CPU device, so the list goes from what matters most to what matters least.

use crate::{
    cpu::{BURN, row},
    layer::Runner,
    measure::Measure,
    shapes::{Pass, Shape, SourceKind},
    table::{Row, Table},
};
use bayesadapter::ops::{KernelVariant, set_kernel_variant};
use burn::tensor::Device;

pub const DEVICE: &str = "wgpu";
/// The same adapter with the kernels of real GPUs, where it would get those for CPU cores.
const TILES: &str = "wgpu tiles";

/// Software adapters bind this much; larger stored weights are left out.
const MOST_STORED_BYTES: usize = 128 << 20;

/// Layers by their place in the list of all, cheapest informative first.
fn order(shapes: &[Shape], quick: bool) -> Vec<&Shape> {
    let mut order: Vec<&Shape> = shapes.iter().collect();
    order.sort_by(|a, b| {
        let cost = |shape: &Shape| (!shape.is_dense_3x3(), shape.map.flop());
        cost(a).partial_cmp(&cost(b)).expect("finite costs")
    });
    if quick {
        order.truncate(1);
    }
    order
}

pub fn measure(
    measure: &mut Measure,
    table: &mut Table,
    shapes: &[Shape],
    device: &Device,
    quick: bool,
) {
    best_matmul(measure, table, device, quick);
    let order = order(shapes, quick);
    // The targets first: both exemplar sources for every layer, then Burn's grouped convolution.
    let pass = Pass::ForwardBackward;
    for shape in &order {
        for source in [SourceKind::Gaussian, SourceKind::LowRank] {
            let prepare = || Runner::ours(shape, source, pass, device);
            row(measure, table, DEVICE, source.name(), shape, pass, prepare);
        }
    }
    for shape in &order {
        burn(measure, table, shape, pass, device);
    }
    tiles(measure, table, &order, device);
    for shape in &order {
        for (pass, sources) in [
            (Pass::Forward, &SourceKind::ALL[..]),
            (
                Pass::ForwardBackward,
                &[SourceKind::Shared, SourceKind::Given],
            ),
        ] {
            for &source in sources {
                if source == SourceKind::Given && shape.exemplar_weight_bytes() > MOST_STORED_BYTES
                {
                    continue;
                }
                let prepare = || Runner::ours(shape, source, pass, device);
                row(measure, table, DEVICE, source.name(), shape, pass, prepare);
            }
        }
        burn(measure, table, shape, Pass::Forward, device);
    }
}

fn tiles(measure: &mut Measure, table: &mut Table, shapes: &[&Shape], device: &Device) {
    let pass = Pass::ForwardBackward;
    set_kernel_variant(KernelVariant::Gpu);
    for shape in shapes {
        for source in [SourceKind::Gaussian, SourceKind::Shared] {
            let prepare = || Runner::ours(shape, source, pass, device);
            row(measure, table, TILES, source.name(), shape, pass, prepare);
        }
    }
    set_kernel_variant(KernelVariant::Auto);
}

fn burn(measure: &mut Measure, table: &mut Table, shape: &Shape, pass: Pass, device: &Device) {
    if shape.exemplar_weight_bytes() <= MOST_STORED_BYTES {
        let prepare = || Runner::burn(shape, pass, device);
        row(measure, table, DEVICE, BURN, shape, pass, prepare);
    }
}

/// Burn's product of square matrices at several sizes: the best is the adapter's yardstick.
fn best_matmul(measure: &mut Measure, table: &mut Table, device: &Device, quick: bool) {
    let sides: &[usize] = if quick { &[256] } else { &[256, 512, 1024] };
    for &side in sides {
        let id = format!("wgpu burn matmul {side}");
        let mut flop = 0.0;
        let prepare = || {
            let (runner, count) = Runner::square_matmul(side, device);
            flop = count;
            runner
        };
        if let Some(milliseconds) = measure.milliseconds(&id, prepare, Runner::run) {
            let mut row = Row::figures("matmul", BURN, DEVICE, format!("{side}x{side}x{side}"), []);
            row.pass = Pass::Forward.name();
            row.milliseconds = Some(milliseconds);
            row.gflops = Some(flop / milliseconds / 1e6);
            table.rows.push(row);
        }
    }
}

/// Adds to every layer its share of the adapter's best matrix product.
pub fn shares(table: &mut Table) {
    let best = table
        .rows
        .iter()
        .filter(|row| row.op == "matmul" && row.device == DEVICE)
        .filter_map(|row| row.gflops)
        .fold(0.0, f64::max);
    for row in &mut table.rows {
        if let (DEVICE, true, Some(gflops)) = (row.device, best > 0.0, row.gflops) {
            row.ratios.insert("share_of_matmul", gflops / best);
        }
    }
}
