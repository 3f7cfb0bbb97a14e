//! What can compute here.

use anyhow::Result;
use burn::tensor::Device;

/// A device with the name a person knows it by.
pub struct Named {
    pub name: String,
    pub device: Device,
}

/// The CPU, then the default wgpu adapter where there is one.
pub fn all() -> (Named, Result<Named>) {
    let cpu = Named {
        name: "CPU".into(),
        device: Device::flex(),
    };
    let adapter = Device::wgpu_options()
        .init_with_setup()
        .map(|(device, setup)| {
            let info = setup.adapter.get_info();
            let kind = match info.device_type {
                wgpu::DeviceType::Cpu => "software adapter",
                wgpu::DeviceType::IntegratedGpu => "integrated GPU",
                wgpu::DeviceType::DiscreteGpu => "GPU",
                _ => "adapter",
            };
            Named {
                name: format!("{} ({kind}, {})", info.name, info.backend),
                device,
            }
        });
    (cpu, adapter.map_err(Into::into))
}

/// Prints one line per device.
pub fn list() -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("cpu  {threads} threads");
    match all().1 {
        Ok(adapter) => println!("gpu  {}", adapter.name),
        Err(error) => println!("gpu  none: {error}"),
    }
    Ok(())
}
