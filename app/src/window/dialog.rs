//! The system's dialogs, which must not hold up the window.

use super::news::Wish;
use std::{
    path::{Path, PathBuf},
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// The dialog that is open, and what its answer is.
type Open = (
    Pin<Box<dyn Future<Output = Option<rfd::FileHandle>>>>,
    fn(PathBuf) -> Chosen,
);

/// What a dialog chose.
pub enum Chosen {
    File(PathBuf),
    Folder(PathBuf),
}

/// A dialog that is open, if one is.
#[derive(Default)]
pub struct Dialog {
    open: Option<Open>,
}

impl Dialog {
    /// Asks for a posterior file, or a folder. One at a time.
    pub fn ask(&mut self, wish: &Wish, start: &Path) {
        if self.is_open() {
            return;
        }
        let dialog = rfd::AsyncFileDialog::new();
        self.open = match wish {
            Wish::ChooseFile => {
                let dialog = dialog
                    .set_title("Open a posterior file")
                    .add_filter("Posterior files", &["safetensors"]);
                Some((Box::pin(dialog.pick_file()), Chosen::File))
            }
            Wish::ChooseFolder => {
                let dialog = dialog.set_title("Folder of the runs").set_directory(start);
                Some((Box::pin(dialog.pick_folder()), Chosen::Folder))
            }
            _ => None,
        };
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The choice, once it is made. The window asks in every frame, so nobody needs to be woken.
    pub fn poll(&mut self) -> Option<Chosen> {
        let (choosing, kind) = self.open.as_mut()?;
        let mut context = Context::from_waker(Waker::noop());
        match choosing.as_mut().poll(&mut context) {
            Poll::Pending => None,
            Poll::Ready(handle) => {
                let kind = *kind;
                self.open = None;
                handle.map(|handle| kind(handle.path().to_owned()))
            }
        }
    }
}
