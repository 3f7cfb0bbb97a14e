//! One GPU device for drawing and computing, so that neither holds memory that the other could use.
//!
//! Only on a real GPU: an adapter in software draws, but the CPU's own kernels compute faster than it.

use crate::{cli::devices, device::Named};
use burn::tensor::{Device, wgpu::WgpuSetup as Shared};
use eframe::egui_wgpu::{RenderState, WgpuSetup};
use std::sync::Arc;
use wgpu::{Adapter, DeviceDescriptor, DeviceType, Features};

/// Whether a device of this kind is worth sharing.
pub fn is_gpu(kind: DeviceType) -> bool {
    kind != DeviceType::Cpu
}

/// Lets the window open its device with all that kernels need, on adapters of a kind that is shared.
pub fn ask_for(setup: &mut WgpuSetup, is_shared: fn(DeviceType) -> bool) {
    let WgpuSetup::CreateNew(setup) = setup else {
        return;
    };
    let usual = Arc::clone(&setup.device_descriptor);
    setup.device_descriptor =
        Arc::new(
            move |adapter| match is_shared(adapter.get_info().device_type) {
                true => for_kernels(adapter),
                false => usual(adapter),
            },
        );
}

/// Everything that the adapter has. Left out is what wgpu makes no promises of, and what slows down every buffer.
fn for_kernels(adapter: &Adapter) -> DeviceDescriptor<'static> {
    let without = Features::MAPPABLE_PRIMARY_BUFFERS | Features::all_experimental_mask();
    DeviceDescriptor {
        label: Some("window and kernels"),
        required_features: adapter.features() - without,
        required_limits: adapter.limits(),
        ..Default::default()
    }
}

/// The device that the window is drawn by, for kernels; nothing where it is not shared.
pub fn of(state: &RenderState, is_shared: fn(DeviceType) -> bool) -> Option<Named> {
    let info = state.adapter.get_info();
    if !is_shared(info.device_type) {
        return None;
    }
    let shared = Shared {
        instance: state.instance.clone(),
        adapter: state.adapter.clone(),
        device: state.device.clone(),
        queue: state.queue.clone(),
        backend: info.backend,
    };
    // Where it cannot be shared, a device of its own computes.
    let device = Device::wgpu_options().setup(shared).init().ok()?;
    Some(devices::named(device, &info))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use burn::tensor::{Distribution, Tensor};
    use egui_kittest::wgpu::{create_render_state, default_wgpu_setup};

    pub fn render_state(is_shared: fn(DeviceType) -> bool) -> RenderState {
        let mut setup = default_wgpu_setup();
        ask_for(&mut setup, is_shared);
        create_render_state(setup, Default::default())
    }

    #[test]
    fn gpus_are_shared_and_software_is_not() {
        for kind in [
            DeviceType::DiscreteGpu,
            DeviceType::IntegratedGpu,
            DeviceType::VirtualGpu,
            DeviceType::Other,
        ] {
            assert!(is_gpu(kind), "{kind:?}");
        }
        assert!(!is_gpu(DeviceType::Cpu));
        let state = render_state(|_| false);
        assert!(of(&state, |_| false).is_none());
        // The window asks for what it always did.
        assert!(state.device.limits().max_texture_dimension_2d <= 8192);
    }

    #[test]
    fn kernels_compute_on_the_device_that_draws() {
        let state = render_state(|_| true);
        assert_eq!(state.device.limits(), state.adapter.limits());
        let shared = of(&state, |_| true).unwrap();
        assert!(shared.name.contains(&state.adapter.get_info().name));
        let cpu = Device::flex();
        let [a, b] =
            [[5, 7], [7, 3]].map(|shape| Tensor::<2>::random(shape, Distribution::Default, &cpu));
        let expected = a.clone().matmul(b.clone()).into_data();
        let moved = |tensor: Tensor<2>| Tensor::<2>::from_data(tensor.into_data(), &shared.device);
        let found = moved(a).matmul(moved(b)).into_data();
        let [found, expected] = [found, expected].map(|data| data.try_to_vec::<f32>().unwrap());
        assert_eq!(found.len(), 15);
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{found} and {expected}");
        }
    }
}
