//! The system's dialogs, which must not hold up the window.

use super::super::purpose::Purpose;
use rfd::{AsyncFileDialog, FileHandle};
use std::{
    path::{Path, PathBuf},
    pin::Pin,
    task::{Context, Poll, Waker},
};

type Choosing = Pin<Box<dyn Future<Output = Option<FileHandle>>>>;

/// A dialog that is open, if one is, and what was dropped.
#[derive(Default)]
pub struct Dialog {
    open: Option<(Choosing, Purpose)>,
    dropped: Vec<PathBuf>,
}

impl Dialog {
    /// Asks for a path. One at a time.
    pub fn ask(&mut self, purpose: Purpose, start: &Path) {
        if !self.is_open() {
            self.open = Some((choosing(&purpose, start), purpose));
        }
    }

    /// Takes up what was dropped on the window.
    pub fn take(&mut self, dropped: &egui::DroppedFileHandle) {
        self.dropped.push(dropped.path().to_owned());
    }

    /// What was dropped since the last call.
    pub fn dropped(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.dropped)
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The choice, once it is made. The window asks in every frame, so nobody needs to be woken.
    pub fn poll(&mut self) -> Option<(Purpose, PathBuf)> {
        let (choosing, _) = self.open.as_mut()?;
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(handle) = choosing.as_mut().poll(&mut context) else {
            return None;
        };
        let (_, purpose) = self.open.take()?;
        Some((purpose, handle?.path().to_owned()))
    }
}

fn choosing(purpose: &Purpose, start: &Path) -> Choosing {
    let titled = |title: &str| AsyncFileDialog::new().set_title(title);
    let posterior = |title| titled(title).add_filter("Posterior files", &["safetensors"]);
    match purpose {
        Purpose::Posterior => Box::pin(posterior("Open a posterior file").pick_file()),
        Purpose::ComparePosterior => Box::pin(posterior("Compare a posterior file").pick_file()),
        Purpose::RunsFolder => {
            let dialog = titled("Folder of the runs").set_directory(start);
            Box::pin(dialog.pick_folder())
        }
        Purpose::Run => Box::pin(
            titled("Open a run folder")
                .set_directory(start)
                .pick_folder(),
        ),
        Purpose::CompareRun => {
            let dialog = titled("Compare a run folder").set_directory(start);
            Box::pin(dialog.pick_folder())
        }
        Purpose::Settings => {
            let dialog = titled("Open a run file").add_filter("Run files", &["toml"]);
            Box::pin(dialog.pick_file())
        }
        Purpose::Weights => {
            let endings = ["pt", "pth", "th", "ckpt", "safetensors", "bpk"];
            let dialog = titled("Pre-trained weights").add_filter("Weights", &endings);
            Box::pin(dialog.pick_file())
        }
        Purpose::DataFolder => Box::pin(titled("Folder of pictures").pick_folder()),
        Purpose::DataArchive => {
            let dialog =
                titled("Archive of pictures").add_filter("Archives", &["tar", "gz", "tgz"]);
            Box::pin(dialog.pick_file())
        }
        Purpose::Strangers => Box::pin(titled("Folder of pictures of another kind").pick_folder()),
        Purpose::Save(parcel) => {
            let dialog = titled("Save").set_file_name(&parcel.name);
            Box::pin(dialog.save_file())
        }
    }
}
