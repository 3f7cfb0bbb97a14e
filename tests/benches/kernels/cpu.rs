//! Rows of the CPU device.

use crate::{
    layer::Runner,
    measure::Measure,
    shapes::{Pass, Shape, SourceKind},
    table::{Row, Table},
};
use bayesadapter::ops::{NoiseKey, fill_normals};
use burn::tensor::Device;

pub const DEVICE: &str = "cpu";
/// Name of Burn's own route in the column of sources.
pub const BURN: &str = "burn";

/// More than this for stored weights is left out: four such copies exist in a backward pass.
const MOST_STORED_BYTES: usize = 2 << 30;

pub fn measure(measure: &mut Measure, table: &mut Table, shapes: &[Shape], passes: &[Pass]) {
    noise(measure, table);
    let device = Device::flex();
    for shape in shapes {
        for &pass in passes {
            for source in SourceKind::ALL {
                if source == SourceKind::Given && shape.exemplar_weight_bytes() > MOST_STORED_BYTES
                {
                    continue;
                }
                let prepare = || Runner::ours(shape, source, pass, &device);
                row(measure, table, DEVICE, source.name(), shape, pass, prepare);
            }
            let prepare = || Runner::burn(shape, pass, &device);
            row(measure, table, DEVICE, BURN, shape, pass, prepare);
        }
    }
}

/// Measures one layer and adds its row, if there is time.
pub fn row(
    measure: &mut Measure,
    table: &mut Table,
    device: &'static str,
    source: &'static str,
    shape: &Shape,
    pass: Pass,
    prepare: impl FnOnce() -> Runner,
) {
    let id = format!("{device} {source} {} {}", shape.name, pass.name());
    if let Some(milliseconds) = measure.milliseconds(&id, prepare, Runner::run) {
        let row = Row::timed(shape.op(), source, device, shape, pass, milliseconds);
        table.rows.push(row);
    }
}

/// Normals on one core, into a buffer that stays in its cache.
fn noise(measure: &mut Measure, table: &mut Table) {
    const COUNT: usize = 1 << 16;
    let key = NoiseKey::default();
    let prepare = || std::cell::RefCell::new(vec![0.0; COUNT]);
    let run = |out: &std::cell::RefCell<Vec<f32>>| {
        fill_normals(&key, 0, 0, &mut out.borrow_mut());
        std::hint::black_box(out);
    };
    if let Some(milliseconds) = measure.milliseconds("cpu normals on one core", prepare, run) {
        let nanoseconds = milliseconds * 1e6 / COUNT as f64;
        let figures = [("ns_per_normal", nanoseconds)];
        let mut row = Row::figures(
            "fill_normals",
            "gaussian",
            DEVICE,
            format!("{COUNT} elements"),
            figures,
        );
        row.milliseconds = Some(milliseconds);
        table.rows.push(row);
    }
}
