//! The GPU of the browser.

use super::browser;
use burn::tensor::{Device, DeviceKind, Tensor, wgpu::WgpuInitError};
use std::cell::{Cell, RefCell};

/// A GPU that was lost so often is not opened again unless the user asks.
const MOST_LOSSES: usize = 3;

/// The adapter of the browser.
#[derive(Clone, Default)]
pub enum Gpu {
    /// Not looked for yet.
    #[default]
    Unknown,
    /// It is opened, or looked for, by another task.
    Awaited,
    /// There is a GPU in software, which is not opened unless the user asks.
    Software(String),
    Open {
        name: String,
        software: bool,
        device: Device,
    },
    /// There is none, and why.
    Missing(String),
}

thread_local! {
    static GPU: RefCell<Gpu> = RefCell::default();
    /// How often it was lost.
    static LOSSES: Cell<usize> = const { Cell::new(0) };
}

impl Gpu {
    /// What is known of it.
    pub fn now() -> Self {
        GPU.with_borrow(Clone::clone)
    }

    /// Opens it if it is not; one in software, or that could not be opened before, only if `any` is asked for.
    pub async fn look_for(any: bool) -> Self {
        loop {
            match Self::now() {
                Self::Awaited => browser::rest().await,
                Self::Unknown => break,
                Self::Software(_) | Self::Missing(_) if any => break,
                known => return known,
            }
        }
        GPU.set(Self::Awaited);
        let found = match browser::adapter().await {
            None => Self::Missing("this browser offers no WebGPU".to_owned()),
            Some(adapter) if adapter.software() && !any => Self::Software(adapter.name()),
            Some(adapter) => match open().await {
                Ok(device) => Self::Open {
                    name: adapter.name(),
                    software: adapter.software(),
                    device,
                },
                Err(error) => Self::Missing(format!("WebGPU cannot be used here ({error})")),
            },
        };
        GPU.set(found.clone());
        found
    }

    /// Whether one that was open answers no more. Then it is looked for anew when it is asked for again.
    pub async fn is_lost() -> bool {
        let Self::Open { name, device, .. } = Self::now() else {
            return false;
        };
        let answer = Tensor::<1>::zeros([1], &device).into_data_async().await;
        if answer.is_err() {
            let losses = LOSSES.get() + 1;
            LOSSES.set(losses);
            GPU.set(match losses < MOST_LOSSES {
                true => Self::Unknown,
                false => Self::Missing(format!("WebGPU ({name}) was lost {losses} times")),
            });
        }
        answer.is_err()
    }
}

/// Opens the GPU. Burn keeps a device for every number for ever, but browsers have one adapter for all of them: another
/// number is a new device.
async fn open() -> Result<Device, WgpuInitError> {
    let kind = DeviceKind::DiscreteGpu(LOSSES.get());
    let options = Device::wgpu_options().device_kind(kind);
    options.init_async().await
}

/// WebGPU, be it software, and its adapter's name.
///
/// # Errors
///
/// A browser without it.
pub async fn webgpu() -> Result<(String, Device), String> {
    match Gpu::look_for(true).await {
        Gpu::Open { name, device, .. } => Ok((name, device)),
        Gpu::Missing(reason) => Err(reason),
        _ => Err("WebGPU is not open".to_owned()),
    }
}
