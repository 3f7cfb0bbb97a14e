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

/// The shared step first: what the others keep for later must count as their own.
const SOURCES: [SourceKind; 3] = [
    SourceKind::Shared,
    SourceKind::Gaussian,
    SourceKind::LowRank,
];

/// Bytes of every source, batch and layer.
type Bytes = [[[usize; 2]; 3]; 3];

/// Rows for both devices. Call it before anything else, while no scratch memory is kept.
pub fn measure(table: &mut Table) {
    let each = |bytes: &dyn Fn(SourceKind, &Shape) -> usize| -> Bytes {
        SOURCES.map(|source| {
            BATCHES.map(|batch| Shape::for_memory(batch).map(|shape| bytes(source, &shape)))
        })
    };
    let start = Counting::live();
    let cpu = each(&|source, shape| cpu_peak(source, shape) - start);
    rows(table, cpu::DEVICE, &cpu);
    rows(table, gpu::DEVICE, &each(&gpu_reserved));
}

fn rows(table: &mut Table, device: &'static str, bytes: &Bytes) {
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    for (source, exemplar) in SOURCES.into_iter().zip(bytes).skip(1) {
        let extra = |at: usize, layer: usize| {
            mebibytes(exemplar[at][layer]) - mebibytes(bytes[0][at][layer])
        };
        for (at, batch) in BATCHES.into_iter().enumerate() {
            for (layer, shape) in Shape::for_memory(batch).into_iter().enumerate() {
                let stored = shape.exemplar_weight_bytes();
                let figures = [
                    ("shared_step_mib", mebibytes(bytes[0][at][layer])),
                    ("exemplar_step_mib", mebibytes(exemplar[at][layer])),
                    ("extra_mib", extra(at, layer)),
                    ("growth_mib", extra(at, layer) - extra(0, layer)),
                    ("one_weight_mib", mebibytes(4 * shape.map.weight_len())),
                    ("stored_weights_mib", mebibytes(stored)),
                ];
                let row = Row::figures("peak_memory", source.name(), device, shape.name, figures);
                table.rows.push(row);
            }
        }
    }
}

/// The most bytes that were ever live during one step, inputs included.
fn cpu_peak(source: SourceKind, shape: &Shape) -> usize {
    let runner = Runner::ours(shape, source, Pass::ForwardBackward, &Device::flex());
    let inputs = Counting::live();
    let ((), beyond) = Counting::peak_of(|| runner.run());
    inputs + beyond
}

/// Bytes that a fresh allocator of the adapter holds after one step. With a page per allocation
/// and none given back so soon, that is the peak, up to the rounding of page sizes.
fn gpu_reserved(source: SourceKind, shape: &Shape) -> usize {
    let device = Device::wgpu_options()
        .memory_config(MemoryConfiguration::ExclusivePages)
        .setup(wgpu_setup())
        .init()
        .expect("one more device on the same adapter");
    Runner::ours(shape, source, Pass::ForwardBackward, &device).run();
    let usage = device.memory_pool_usage().expect("wgpu reports its pools");
    usage.bytes_reserved as usize
}
