//! The devices that compute, each opened when it is first needed: opening a GPU takes a moment, and can be done once.

use super::{adapters::Adapters, shared_device};
use crate::{cli::devices, device::Named};
use anyhow::{Result, anyhow};
use bayesadapter::session::DeviceChoice::{self, Auto, Cpu, Gpu, NthGpu};
use eframe::egui_wgpu::RenderState;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::{Adapter, AdapterInfo, DeviceType};

/// Devices that threads share.
#[derive(Clone, Default)]
pub struct Computer(Arc<Mutex<Devices>>);

#[derive(Default)]
struct Devices {
    /// What there is to open.
    adapters: Adapters,
    /// The number of the adapter that draws the window, if its device computes too.
    shared: Option<usize>,
    /// Every device that was asked for. One that cannot be opened is not tried again.
    opened: Vec<(DeviceChoice, Result<Named, String>)>,
}

impl Devices {
    fn find(&self, choice: DeviceChoice) -> Option<&Result<Named, String>> {
        let found = self.opened.iter().find(|(opened, _)| *opened == choice);
        found.map(|(_, named)| named)
    }

    /// Whether a GPU is there that is no software, as far as is known without opening it.
    fn has_gpu(&self) -> bool {
        match self.find(Gpu) {
            Some(gpu) => gpu.as_ref().is_ok_and(|gpu| gpu.fast),
            None => self.adapters.has_gpu(),
        }
    }

    fn get(&mut self, choice: DeviceChoice) -> Result<Named> {
        let choice = match choice {
            Auto if self.has_gpu() && self.get(Gpu).is_ok_and(|gpu| gpu.fast) => Gpu,
            Auto => Cpu,
            NthGpu(number) if self.shared == Some(number) => Gpu,
            choice => choice,
        };
        let named = self.find(choice).cloned().unwrap_or_else(|| {
            let named = devices::choose(choice).map_err(|error| format!("{error:#}"));
            self.opened.push((choice, named.clone()));
            named
        });
        named.map_err(|error| anyhow!(error))
    }

    fn list(&mut self) -> Vec<(DeviceChoice, String)> {
        let names = self.adapters.names();
        let cpu = self.get(Cpu).map(|cpu| cpu.name).ok();
        let gpu = match self.find(Gpu) {
            Some(opened) => opened.as_ref().map(|gpu| gpu.name.clone()).ok(),
            None => names.first().cloned(),
        };
        let auto = gpu.clone().filter(|_| self.has_gpu());
        let auto = auto.or_else(|| cpu.clone());
        let general = [(Auto, auto), (Cpu, cpu), (Gpu, gpu)];
        let general = general
            .into_iter()
            .filter_map(|(choice, name)| Some((choice, name?)));
        let numbered = names.into_iter().enumerate();
        let numbered = numbered.map(|(number, name)| (NthGpu(number), name));
        general.chain(numbered).collect()
    }
}

impl Computer {
    /// With the device that the window is drawn by, where that is shared, and with the adapters beside it.
    pub fn beside(drawn_by: &RenderState, is_shared: fn(DeviceType) -> bool) -> Self {
        let all = drawn_by.available_adapters.iter().map(Adapter::get_info);
        let all: Vec<AdapterInfo> = all.collect();
        let adapters = Adapters::among(&all);
        let gpu = shared_device::of(drawn_by, is_shared);
        let number = adapters.number(&drawn_by.adapter.get_info());
        let devices = Devices {
            adapters,
            shared: number.filter(|_| gpu.is_some()),
            opened: gpu.map(|gpu| (Gpu, Ok(gpu))).into_iter().collect(),
        };
        Self(Arc::new(Mutex::new(devices)))
    }

    fn lock(&self) -> MutexGuard<'_, Devices> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A device, which is opened before if need be.
    pub async fn device(&self, choice: DeviceChoice) -> Result<Named> {
        self.lock().get(choice)
    }

    /// Every choice that there is here, with the name of its device. None is opened.
    pub async fn list(&self) -> Vec<(DeviceChoice, String)> {
        self.lock().list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::platform::shared_device::tests::render_state;
    use burn::tensor::{Device, read_sync};

    #[test]
    fn listing_devices_opens_none() {
        let state = render_state(|_| false);
        let computer = Computer::beside(&state, |_| false);
        let listed = read_sync(computer.list());
        let choices: Vec<DeviceChoice> = listed.iter().map(|(choice, _)| *choice).collect();
        assert!(
            choices.starts_with(&[Auto, Cpu, Gpu, NthGpu(0)]),
            "{choices:?}"
        );
        let drawing = state.adapter.get_info().name;
        let mut numbered = listed[3..].iter();
        assert!(numbered.any(|(_, name)| name.contains(&drawing)));
        let opened: Vec<DeviceChoice> = computer.lock().opened.iter().map(|one| one.0).collect();
        assert_eq!(opened, [Cpu]);
    }

    #[test]
    fn software_is_not_listed_as_the_usual_choice() {
        let software = Named {
            name: "a GPU in software".to_owned(),
            device: Device::flex(),
            fast: false,
        };
        let mut devices = Devices {
            opened: vec![(Gpu, Ok(software))],
            ..Devices::default()
        };
        let listed = devices.list();
        assert_eq!((listed[0].0, listed[1].0), (Auto, Cpu));
        assert_eq!(listed[0].1, listed[1].1);
    }

    #[test]
    fn nothing_is_opened_to_learn_that_there_is_no_gpu() {
        let computer = Computer::default();
        let chosen = read_sync(computer.device(Auto)).unwrap();
        assert!(chosen.device == Device::flex());
        assert_eq!(computer.lock().opened.len(), 1);
    }

    #[test]
    fn the_adapter_that_draws_is_not_opened_a_second_time() {
        let state = render_state(|_| true);
        let computer = Computer::beside(&state, |_| true);
        let number = computer.lock().shared.unwrap();
        let [one, other] = [Gpu, NthGpu(number)].map(|choice| {
            let device = computer.device(choice);
            read_sync(device).unwrap().device
        });
        assert!(one == other);
        assert_eq!(computer.lock().opened.len(), 1);
    }
}
