//! Files in the memory of a page, which has no disk. They are gone with the page.

use super::{MAX_FILE_BYTES, START, Unread};
use crate::file::FileError;
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

struct File {
    bytes: Arc<[u8]>,
    /// Counts what the program writes; 0 is a file from outside.
    written: u64,
}

/// What the program did to a file.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    /// It put this there.
    Wrote(&'a Path, &'a [u8]),
    /// It gave it another name.
    Renamed(&'a Path, &'a Path),
    /// It removed it.
    Removed(&'a Path),
}

thread_local! {
    static FILES: RefCell<BTreeMap<PathBuf, File>> = RefCell::default();
    static WATCHER: Cell<Option<fn(Change<'_>)>> = const { Cell::new(None) };
}

/// Calls this after every change of a file, until another watcher comes.
pub fn watch(watcher: fn(Change<'_>)) {
    WATCHER.set(Some(watcher));
}

fn tell(change: Change<'_>) {
    if let Some(watcher) = WATCHER.get() {
        watcher(change);
    }
}

/// Puts a file from outside at a path.
pub fn put(path: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) {
    // Made before: a copy that there is no memory for must not leave the files locked.
    let (path, bytes) = (path.into(), bytes.into());
    FILES.with_borrow_mut(|files| files.insert(path, File { bytes, written: 0 }));
}

/// The file with this ending that the program wrote last.
pub fn last_written(ending: &str) -> Option<(PathBuf, Arc<[u8]>)> {
    FILES.with_borrow(|files| {
        let ends = |path: &Path| path.extension().is_some_and(|found| found == ending);
        let written = files
            .iter()
            .filter(|(path, file)| file.written > 0 && ends(path));
        let (path, file) = written.max_by_key(|(_, file)| file.written)?;
        Some((path.clone(), Arc::clone(&file.bytes)))
    })
}

/// Every file below a folder, sorted by name.
pub fn below(folder: &Path) -> Vec<(PathBuf, Arc<[u8]>)> {
    FILES.with_borrow(|files| {
        let inside = files.iter().filter(|(path, _)| path.starts_with(folder));
        inside
            .map(|(path, file)| (path.clone(), Arc::clone(&file.bytes)))
            .collect()
    })
}

/// A whole file, which is not copied.
///
/// # Errors
///
/// There is none.
pub fn shared(path: &Path) -> io::Result<Arc<[u8]>> {
    let bytes = FILES.with_borrow(|files| Some(Arc::clone(&files.get(path)?.bytes)));
    bytes.ok_or(ErrorKind::NotFound.into())
}

/// A whole file.
///
/// # Errors
///
/// There is none.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    Ok(shared(path)?.to_vec())
}

/// A whole file of at most [`MAX_FILE_BYTES`], if `is_wanted` says so of its start: what is not wanted is not copied.
pub(crate) fn read_bounded(
    path: &Path,
    is_wanted: impl FnOnce(&[u8]) -> bool,
) -> Result<Vec<u8>, Unread> {
    let file = shared(path)?;
    let bytes = file.len() as u64;
    if bytes > MAX_FILE_BYTES {
        let limit = MAX_FILE_BYTES;
        return Err(Unread::TooLarge { bytes, limit });
    }
    let start = &file[..file.len().min(START)];
    if !is_wanted(start) {
        let start = start.to_vec();
        return Err(Unread::Stranger { start });
    }
    Ok(file.to_vec())
}

/// The first bytes of a file, at most so many.
///
/// # Errors
///
/// There is none.
pub fn read_start(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    Ok(shared(path)?.iter().take(most).copied().collect())
}

/// Whether there is something at a path.
pub fn exists(path: &Path) -> bool {
    FILES.with_borrow(|files| files.keys().any(|file| file.starts_with(path)))
}

/// Whether there is a folder at a path: something lies in it.
pub fn is_folder(path: &Path) -> bool {
    FILES.with_borrow(|files| {
        let inside = |file: &PathBuf| file.starts_with(path) && file != path;
        files.keys().any(inside)
    })
}

/// What lies right inside of a folder, sorted by name. Of a folder that was never written to that is nothing.
///
/// # Errors
///
/// None; natively there are some.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = FILES.with_borrow(|files| {
        let inside = files.keys().filter_map(|file| {
            let first = file.strip_prefix(folder).ok()?.components().next()?;
            Some(folder.join(first))
        });
        inside.collect()
    });
    paths.dedup();
    Ok(paths)
}

/// Folders need not be made.
///
/// # Errors
///
/// None; natively there are some.
pub fn create_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes a file.
///
/// # Errors
///
/// There is none.
pub fn remove_file(path: &Path) -> io::Result<()> {
    let removed = FILES.with_borrow_mut(|files| files.remove(path));
    removed.ok_or(ErrorKind::NotFound)?;
    tell(Change::Removed(path));
    Ok(())
}

/// Gives a file another name, in the place of what had it.
///
/// # Errors
///
/// There is none.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let file = FILES.with_borrow_mut(|files| files.remove(from));
    let file = file.ok_or(ErrorKind::NotFound)?;
    FILES.with_borrow_mut(|files| files.insert(to.to_owned(), file));
    tell(Change::Renamed(from, to));
    Ok(())
}

/// That nobody else works in a folder: a page is alone.
pub struct Lock;

/// Locks a folder.
///
/// # Errors
///
/// None; natively there are some.
pub fn lock(_: &Path) -> io::Result<Option<Lock>> {
    Ok(Some(Lock))
}

/// Puts a file into the folder `aside`, and returns where that is. A page never refuses a file its own place, so that
/// nothing comes here.
///
/// # Errors
///
/// None; natively there are some.
pub fn write_aside(name: &str, bytes: &[u8]) -> Result<PathBuf, FileError> {
    let path = Path::new("aside").join(name);
    write_atomically(&path, bytes)?;
    Ok(path)
}

/// Puts a file at a path.
///
/// # Errors
///
/// None; natively there are some.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), FileError> {
    let (path, content) = (path.as_ref(), Arc::from(bytes));
    FILES.with_borrow_mut(|files| {
        let last = files.values().map(|file| file.written).max();
        let (bytes, written) = (content, last.unwrap_or_default() + 1);
        files.insert(path.to_owned(), File { bytes, written });
    });
    tell(Change::Wrote(path, bytes));
    Ok(())
}
