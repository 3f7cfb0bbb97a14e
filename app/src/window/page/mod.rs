//! What the window needs of a browser: tasks instead of threads, memory instead of a disk, the browser's dialogs.
//!
//! The module `native` has the same for a computer; the rest of the window is the same on both.

mod browser;
mod computer;
mod dialog;
mod foot;
mod gpu;
mod host;
mod open;
mod outline;
mod rescue;
mod runner;
mod task;
mod thread;
mod wire;
mod worker;

pub use computer::Computer;
pub use dialog::Dialog;
pub use foot::foot;
pub use gpu::webgpu;
pub use host::Host;
pub use open::{Page, give, has_saved, open, rescue};
pub use runner::Runner;
pub use task::{OwnPace, Task};
pub use thread::obey;
pub use worker::Worker;

use super::Window;
use crate::{
    demo,
    device::Named,
    report::{self, Report},
};
use anyhow::{Context, Result};
use bayesadapter::{disk, session::Method};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// How far apart the frames are that show news, and that wait for a dialog. Where the browser draws by software, they
/// take much of a processor, so they are rarer than on a computer.
pub const LOOK: Duration = Duration::from_millis(100);

/// Whether there are folders that the user can look into.
pub const HAS_FOLDERS: bool = false;

/// Weights of a network that is looked at while its name is typed: a page has 4 GB at most.
pub const MOST_WEIGHTS: usize = 100_000_000;

/// What the demo does, and what it takes.
pub const ABOUT_DEMO: &str = "Makes a small network Bayesian that was trained on 445 handwritten digits, and shows \
    scribbles to it.\nIt learns in this tab; a GPU is not needed.";

/// The folder of the demo's runs that come with the page.
const DEMO: &str = "demo";

/// Where the folders of runs go.
pub fn usual_place() -> PathBuf {
    PathBuf::from("runs")
}

/// What a demo of `method` in this folder can start from: the ordinary training, which comes with the page, and what that
/// is worth, which the run need not find out again.
pub fn prepare_demo(folder: &Path, method: Method) {
    let given = demo::run_folder(Path::new(DEMO), Method::Map);
    let map = demo::run_folder(folder, Method::Map);
    for (path, bytes) in disk::below(&given) {
        if let Ok(name) = path.strip_prefix(&given) {
            disk::put(map.join(name), bytes);
        }
    }
    put_judgement_of_map(folder, method);
}

/// What the ordinary network of the demo is worth, in the run of a method, which came without it.
fn put_judgement_of_map(folder: &Path, method: Method) {
    let judged = Path::new("evaluations").join("map.json");
    let given = demo::run_folder(Path::new(DEMO), Method::Map).join(&judged);
    if let Ok(bytes) = disk::shared(&given) {
        disk::put(demo::run_folder(folder, method).join(&judged), bytes);
    }
}

/// Gives the user a file.
pub fn deliver(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    browser::download(&name.to_string_lossy(), bytes);
    Ok(())
}

/// A chart as a PNG file, by the browser, which can draw it: a library for that would be a thirtieth of the download.
pub async fn png(svg: &str) -> Result<Vec<u8>> {
    let png = browser::png(svg, report::PICTURE_SCALE).await;
    png.context("the browser cannot make a picture of the chart; save it as SVG")
}

/// Gives the user the report of a run.
pub fn deliver_report(report: &Report, _: &Path) -> Result<PathBuf> {
    let path = PathBuf::from("report.html");
    deliver(&path, report::html(report)?.as_bytes())?;
    Ok(path)
}

/// A thread of a page has no priority; what takes long in the page's own gives way at every step.
pub fn give_way(_: &Named) {}

/// A page begins anew every time.
pub fn remember(_: &Window, _: &mut dyn eframe::Storage) {}
