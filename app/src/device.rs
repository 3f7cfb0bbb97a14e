//! What computes.

use burn::tensor::Device;

/// A device with the name a person knows it by.
#[derive(Clone)]
pub struct Named {
    pub name: String,
    pub device: Device,
    /// Whether the device is made for this: a GPU, or the CPU by its own kernels, not a GPU in software.
    #[cfg_attr(
        target_family = "wasm",
        expect(dead_code, reason = "a page chooses before it opens an adapter")
    )]
    pub fast: bool,
}
