//! Every device that the tests run on.

use burn::tensor::{Device, wgpu::WgpuSetup};
use std::sync::OnceLock;

/// The CPU and the wgpu adapter, by name.
///
/// # Panics
/// Without a wgpu adapter: a test that skipped it would claim what it has not seen.
pub fn devices() -> Vec<(&'static str, Device)> {
    vec![("cpu", Device::flex()), ("wgpu", wgpu())]
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
