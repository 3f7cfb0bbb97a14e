//! The devices that compute, each opened when it is first needed: opening a GPU takes a moment, and can be done once.

use crate::{cli::devices, device::Named};
use anyhow::{Result, anyhow};
use bayesadapter::session::DeviceChoice;
use std::sync::{Arc, Mutex, PoisonError};

/// Devices that threads share.
#[derive(Clone, Default)]
pub struct Computer(Arc<Mutex<Opened>>);

/// Every device that was asked for. One that cannot be opened is not tried again.
#[derive(Default)]
struct Opened(Vec<(DeviceChoice, Result<Named, String>)>);

impl Opened {
    fn get(&mut self, choice: DeviceChoice) -> Result<Named> {
        let choice = match choice {
            DeviceChoice::Auto => match self.get(DeviceChoice::Gpu) {
                Ok(gpu) if gpu.fast => DeviceChoice::Gpu,
                _ => DeviceChoice::Cpu,
            },
            choice => choice,
        };
        let known = self.0.iter().find(|(opened, _)| *opened == choice);
        let named = known.map(|(_, named)| named.clone()).unwrap_or_else(|| {
            let named = devices::choose(choice).map_err(|error| format!("{error:#}"));
            self.0.push((choice, named.clone()));
            named
        });
        named.map_err(|error| anyhow!(error))
    }
}

impl Computer {
    /// With a GPU that is open already, if one is.
    pub fn with(gpu: Option<Named>) -> Self {
        let gpu = gpu.map(|gpu| (DeviceChoice::Gpu, Ok(gpu)));
        Self(Arc::new(Mutex::new(Opened(gpu.into_iter().collect()))))
    }

    /// A device, which is opened before if need be.
    pub async fn device(&self, choice: DeviceChoice) -> Result<Named> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        opened.get(choice)
    }

    /// Every choice that there is here, with the name of its device.
    pub async fn list(&self) -> Vec<(DeviceChoice, String)> {
        use DeviceChoice::{Auto, Cpu, Gpu, NthGpu};
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut named = |choice| Some((choice, opened.get(choice).ok()?.name));
        let mut all: Vec<_> = [Auto, Cpu, Gpu]
            .into_iter()
            .filter_map(&mut named)
            .collect();
        all.extend((0..).map(NthGpu).map_while(named));
        all
    }
}
