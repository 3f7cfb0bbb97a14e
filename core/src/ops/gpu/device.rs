//! What a device can do, and which kernels suit it.

use bayesadapter_shaders::kernels::Variant;
use burn_wgpu::CubeTensor;
use cubecl::client::Client;
use std::sync::atomic::{AtomicU8, Ordering};

/// Which kernels run on wgpu devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelVariant {
    /// By adapter: Mesa's software adapter gets its own. `BAYESADAPTER_KERNELS=gpu|software` decides
    /// otherwise.
    #[default]
    Auto,
    /// Tiles in workgroup memory, for real GPUs.
    Gpu,
    /// Few and long threads, for adapters that are a CPU.
    Software,
}

static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// Overrides the choice of kernels for the whole process, for tests and benchmarks.
pub fn set_kernel_variant(variant: KernelVariant) {
    CHOSEN.store(variant as u8, Ordering::Relaxed);
}

pub(super) fn variant(client: &Client) -> Variant {
    match CHOSEN.load(Ordering::Relaxed) {
        chosen if chosen == KernelVariant::Gpu as u8 => Variant::Gpu,
        chosen if chosen == KernelVariant::Software as u8 => Variant::Software,
        _ => from_environment().unwrap_or_else(|| from_adapter(client)),
    }
}

fn from_environment() -> Option<Variant> {
    match std::env::var("BAYESADAPTER_KERNELS").ok()?.as_str() {
        "gpu" => Some(Variant::Gpu),
        "software" => Some(Variant::Software),
        _ => None,
    }
}

fn from_adapter(client: &Client) -> Variant {
    match is_software(client) {
        true => Variant::Software,
        false => Variant::Gpu,
    }
}

/// Whether the adapter is known to be a CPU. Browsers do not tell what is behind an adapter. Their software
/// adapter is better served by the short kernels too: it takes minutes to compile the unrolled ones.
fn is_software(client: &Client) -> bool {
    !cfg!(target_family = "wasm") && client.properties().identity.physical.is_none()
}

/// Whether a device is an adapter that computes on the CPU.
pub(in crate::ops) fn is_software_adapter(
    device: &<CubeTensor as burn::backend::TensorMetadata>::Device,
) -> bool {
    is_software(&device.client())
}

/// The most bytes that one tensor may take, where the device takes WGSL at all.
///
/// A cube device may be CUDA, ROCm, or a wgpu device that compiles to SPIR-V or MSL and refuses WGSL.
pub(in crate::ops) fn binding_limit(
    device: &<CubeTensor as burn::backend::TensorMetadata>::Device,
) -> Option<u64> {
    let client = device.client();
    (client.name() == "wgpu<wgsl>").then(|| client.properties().memory.max_page_size)
}
