//! What can compute here.

use super::{Voice, ops};
pub use crate::device::Named;
use anyhow::{Result, anyhow};
use bayesadapter::session::DeviceChoice;
use burn::tensor::{Device, DeviceKind, DeviceType};
use std::process::ExitCode;

/// A device that is not there, or cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{0}; `bayesadapter devices` lists what there is, and `--device cpu` needs no GPU")]
pub struct NoDevice(pub String);

fn cpu() -> Named {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Named {
        name: format!("CPU, {threads} threads"),
        device: Device::flex(),
        fast: true,
    }
}

/// The CPU, then the default wgpu adapter where there is one.
pub fn all() -> (Named, Result<Named>) {
    (cpu(), gpu(DeviceKind::DefaultDevice))
}

/// Every adapter, GPUs before software: the numbers of `gpu:N`.
fn adapters() -> Vec<DeviceKind> {
    let there: Vec<Device> = Device::enumerate(DeviceType::Wgpu).into_iter().collect();
    let kinds: [fn(usize) -> DeviceKind; 3] = [
        DeviceKind::DiscreteGpu,
        DeviceKind::IntegratedGpu,
        DeviceKind::VirtualGpu,
    ];
    let numbered = kinds
        .into_iter()
        .flat_map(|kind| (0..there.len()).map(kind));
    numbered
        .chain([DeviceKind::Cpu])
        .filter(|kind| there.contains(&Device::wgpu(kind.clone())))
        .collect()
}

/// An adapter. Each can be opened once in a process.
fn gpu(kind: DeviceKind) -> Result<Named> {
    let options = Device::wgpu_options().device_kind(kind);
    let (device, setup) = options.init_with_setup()?;
    Ok(named(device, &setup.adapter.get_info()))
}

/// What people know an adapter by.
pub fn name_of(info: &wgpu::AdapterInfo) -> String {
    let kind = match info.device_type {
        wgpu::DeviceType::Cpu => "software adapter",
        wgpu::DeviceType::IntegratedGpu => "integrated GPU",
        wgpu::DeviceType::DiscreteGpu => "GPU",
        _ => "adapter",
    };
    format!("{} ({kind}, {})", info.name, info.backend)
}

/// A device on an adapter, with its name.
pub fn named(device: Device, info: &wgpu::AdapterInfo) -> Named {
    Named {
        name: name_of(info),
        device,
        fast: info.device_type != wgpu::DeviceType::Cpu,
    }
}

/// The device that the user chose.
pub fn choose(choice: DeviceChoice) -> Result<Named> {
    let opened = match choice {
        DeviceChoice::Cpu => return Ok(cpu()),
        DeviceChoice::Auto => {
            let preferred = gpu(DeviceKind::DefaultDevice).ok();
            return Ok(preferred.filter(|gpu| gpu.fast).unwrap_or_else(cpu));
        }
        DeviceChoice::Gpu => gpu(DeviceKind::DefaultDevice),
        DeviceChoice::NthGpu(number) => nth(number),
    };
    opened.map_err(|error| NoDevice(format!("{choice} cannot be opened ({error})")).into())
}

fn nth(number: usize) -> Result<Named> {
    let adapters = adapters();
    match adapters.get(number) {
        Some(kind) => gpu(kind.clone()),
        None => Err(anyhow!("there are {} adapters", adapters.len())),
    }
}

/// Tells every device, under the name that `--device` takes.
pub fn list(check: bool, voice: &Voice) -> Result<ExitCode> {
    let tell = |choice: &str, device: &Named| {
        voice.say(format_args!("{choice:6} {}", device.name));
        voice.json(&serde_json::json!({
            "event": "device",
            "choice": choice,
            "name": device.name,
            "fast": device.fast,
        }));
    };
    let (cpu, preferred) = all();
    tell("cpu", &cpu);
    match &preferred {
        Ok(adapter) => tell("gpu", adapter),
        Err(error) => voice.say(format_args!("gpu    none: {error}")),
    }
    for (number, kind) in adapters().into_iter().enumerate() {
        match gpu(kind) {
            Ok(adapter) => tell(&format!("gpu:{number}"), &adapter),
            Err(error) => voice.warn(&format!("gpu:{number} cannot be opened: {error}")),
        }
    }
    let auto = preferred.as_ref().ok().filter(|adapter| adapter.fast);
    tell("auto", auto.unwrap_or(&cpu));
    if check && let Ok(adapter) = &preferred {
        ops::check(adapter, &cpu.device, voice)?;
    }
    Ok(ExitCode::SUCCESS)
}
