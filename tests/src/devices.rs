//! Every device that the tests run on.

use bayesadapter::ops::{KernelVariant, set_kernel_variant};
use burn::tensor::{Device, wgpu::WgpuSetup};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The CPU and the wgpu adapter, by name.
///
/// # Panics
/// Without a wgpu adapter: a test that skipped it would claim what it has not seen.
pub fn devices() -> Vec<(&'static str, Device)> {
    vec![("cpu", Device::flex()), ("wgpu", wgpu())]
}

/// A device, and which kernels it runs.
#[derive(Clone, Debug)]
pub struct Place {
    pub name: &'static str,
    pub device: Device,
    /// None where there is nothing to choose.
    pub kernels: Option<KernelVariant>,
}

impl Place {
    /// Works with these kernels. They are chosen per process, so the places of an adapter take turns.
    pub fn run(&self, work: impl FnOnce()) {
        static TURN: Mutex<()> = Mutex::new(());
        let Some(kernels) = self.kernels else {
            return work();
        };
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        set_kernel_variant(kernels);
        work();
        set_kernel_variant(KernelVariant::Auto);
    }
}

/// The CPU, and the wgpu adapter with the kernels of software adapters and with those of real ones.
pub fn places() -> [Place; 3] {
    let place = |name, device, kernels| Place {
        name,
        device,
        kernels,
    };
    [
        place("cpu", Device::flex(), None),
        place("wgpu", wgpu(), Some(KernelVariant::Software)),
        place("wgpu tiles", wgpu(), Some(KernelVariant::Gpu)),
    ]
}

/// The wgpu adapter, software or not. See [`devices`] for what happens without one.
pub fn wgpu() -> Device {
    initialised().0.clone()
}

/// The handles behind [`wgpu`], from which further devices with their own allocators can be made.
pub fn wgpu_setup() -> WgpuSetup {
    initialised().1.clone()
}

/// Burn refuses to initialise one adapter twice in a process, and tests run side by side.
fn initialised() -> &'static (Device, WgpuSetup) {
    static WGPU: OnceLock<(Device, WgpuSetup)> = OnceLock::new();
    WGPU.get_or_init(|| match Device::wgpu_options().init_with_setup() {
        Ok(found) => found,
        Err(error) => panic!(
            "no wgpu adapter ({error}): install a Vulkan driver, for example the software one of mesa-vulkan-drivers"
        ),
    })
}
