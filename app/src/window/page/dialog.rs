//! Files that the user chooses or drops. A page gets their content, and puts it under their names in its memory.

use super::{
    super::purpose::Purpose,
    browser::{self, Picked},
};
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
            let picked = browser::choose(folder).await;
            let path = match folder {
                true => put_folder(&picked),
                false => picked.first().map(|file| put(&file.name(), file.bytes())),
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

    /// Takes up every folder that is dropped on the page from now on. The window's own events tell of files only.
    pub fn take_folders(&self, ctx: egui::Context) {
        let shared = Rc::clone(&self.0);
        spawn_local(async move {
            loop {
                let files = browser::dropped_folder().await;
                shared.borrow_mut().dropped.extend(put_folder(&files));
                ctx.request_repaint();
            }
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

    /// The choice, once it is made. A browser always has dialogs.
    pub fn poll(&mut self) -> Result<Option<(Purpose, PathBuf)>, String> {
        Ok(self.0.borrow_mut().chosen.pop())
    }
}

/// Puts all files of a folder into memory, in the place of another folder with its name: the first part of their
/// names, which is its path.
fn put_folder(files: &[Picked]) -> Option<PathBuf> {
    let name = files.first()?.name();
    let folder = Path::new(FROM_OUTSIDE).join(Path::new(&name).components().next()?);
    disk::remove_folder(&folder);
    for file in files {
        put(&file.name(), file.bytes());
    }
    Some(folder)
}

/// Puts a file into memory. One whose content the browser refused is missing when it is read.
fn put(name: &str, content: Option<Vec<u8>>) -> PathBuf {
    let path = Path::new(FROM_OUTSIDE).join(name);
    if let Some(content) = content {
        disk::put(path.clone(), content);
    }
    path
}
