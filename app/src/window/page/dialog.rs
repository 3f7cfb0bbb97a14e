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
    /// Times that something came from outside.
    arrivals: usize,
    chosen: Vec<(Purpose, PathBuf)>,
    dropped: Vec<PathBuf>,
    /// Why something that was dropped is of no use.
    refused: Vec<String>,
}

impl Shared {
    /// A folder for what comes now: names that came before are other files.
    fn new_folder(&mut self) -> PathBuf {
        self.arrivals += 1;
        Path::new(FROM_OUTSIDE).join(self.arrivals.to_string())
    }
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
                | Purpose::JudgeOn(_)
                | Purpose::JudgeWith(_)
        );
        let shared = self.begin();
        spawn_local(async move {
            let picked = browser::choose(folder).await;
            let mut shared = shared.borrow_mut();
            let path = put_all(&shared.new_folder(), &picked);
            shared.awaited -= 1;
            shared.chosen.extend(path.map(|path| (purpose, path)));
        });
    }

    /// Takes up what was dropped on the page. Files that are dropped together stay together: some are one data set.
    pub fn take(&mut self, dropped: &[egui::DroppedFileHandle]) {
        let folder = self.0.borrow_mut().new_folder();
        for file in dropped {
            let (shared, file) = (self.begin(), file.clone());
            let path = folder.join(file.path());
            spawn_local(async move {
                let content = file.bytes_async().await;
                put(&path, content.ok());
                let mut shared = shared.borrow_mut();
                shared.awaited -= 1;
                shared.dropped.push(path);
            });
        }
    }

    /// Takes up every folder that is dropped on the page from now on, and what is dropped beside it. The window's own
    /// events tell of files only.
    pub fn take_folders(&self, ctx: egui::Context) {
        let shared = Rc::clone(&self.0);
        spawn_local(async move {
            loop {
                let dropped = browser::dropped_folder().await;
                let mut shared = shared.borrow_mut();
                match put_all(&shared.new_folder(), &dropped.files()) {
                    Some(path) => shared.dropped.push(path),
                    None => {
                        let reason = format!("the folder {} has no files in it", dropped.name());
                        shared.refused.push(reason);
                    }
                }
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
        let came = !shared.chosen.is_empty() || !shared.dropped.is_empty();
        shared.awaited > 0 || came || !shared.refused.is_empty()
    }

    /// The choice, once it is made. A browser always has dialogs.
    ///
    /// # Errors
    ///
    /// Why something that was dropped is of no use.
    pub fn poll(&mut self) -> Result<Option<(Purpose, PathBuf)>, String> {
        let mut shared = self.0.borrow_mut();
        match shared.refused.pop() {
            Some(reason) => Err(reason),
            None => Ok(shared.chosen.pop()),
        }
    }
}

/// Puts a file, or all files of a folder, into memory below `place`. The path of it comes back: the first part of the
/// files' names. There is none without files.
fn put_all(place: &Path, files: &[Picked]) -> Option<PathBuf> {
    let name = files.first()?.name();
    for file in files {
        put(&place.join(file.name()), file.bytes());
    }
    Some(place.join(Path::new(&name).components().next()?))
}

/// Puts a file into memory. One whose content the browser refused is missing when it is read.
fn put(path: &Path, content: Option<Vec<u8>>) {
    if let Some(content) = content {
        disk::put(path, content);
    }
}
