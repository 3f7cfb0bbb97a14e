//! `cargo bench --bench kernels [-- --quick] [LAYER]`, without `-p`: for one package alone cargo would choose other
//! features of its dependencies, and build them all again.
//!
//! Times every op with every weight source on the CPU device and on the wgpu adapter, PyTorch and
//! Burn's own ways to the same results, and measures memory. Prints a table and writes
//! `bench/kernels.json` in the target directory. Medians after warm-up; measure on a quiet machine.

mod cpu;
mod gpu;
mod layer;
mod measure;
mod memory;
mod shapes;
mod summary;
mod table;
mod torch;
mod traffic;

use bayesadapter_tests::{Counting, idle_share, target_directory, wgpu};
use measure::Measure;
use shapes::{Pass, SourceKind, shapes};
use std::{thread, time::Duration};
use table::{Row, Table};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let (quick, layer) = arguments();
    let directory = target_directory().join("bench");
    let mut shapes = shapes();
    shapes.retain(|shape| shape.name.contains(&layer));
    assert!(!shapes.is_empty(), "no layer has {layer:?} in its name");
    if quick {
        // One weight per example takes a gigabyte there, and seconds to fill.
        shapes.retain(|shape| shape.exemplar_weight_bytes() < 1 << 28);
    }
    let mut table = Table::default();
    memory::measure(&mut table);
    machine(&mut table);
    let mut measure = Measure::new(&directory, quick);
    let seconds = |full: u64, short: u64| Duration::from_secs(if quick { short } else { full });
    measure.allow(seconds(300, 60));
    // The targets speak of training steps.
    let passes = if quick { &Pass::ALL[1..] } else { &Pass::ALL };
    cpu::measure(&mut measure, &mut table, &shapes, passes);
    if torch::available() {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        torch::measure(&mut table, &shapes, threads, if quick { 0.1 } else { 0.7 });
    } else {
        println!("PyTorch cannot be imported: its rows and ratios are left out");
    }
    machine(&mut table);
    // A software adapter takes minutes; every layer has its rows by then.
    measure.allow(seconds(15 * 60, 20));
    gpu::measure(&mut measure, &mut table, &shapes, &wgpu(), quick);
    ratios(&mut table);
    table.rows.extend(traffic::traffic_rows(&shapes));
    table.print();
    summary::summarise(&mut table, &shapes);
    warn_if_busy(&table);
    let file = directory.join("kernels.json");
    table
        .write(&file)
        .expect("the target directory can be written to");
    println!("\nwrote {}", file.display());
}

/// Whether `--quick` was given, and what the layers have in their names. Cargo itself adds `--bench`.
fn arguments() -> (bool, String) {
    let (mut quick, mut layer) = (false, String::new());
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => quick = true,
            "--bench" => {}
            flag if flag.starts_with('-') => {
                panic!("unknown flag {flag}; there is --quick, and a part of a layer's name")
            }
            name => layer = name.to_owned(),
        }
    }
    (quick, layer)
}

/// Notes how much of the machine is ours.
fn machine(table: &mut Table) {
    if let Some(idle) = idle_share() {
        let shape = "at rest".into();
        let row = Row::figures("machine", "", "cpu", shape, [("idle_share", idle)]);
        table.rows.push(row);
    }
}

/// Says so when the machine was not all ours.
fn warn_if_busy(table: &Table) {
    let rows = table.rows.iter().filter(|row| row.op == "machine");
    let idle = rows.fold(1.0, |least: f64, row| least.min(row.ratios["idle_share"]));
    if idle < 0.95 {
        let others = 100.0 * (1.0 - idle);
        println!("\nWARNING: others used {others:.0} % of this machine; the figures mean little");
    }
}

fn ratios(table: &mut Table) {
    use SourceKind::{Gaussian, Given, LowRank, Shared};
    let exemplar = [Given, Gaussian, LowRank];
    // PyTorch's exemplar route draws its weights, as our Gaussian source does and no other.
    table.compare(
        "torch_exemplar",
        cpu::DEVICE,
        &[Gaussian],
        [torch::DEVICE, "gaussian"],
    );
    table.compare(
        "torch_shared",
        cpu::DEVICE,
        &[Shared, Gaussian],
        [torch::DEVICE, "shared"],
    );
    for device in [cpu::DEVICE, gpu::DEVICE] {
        table.compare("own_shared", device, &exemplar, [device, "shared"]);
        table.compare("burn_exemplar", device, &exemplar, [device, cpu::BURN]);
    }
    gpu::shares(table);
}
