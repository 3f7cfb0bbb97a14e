//! Peak memory of an exemplar step over a step with one shared weight, as the batch grows.

use crate::{
    cpu, gpu,
    layer::Runner,
    shapes::{Pass, Shape, SourceKind},
    table::{Row, Table},
};
use bayesadapter_tests::{Counting, wgpu_setup};
use burn::tensor::{Device, wgpu::MemoryConfiguration};

const BATCHES: [usize; 3] = [8, 32, 128];

/// Rows for both devices. Call it before anything else, while no scratch memory is kept.
pub fn measure(table: &mut Table) {
    // All shared steps come first: what the exemplar step keeps for later must count as its own.
    let start = Counting::live();
    let cpu = [SourceKind::Shared, SourceKind::Gaussian]
        .map(|source| BATCHES.map(|batch| cpu_peak(source, batch) - start));
    rows(table, cpu::DEVICE, cpu);
    let gpu = [SourceKind::Shared, SourceKind::Gaussian]
        .map(|source| BATCHES.map(|batch| gpu_reserved(source, batch)));
    rows(table, gpu::DEVICE, gpu);
}

fn rows(table: &mut Table, device: &'static str, [shared, exemplar]: [[usize; 3]; 2]) {
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let extra = |at: usize| mebibytes(exemplar[at]) - mebibytes(shared[at]);
    for (at, batch) in BATCHES.into_iter().enumerate() {
        let shape = Shape::for_memory(batch);
        let figures = [
            ("shared_step_mib", mebibytes(shared[at])),
            ("exemplar_step_mib", mebibytes(exemplar[at])),
            ("extra_mib", extra(at)),
            ("growth_mib", extra(at) - extra(0)),
            ("one_weight_mib", mebibytes(4 * shape.map.weight_len())),
            (
                "stored_weights_mib",
                mebibytes(shape.exemplar_weight_bytes()),
            ),
        ];
        let row = Row::figures(
            "peak_memory",
            SourceKind::Gaussian.name(),
            device,
            shape.name,
            figures,
        );
        table.rows.push(row);
    }
}

/// The most bytes that were ever live during one step, inputs included.
fn cpu_peak(source: SourceKind, batch: usize) -> usize {
    let shape = Shape::for_memory(batch);
    let runner = Runner::ours(&shape, source, Pass::ForwardBackward, &Device::flex());
    let inputs = Counting::live();
    let ((), beyond) = Counting::peak_of(|| runner.run());
    inputs + beyond
}

/// Bytes that a fresh allocator of the adapter holds after one step. With a page per allocation
/// and none given back so soon, that is the peak, up to the rounding of page sizes.
fn gpu_reserved(source: SourceKind, batch: usize) -> usize {
    let device = Device::wgpu_options()
        .memory_config(MemoryConfiguration::ExclusivePages)
        .setup(wgpu_setup())
        .init()
        .expect("one more device on the same adapter");
    let shape = Shape::for_memory(batch);
    Runner::ours(&shape, source, Pass::ForwardBackward, &device).run();
    let usage = device.memory_pool_usage().expect("wgpu reports its pools");
    usage.bytes_reserved as usize
}
