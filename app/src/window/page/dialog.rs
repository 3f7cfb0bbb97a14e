//! Files that the user chooses or drops. A page gets their content, and puts it under their names in its memory.

use super::{super::purpose::Purpose, browser};
use bayesadapter::disk;
use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    rc::Rc,
};
use wasm_bindgen_futures::spawn_local;

/// The folder of files that come from outside.
const FROM_OUTSIDE: &str = "files";

#[derive(Default)]
struct Shared {
    /// Files that are chosen or read at this moment.
    awaited: usize,
    chosen: Vec<(Purpose, PathBuf)>,
    dropped: Vec<PathBuf>,
}

/// A dialog that is open, if one is, and what was dropped.
#[derive(Default)]
pub struct Dialog(Rc<RefCell<Shared>>);

impl Dialog {
    /// Asks for a file or folder. What is to be saved goes where the browser puts downloads.
    pub fn ask(&mut self, purpose: Purpose, _: &Path) {
        if let Purpose::Save(parcel) = &purpose {
            let path = PathBuf::from(&parcel.name);
            self.0.borrow_mut().chosen.push((purpose, path));
            return;
        }
        let folder = matches!(
            purpose,
            Purpose::RunsFolder
                | Purpose::Run
                | Purpose::DataFolder
                | Purpose::Strangers
                | Purpose::CompareRun
        );
        let shared = self.begin();
        spawn_local(async move {
            let mut paths = Vec::new();
            for picked in browser::choose(folder).await {
                paths.push(put(&picked.name(), picked.bytes()));
            }
            let first = paths.into_iter().next();
            // Of a folder all files were chosen; the first part of their names is the folder's.
            let path = match folder {
                false => first,
                true => first.map(|path| path.components().take(2).collect()),
            };
            let mut shared = shared.borrow_mut();
            shared.awaited -= 1;
            shared.chosen.extend(path.map(|path| (purpose, path)));
        });
    }

    /// Takes up what was dropped on the page.
    pub fn take(&mut self, dropped: &egui::DroppedFileHandle) {
        let (shared, dropped) = (self.begin(), dropped.clone());
        spawn_local(async move {
            let content = dropped.bytes_async().await;
            let path = put(&dropped.path().display().to_string(), content.ok());
            let mut shared = shared.borrow_mut();
            shared.awaited -= 1;
            shared.dropped.push(path);
        });
    }

    fn begin(&self) -> Rc<RefCell<Shared>> {
        self.0.borrow_mut().awaited += 1;
        Rc::clone(&self.0)
    }

    /// What was dropped since the last call.
    pub fn dropped(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0.borrow_mut().dropped)
    }

    pub fn is_open(&self) -> bool {
        let shared = self.0.borrow();
        shared.awaited > 0 || !shared.chosen.is_empty() || !shared.dropped.is_empty()
    }

    /// The choice, once it is made.
    pub fn poll(&mut self) -> Option<(Purpose, PathBuf)> {
        self.0.borrow_mut().chosen.pop()
    }
}

/// Puts a file into memory. One whose content the browser refused is missing when it is read.
fn put(name: &str, content: Option<Vec<u8>>) -> PathBuf {
    let path = Path::new(FROM_OUTSIDE).join(name);
    if let Some(content) = content {
        disk::put(path.clone(), content);
    }
    path
}
