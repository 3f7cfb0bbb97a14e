//! Files in the memory of a page, which has no disk. They are gone with the page.

use crate::file::FileError;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

thread_local! {
    static FILES: RefCell<BTreeMap<PathBuf, Arc<[u8]>>> = RefCell::default();
}

/// Puts a file at a path, where nobody has to wait for it.
pub fn put(path: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) {
    FILES.with_borrow_mut(|files| files.insert(path.into(), bytes.into()));
}

/// Every file below a folder, sorted by name.
pub fn below(folder: &Path) -> Vec<(PathBuf, Arc<[u8]>)> {
    FILES.with_borrow(|files| {
        let inside = files.iter().filter(|(path, _)| path.starts_with(folder));
        inside
            .map(|(path, bytes)| (path.clone(), Arc::clone(bytes)))
            .collect()
    })
}

/// A whole file.
///
/// # Errors
///
/// There is none.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = FILES.with_borrow(|files| files.get(path).cloned());
    Ok(bytes.ok_or(ErrorKind::NotFound)?.to_vec())
}

/// The first bytes of a file, at most so many.
///
/// # Errors
///
/// There is none.
pub fn read_start(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = read(path)?;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(bytes)
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
    removed.map(drop).ok_or(ErrorKind::NotFound.into())
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

/// Puts a file at a path.
///
/// # Errors
///
/// None; natively there are some.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), FileError> {
    put(path.as_ref(), bytes);
    Ok(())
}
