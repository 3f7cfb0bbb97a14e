//! What a device can do, and which kernels suit it.

use bayesadapter_shaders::kernels::Variant;
use burn_wgpu::CubeTensor;
use cubecl::client::Client;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// Which kernels run on wgpu devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelVariant {
    /// By adapter: Mesa's software adapter gets its own. The environment may decide otherwise, see
    /// [`kernels_from_environment`].
    #[default]
    Auto,
    /// Tiles in workgroup memory, for real GPUs.
    Gpu,
    /// Few and long threads, for adapters that are a CPU.
    Software,
}

impl FromStr for KernelVariant {
    type Err = UnknownKernels;

    fn from_str(name: &str) -> Result<Self, UnknownKernels> {
        match name {
            "" | "auto" => Ok(Self::Auto),
            "gpu" => Ok(Self::Gpu),
            "software" => Ok(Self::Software),
            unknown => Err(UnknownKernels(unknown.to_owned())),
        }
    }
}

/// A name of kernels that there are none of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are no kernels called {0:?}; there are gpu, software and auto")]
pub struct UnknownKernels(pub String);

static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// Overrides the choice of kernels for the whole process, for tests and benchmarks.
pub fn set_kernel_variant(variant: KernelVariant) {
    CHOSEN.store(variant as u8, Ordering::Relaxed);
}

pub(super) fn variant(client: &Client) -> Variant {
    match CHOSEN.load(Ordering::Relaxed) {
        chosen if chosen == KernelVariant::Gpu as u8 => Variant::Gpu,
        chosen if chosen == KernelVariant::Software as u8 => Variant::Software,
        _ => match environment() {
            Ok(KernelVariant::Gpu) => Variant::Gpu,
            Ok(KernelVariant::Software) => Variant::Software,
            Ok(KernelVariant::Auto) | Err(_) => from_adapter(client),
        },
    }
}

/// The kernels that the environment variable `BAYESADAPTER_KERNELS` asks for (`gpu`, `software` or `auto`),
/// as it was when it was first looked at. An unknown name changes nothing; a program should tell of it,
/// with the name of the variable.
pub fn kernels_from_environment() -> Result<KernelVariant, UnknownKernels> {
    environment().clone()
}

/// Read once: every launch asks.
fn environment() -> &'static Result<KernelVariant, UnknownKernels> {
    static FOUND: OnceLock<Result<KernelVariant, UnknownKernels>> = OnceLock::new();
    FOUND.get_or_init(|| match std::env::var_os("BAYESADAPTER_KERNELS") {
        Some(name) => name.to_string_lossy().parse(),
        None => Ok(KernelVariant::Auto),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_chosen_by_name() {
        for (name, variant) in [
            ("", KernelVariant::Auto),
            ("auto", KernelVariant::Auto),
            ("gpu", KernelVariant::Gpu),
            ("software", KernelVariant::Software),
        ] {
            assert_eq!(name.parse::<KernelVariant>(), Ok(variant));
        }
        let unknown = "sofware".parse::<KernelVariant>();
        assert_eq!(unknown, Err(UnknownKernels("sofware".to_owned())));
    }
}
