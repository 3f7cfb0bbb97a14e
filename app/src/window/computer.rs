//! The device that computes, opened when it is first needed: opening a GPU takes a moment, and can be done once.

use crate::cli::devices::{self, Named};
use anyhow::Result;
use bayesadapter::session::DeviceChoice;
use std::sync::{Arc, Mutex, PoisonError};

/// A device that threads share.
#[derive(Clone, Default)]
pub struct Computer(Arc<Mutex<Option<Named>>>);

impl Computer {
    /// Does something with the device, which is opened before if need be.
    pub fn with<T>(&self, use_it: impl FnOnce(&Named) -> T) -> Result<T> {
        let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if named.is_none() {
            *named = Some(devices::choose(DeviceChoice::Auto)?);
        }
        match &*named {
            Some(named) => Ok(use_it(named)),
            None => anyhow::bail!("no device can be opened"),
        }
    }
}
