//! What can compute here.

use super::ops;
pub use crate::device::Named;
use anyhow::{Result, anyhow};
use bayesadapter::session::DeviceChoice;
use burn::tensor::{Device, DeviceKind};
use std::process::ExitCode;

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

/// An adapter. Each can be opened once in a process.
fn gpu(kind: DeviceKind) -> Result<Named> {
    let options = Device::wgpu_options().device_kind(kind);
    let (device, setup) = options.init_with_setup()?;
    let info = setup.adapter.get_info();
    let kind = match info.device_type {
        wgpu::DeviceType::Cpu => "software adapter",
        wgpu::DeviceType::IntegratedGpu => "integrated GPU",
        wgpu::DeviceType::DiscreteGpu => "GPU",
        _ => "adapter",
    };
    Ok(Named {
        name: format!("{} ({kind}, {})", info.name, info.backend),
        device,
        fast: info.device_type != wgpu::DeviceType::Cpu,
    })
}

/// The device that the user chose.
pub fn choose(choice: DeviceChoice) -> Result<Named> {
    let kind = match choice {
        DeviceChoice::Cpu => return Ok(cpu()),
        DeviceChoice::Auto => {
            let preferred = gpu(DeviceKind::DefaultDevice).ok();
            return Ok(preferred.filter(|gpu| gpu.fast).unwrap_or_else(cpu));
        }
        DeviceChoice::Gpu => DeviceKind::DefaultDevice,
        DeviceChoice::NthGpu(number) => DeviceKind::DiscreteGpu(number),
    };
    gpu(kind).map_err(|error| {
        anyhow!(
            "{choice} cannot be opened ({error}); `bayesadapter devices` lists what there is, and `--device cpu` \
             needs no GPU"
        )
    })
}

/// Prints one line per device, under the name that `--device` takes.
pub fn list(check: bool) -> Result<ExitCode> {
    let (cpu, preferred) = all();
    println!("cpu    {}", cpu.name);
    match &preferred {
        Ok(adapter) => println!("gpu    {}", adapter.name),
        Err(error) => println!("gpu    none: {error}"),
    }
    let discrete =
        (0..).map_while(|number| Some((number, gpu(DeviceKind::DiscreteGpu(number)).ok()?)));
    for (number, adapter) in discrete {
        println!("gpu:{number}  {}", adapter.name);
    }
    let auto = preferred
        .as_ref()
        .ok()
        .filter(|adapter| adapter.fast)
        .unwrap_or(&cpu);
    println!("auto   is {}", auto.name);
    if check && let Ok(adapter) = &preferred {
        ops::check(adapter, &cpu.device)?;
    }
    Ok(ExitCode::SUCCESS)
}
