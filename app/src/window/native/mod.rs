//! What the window needs of a computer: threads, a disk and the system's dialogs.
//!
//! The module `page` has the same for a browser; the rest of the window is the same on both.

mod computer;
mod dialog;
mod host;
mod open;
mod remembered;
mod task;
mod tour;
mod worker;

pub use computer::Computer;
pub use dialog::Dialog;
pub use host::Host;
pub use open::{open, remember, tour};
pub use task::{OwnPace, Task};
pub use worker::Worker;

use super::Window;
use crate::report::{self, Report};
use anyhow::Result;
use bayesadapter::file::write_atomically;
use std::path::{Path, PathBuf};

/// Whether there are folders that the user can look into.
pub const HAS_FOLDERS: bool = true;

/// Where the folders of runs go if the user does not say.
pub fn usual_place() -> PathBuf {
    std::env::temp_dir().join("bayesadapter")
}

/// What a demo in this folder can start from: nothing, it does everything itself.
pub fn prepare_demo(_: &Path) {}

/// The foot of the window: there is none.
pub fn foot(_: &mut Window, _: &mut egui::Ui) {}

/// Gives the user a file.
pub fn deliver(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(write_atomically(path, bytes)?)
}

/// Gives the user the report of the run in a folder, and returns its path.
pub fn deliver_report(report: &Report, folder: &Path) -> Result<PathBuf> {
    report::write(report, folder)
}
