//! The devices that compute, each opened when it is first needed: opening a GPU takes a moment, and can be done once.

use crate::cli::{
    devices::{self, Named},
    exit::in_words,
};
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
    fn get(&mut self, choice: DeviceChoice) -> Result<&Named> {
        let choice = match choice {
            DeviceChoice::Auto => match self.get(DeviceChoice::Gpu) {
                Ok(gpu) if gpu.fast => DeviceChoice::Gpu,
                _ => DeviceChoice::Cpu,
            },
            choice => choice,
        };
        let known = self.0.iter().position(|(opened, _)| *opened == choice);
        let at = known.unwrap_or_else(|| {
            let named = devices::choose(choice).map_err(|error| in_words(&error));
            self.0.push((choice, named));
            self.0.len() - 1
        });
        self.0[at]
            .1
            .as_ref()
            .map_err(|error| anyhow!(error.clone()))
    }
}

impl Computer {
    /// Does something with the device that is best here, which is opened before if need be.
    pub fn with<T>(&self, use_it: impl FnOnce(&Named) -> T) -> Result<T> {
        self.with_choice(DeviceChoice::Auto, use_it)
    }

    /// The same with a device of the user's choice.
    pub fn with_choice<T>(
        &self,
        choice: DeviceChoice,
        use_it: impl FnOnce(&Named) -> T,
    ) -> Result<T> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        opened.get(choice).map(use_it)
    }

    /// Every choice that there is here, with the name of its device.
    pub fn list(&self) -> Vec<(DeviceChoice, String)> {
        use DeviceChoice::{Auto, Cpu, Gpu, NthGpu};
        let named = |choice| {
            let name = self.with_choice(choice, |named| named.name.clone()).ok()?;
            Some((choice, name))
        };
        let usual = [Auto, Cpu, Gpu].into_iter().filter_map(named);
        let discrete = (0..).map(NthGpu).map_while(named);
        usual.chain(discrete).collect()
    }
}
