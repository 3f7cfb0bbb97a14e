//! What a run saved last, for taking away: while it goes on, after it failed, and after the page failed.

use super::browser;
use bayesadapter::{disk, train::TrainState};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A file that a run left: its posterior, or a state to go on from.
pub struct Saved {
    path: PathBuf,
    bytes: Arc<[u8]>,
}

impl Saved {
    /// The last one, whatever run it is of.
    pub fn last() -> Option<Self> {
        let (path, bytes) = disk::last_written("safetensors")?;
        Some(Self { path, bytes })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the user the posterior. That of a state lies in it, and is not copied: there may be no memory for it.
    pub fn deliver(&self) {
        let posterior = TrainState::posterior_in(&self.bytes).unwrap_or(&self.bytes);
        let name = self.path.file_name().unwrap_or_default();
        browser::download(&name.to_string_lossy(), posterior);
    }
}
