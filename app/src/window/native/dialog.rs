//! The system's dialogs, which must not hold up the window.

use super::super::purpose::Purpose;
use rfd::{AsyncFileDialog, FileHandle};
use std::{
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

type Choosing = Pin<Box<dyn Future<Output = Option<FileHandle>>>>;

/// A dialog that is gone sooner than a hand could close it was never there. The system does not tell the two apart.
const SOONEST_CANCEL: Duration = Duration::from_millis(300);

const IMPOSSIBLE: &str = "No file dialog can be opened here. On Linux, install xdg-desktop-portal with a backend of \
    your desktop, or zenity. What is to be opened can also be dropped on the window";

/// A dialog that is open, if one is, and what was dropped.
#[derive(Default)]
pub struct Dialog {
    open: Option<Open>,
    dropped: Vec<PathBuf>,
}

struct Open {
    choosing: Choosing,
    purpose: Purpose,
    /// When it was first looked at, which is when it opens.
    since: Option<Instant>,
    ended: Arc<Ended>,
}

/// When the dialog was closed: frames may be far apart.
#[derive(Default)]
struct Ended(Mutex<Option<Instant>>);

impl Wake for Ended {
    fn wake(self: Arc<Self>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

impl Dialog {
    /// Asks for a path. One at a time.
    pub fn ask(&mut self, purpose: Purpose, start: &Path) {
        if !self.is_open() {
            self.wait_for(choosing(&purpose, start), purpose);
        }
    }

    /// Waits for a choice.
    pub fn wait_for(&mut self, choosing: Choosing, purpose: Purpose) {
        self.open = Some(Open {
            choosing,
            purpose,
            since: None,
            ended: Arc::default(),
        });
    }

    /// Takes up what was dropped on the window.
    pub fn take(&mut self, dropped: &[egui::DroppedFileHandle]) {
        let paths = dropped.iter().map(|file| file.path().to_owned());
        self.dropped.extend(paths);
    }

    /// What was dropped since the last call.
    pub fn dropped(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.dropped)
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The choice, once it is made; nothing if it was called off. The window asks in every frame.
    ///
    /// # Errors
    ///
    /// What to do where there are no dialogs.
    pub fn poll(&mut self) -> Result<Option<(Purpose, PathBuf)>, String> {
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let since = *open.since.get_or_insert_with(Instant::now);
        let waker = Waker::from(Arc::clone(&open.ended));
        let mut context = Context::from_waker(&waker);
        let Poll::Ready(handle) = open.choosing.as_mut().poll(&mut context) else {
            return Ok(None);
        };
        let ended = *open.ended.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = ended.unwrap_or_else(Instant::now) - since > SOONEST_CANCEL;
        let asked = self.open.take().map(|open| open.purpose);
        match handle {
            None if !seen => Err(IMPOSSIBLE.to_owned()),
            handle => Ok(asked.zip(handle.map(PathBuf::from))),
        }
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
        Purpose::JudgeOn(_) => Box::pin(titled("Folder of pictures to judge by").pick_folder()),
        Purpose::Strangers | Purpose::JudgeWith(_) => {
            Box::pin(titled("Folder of pictures of another kind").pick_folder())
        }
        Purpose::Save(parcel) => {
            let dialog = titled("Save").set_file_name(&parcel.name);
            Box::pin(dialog.save_file())
        }
    }
}
