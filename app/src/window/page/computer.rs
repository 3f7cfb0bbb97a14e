//! The device that computes: WebGPU where it is a GPU, else the CPU by WebAssembly's SIMD.

use super::gpu::Gpu;
use crate::device::Named;
use anyhow::{Result, anyhow};
use bayesadapter::session::DeviceChoice;
use burn::tensor::Device;
use std::{cell::Cell, rc::Rc};

/// A device that the tasks of the page share.
#[derive(Clone, Default)]
pub struct Computer(Rc<Cell<DeviceChoice>>);

impl Computer {
    /// A device, which is looked for and opened before if need be. What the user chose at the foot of the page comes
    /// in the place of `Auto`.
    pub async fn device(&self, choice: DeviceChoice) -> Result<Named> {
        let choice = match choice {
            DeviceChoice::Auto => self.choice(),
            choice => choice,
        };
        if choice == DeviceChoice::Cpu {
            return Ok(cpu());
        }
        match (Gpu::look_for(choice != DeviceChoice::Auto).await, choice) {
            (Gpu::Open { name, device, .. }, _) => Ok(Named {
                name: format!("{name} (WebGPU)"),
                device,
                fast: true,
            }),
            (_, DeviceChoice::Auto) => Ok(cpu()),
            (Gpu::Missing(reason), _) => Err(anyhow!("{reason}, or choose the CPU")),
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
        if let Gpu::Open { name, .. } | Gpu::Software(name) = Gpu::now() {
            all.push((DeviceChoice::Gpu, format!("{name} (WebGPU)")));
        }
        all
    }

    pub fn choice(&self) -> DeviceChoice {
        self.0.get()
    }

    /// What a thread is to compute on: one that knows nothing of the GPU yet would open what this page has given up.
    pub fn choice_for_threads(&self) -> DeviceChoice {
        match (Gpu::now(), self.choice()) {
            (Gpu::Missing(_), DeviceChoice::Auto) => DeviceChoice::Cpu,
            (_, choice) => choice,
        }
    }

    /// From now on another device computes; what is open stays on the one it is on.
    pub fn choose(&self, choice: DeviceChoice) {
        self.0.set(choice);
    }

    /// What computes, and what that means.
    pub fn about(&self) -> String {
        match (Gpu::now(), self.choice()) {
            (_, DeviceChoice::Cpu) => "the CPU of this computer, as you chose".to_owned(),
            (Gpu::Unknown | Gpu::Awaited, _) => "…".to_owned(),
            (Gpu::Open { name, software, .. }, _) => match software {
                true => format!("WebGPU: {name}, which is software; the CPU alone is faster"),
                false => format!("WebGPU: {name}, the GPU of this computer"),
            },
            (Gpu::Software(name), _) => {
                format!(
                    "the CPU, since this browser's WebGPU is software itself ({name}) and slower"
                )
            }
            (Gpu::Missing(reason), DeviceChoice::Auto) => {
                format!("the CPU, since {reason}; all works, only slower")
            }
            (Gpu::Missing(reason), _) => format!("nothing: {reason}, or choose the CPU"),
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
