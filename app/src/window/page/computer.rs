//! The device that computes: WebGPU where it is a GPU, else the CPU by WebAssembly's SIMD.

use super::browser;
use crate::device::Named;
use anyhow::{Result, anyhow};
use bayesadapter::session::DeviceChoice;
use burn::tensor::Device;
use std::{cell::RefCell, rc::Rc};

/// A device that the tasks of the page share.
#[derive(Clone, Default)]
pub struct Computer(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    choice: DeviceChoice,
    gpu: Gpu,
}

/// The adapter of the browser, which can be opened once.
#[derive(Clone, Default)]
enum Gpu {
    /// Not looked for yet.
    #[default]
    Unknown,
    /// It is opened, or looked for, by another task.
    Awaited,
    /// There is a GPU in software, which is not opened unless the user asks.
    Software(String),
    Open {
        name: String,
        device: Device,
    },
    /// There is none, and why.
    Missing(String),
}

impl Computer {
    /// A device, which is looked for and opened before if need be. What the user chose at the foot of the page comes
    /// in the place of `Auto`.
    pub async fn device(&self, choice: DeviceChoice) -> Result<Named> {
        let choice = match choice {
            DeviceChoice::Auto => self.choice(),
            choice => choice,
        };
        if choice != DeviceChoice::Cpu {
            self.look_for_gpu(choice != DeviceChoice::Auto).await;
        }
        match (self.gpu(), choice) {
            (_, DeviceChoice::Cpu) => Ok(cpu()),
            (Gpu::Open { name, device }, _) => Ok(Named {
                name: format!("{name} (WebGPU)"),
                device,
                fast: true,
            }),
            (_, DeviceChoice::Auto) => Ok(cpu()),
            (Gpu::Missing(reason), _) => Err(anyhow!("{reason}; choose the CPU")),
            _ => Err(anyhow!("WebGPU is not open; choose the CPU")),
        }
    }

    /// Every choice that there is here, with the name of its device.
    pub async fn list(&self) -> Vec<(DeviceChoice, String)> {
        let mut all = Vec::new();
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu] {
            if let Ok(named) = self.device(choice).await {
                all.push((choice, named.name));
            }
        }
        if let Gpu::Open { name, .. } | Gpu::Software(name) = self.gpu() {
            all.push((DeviceChoice::Gpu, format!("{name} (WebGPU)")));
        }
        all
    }

    /// Opens a GPU; one in software only if `any` is asked for.
    async fn look_for_gpu(&self, any: bool) {
        loop {
            match self.gpu() {
                Gpu::Awaited => browser::rest().await,
                Gpu::Unknown => break,
                Gpu::Software(_) if any => break,
                _ => return,
            }
        }
        self.0.borrow_mut().gpu = Gpu::Awaited;
        let gpu = match browser::adapter().await {
            None => Gpu::Missing("this browser offers no WebGPU".to_owned()),
            Some(adapter) if adapter.software() && !any => Gpu::Software(adapter.name()),
            Some(adapter) => match Device::wgpu_options().init_async().await {
                Ok(device) => {
                    let name = adapter.name();
                    Gpu::Open { name, device }
                }
                Err(error) => Gpu::Missing(format!("WebGPU cannot be used here ({error})")),
            },
        };
        self.0.borrow_mut().gpu = gpu;
    }

    fn gpu(&self) -> Gpu {
        self.0.borrow().gpu.clone()
    }

    pub fn choice(&self) -> DeviceChoice {
        self.0.borrow().choice
    }

    /// From now on another device computes; what is open stays on the one it is on.
    pub fn choose(&self, choice: DeviceChoice) {
        self.0.borrow_mut().choice = choice;
    }

    /// What computes, and what that means.
    pub fn about(&self) -> String {
        match (self.gpu(), self.choice()) {
            (_, DeviceChoice::Cpu) => "the CPU of this computer, as you chose".to_owned(),
            (Gpu::Unknown | Gpu::Awaited, _) => "…".to_owned(),
            (Gpu::Open { name, .. }, _) => format!("WebGPU: {name}"),
            (Gpu::Software(name), _) => {
                format!(
                    "the CPU, since this browser's WebGPU is software itself ({name}) and slower"
                )
            }
            (Gpu::Missing(reason), _) => format!("the CPU, since {reason}; all works, only slower"),
        }
    }
}

fn cpu() -> Named {
    Named {
        name: "CPU by WebAssembly, one thread".to_owned(),
        device: Device::flex(),
        fast: true,
    }
}
