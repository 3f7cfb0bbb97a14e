//! What the window needs of a browser: tasks instead of threads, memory instead of a disk, the browser's dialogs.
//!
//! The module `native` has the same for a computer; the rest of the window is the same on both.

mod browser;
mod computer;
mod dialog;
mod foot;
mod host;
mod open;
mod outline;
mod task;
mod worker;

pub use computer::Computer;
pub use dialog::Dialog;
pub use foot::foot;
pub use host::Host;
pub use open::{Page, give, open};
pub use task::{OwnPace, Task};
pub use worker::Worker;

use super::Window;
use crate::{
    demo,
    report::{self, Report},
};
use anyhow::Result;
use bayesadapter::{disk, session::Method};
use std::path::{Path, PathBuf};

/// Whether there are folders that the user can look into.
pub const HAS_FOLDERS: bool = false;

/// The folder of the demo's runs that come with the page.
const DEMO: &str = "demo";

/// Where the folders of runs go.
pub fn usual_place() -> PathBuf {
    PathBuf::from("runs")
}

/// What a demo in this folder can start from: the ordinary training, which comes with the page.
pub fn prepare_demo(folder: &Path) {
    let given = demo::run_folder(Path::new(DEMO), Method::Map);
    let map = demo::run_folder(folder, Method::Map);
    for (path, bytes) in disk::below(&given) {
        if let Ok(name) = path.strip_prefix(&given) {
            disk::put(map.join(name), bytes);
        }
    }
}

/// Gives the user a file.
pub fn deliver(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    browser::download(&name.to_string_lossy(), bytes);
    Ok(())
}

/// Gives the user the report of a run.
pub fn deliver_report(report: &Report, _: &Path) -> Result<PathBuf> {
    let path = PathBuf::from("report.html");
    deliver(&path, report::html(report)?.as_bytes())?;
    Ok(path)
}

/// A page begins anew every time.
pub fn remember(_: &Window, _: &mut dyn eframe::Storage) {}
