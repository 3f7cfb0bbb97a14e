//! What the window needs of a computer: threads, a disk and the system's dialogs.
//!
//! The module `page` has the same for a browser; the rest of the window is the same on both.

mod adapters;
mod computer;
mod dialog;
mod host;
mod open;
mod priority;
mod remembered;
mod shared_device;
mod task;
mod tour;
mod worker;

pub use super::runner::Runner;
pub use computer::Computer;
pub use dialog::Dialog;
pub use host::Host;
#[cfg(test)]
pub use open::recall;
pub use open::{open, remember, tour};
pub use priority::give_way;
pub use task::{OwnPace, Task};
pub use worker::Worker;

use super::Window;
use crate::report::{self, Report};
use anyhow::Result;
use bayesadapter::{file::write_atomically, session::Method};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// What the demo does, and what it takes.
pub const ABOUT_DEMO: &str = "Trains a small network on 445 handwritten digits, makes it Bayesian, and shows scribbles \
    to it.\nAbout a minute, no download, no GPU needed.";

/// How far apart the frames are that show news, and that wait for a dialog.
pub const LOOK: Duration = Duration::from_millis(50);

/// Whether there are folders that the user can look into.
pub const HAS_FOLDERS: bool = true;

/// Weights of a network that is looked at while its name is typed.
pub const MOST_WEIGHTS: usize = 1_000_000_000;

/// What the system knows the program by.
const APP: &str = "bayesadapter";

/// Where the folders of runs go if the user does not say: among the user's data, where they stay.
pub fn usual_place() -> PathBuf {
    let kept = eframe::storage_dir(APP).map(|folder| folder.join("runs"));
    kept.unwrap_or_else(|| std::env::temp_dir().join(APP))
}

/// What a demo in this folder can start from: nothing, it does everything itself.
pub fn prepare_demo(_: &Path, _: Method) {}

/// The foot of the window: there is none.
pub fn foot(_: &mut Window, _: &mut egui::Ui) {}

/// Gives the user a file.
pub fn deliver(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(write_atomically(path, bytes)?)
}

/// A chart as a PNG file.
pub async fn png(svg: &str) -> Result<Vec<u8>> {
    report::png(svg, report::PICTURE_SCALE)
}

/// Gives the user the report of the run in a folder, and returns its path.
pub fn deliver_report(report: &Report, folder: &Path) -> Result<PathBuf> {
    report::write(report, folder)
}
