//! The adapters of this computer, by what they say of themselves: none is opened.

use super::shared_device::is_gpu;
use crate::cli::devices;
use wgpu::{AdapterInfo, Backend, DeviceType};

/// The graphics APIs in the order in which Burn tries them.
const APIS: [Backend; 4] = [Backend::Vulkan, Backend::Metal, Backend::Dx12, Backend::Gl];

/// Adapters that can compute, in the order of `gpu:N`.
#[derive(Default)]
pub struct Adapters(Vec<AdapterInfo>);

impl Adapters {
    /// Of all that there are, those of the API that Burn computes by: the first that has a GPU, else the first that has
    /// anything. GPUs come before software, of which there is one.
    pub fn among(all: &[AdapterInfo]) -> Self {
        let of_api = |api: Backend| all.iter().filter(move |one| one.backend == api).collect();
        let mut found: Vec<Vec<&AdapterInfo>> = APIS.into_iter().map(of_api).collect();
        found.retain(|adapters| !adapters.is_empty());
        let mut by_api = found.iter();
        let best = by_api.find(|adapters| adapters.iter().any(|one| is_gpu(one.device_type)));
        let Some(best) = best.or(found.first()) else {
            return Self::default();
        };
        let of_kind = |kind: DeviceType| best.iter().filter(move |one| one.device_type == kind);
        let kinds = [
            DeviceType::DiscreteGpu,
            DeviceType::IntegratedGpu,
            DeviceType::VirtualGpu,
        ];
        let gpus = kinds.into_iter().flat_map(of_kind);
        let software = of_kind(DeviceType::Cpu).take(1);
        Self(gpus.chain(software).map(|&one| one.clone()).collect())
    }

    /// The number of an adapter.
    pub fn number(&self, info: &AdapterInfo) -> Option<usize> {
        self.0.iter().position(|one| one == info)
    }

    /// Whether the first is a GPU.
    pub fn has_gpu(&self) -> bool {
        let first = self.0.first();
        first.is_some_and(|one| is_gpu(one.device_type))
    }

    /// What people know them by.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(devices::name_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayesadapter::session::DeviceChoice;
    use egui_kittest::wgpu::{create_render_state, default_wgpu_setup};

    fn adapter(name: &str, kind: DeviceType, api: Backend) -> AdapterInfo {
        AdapterInfo {
            name: name.to_owned(),
            ..AdapterInfo::new(kind, api)
        }
    }

    #[test]
    fn gpus_come_before_software_and_one_api_counts() {
        use DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other};
        let all = [
            adapter("slow", Cpu, Backend::Vulkan),
            adapter("slower", Cpu, Backend::Vulkan),
            adapter("small", IntegratedGpu, Backend::Vulkan),
            adapter("large", DiscreteGpu, Backend::Vulkan),
            adapter("large", DiscreteGpu, Backend::Gl),
        ];
        let adapters = Adapters::among(&all);
        let names: Vec<&str> = adapters.0.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["large", "small", "slow"]);
        assert!(adapters.has_gpu());
        assert_eq!(adapters.number(&all[2]), Some(1));
        assert_eq!(adapters.number(&all[4]), None);
        // A GPU of a later API is better than software of the first.
        let all = [
            adapter("slow", Cpu, Backend::Vulkan),
            adapter("large", DiscreteGpu, Backend::Dx12),
        ];
        assert_eq!(Adapters::among(&all).0, [all[1].clone()]);
        let software = &all[..1];
        assert_eq!(Adapters::among(software).0, software);
        assert!(!Adapters::among(software).has_gpu());
        // One that no `gpu:N` names.
        let unknown = [adapter("what", Other, Backend::Gl)];
        assert!(Adapters::among(&unknown).0.is_empty());
    }

    #[test]
    fn adapters_have_the_names_that_they_have_when_they_are_opened() {
        let state = create_render_state(default_wgpu_setup(), Default::default());
        let all = state.available_adapters.iter();
        let all: Vec<AdapterInfo> = all.map(wgpu::Adapter::get_info).collect();
        let names = Adapters::among(&all).names();
        assert!(!names.is_empty());
        for (number, name) in names.into_iter().enumerate() {
            let opened = devices::choose(DeviceChoice::NthGpu(number)).unwrap();
            assert_eq!(opened.name, name);
        }
    }
}
