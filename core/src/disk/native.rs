//! Files on the disk.

use crate::file::FileError;
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// A whole file.
///
/// # Errors
///
/// What the file system refuses.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// The first bytes of a file, at most so many.
///
/// # Errors
///
/// What the file system refuses.
pub fn read_start(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut start)?;
    Ok(start)
}

/// Whether there is something at a path.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// Whether there is a folder at a path.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// What lies right inside of a folder, sorted by name.
///
/// # Errors
///
/// What the file system refuses.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// Makes a folder, and those around it.
///
/// # Errors
///
/// What the file system refuses.
pub fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Removes a file.
///
/// # Errors
///
/// What the file system refuses.
pub fn remove_file(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// That nobody else works in a folder, as long as this lives. The system takes it back however the process ends.
pub struct Lock {
    _file: File,
}

/// Locks a folder; nothing if another process works in it.
///
/// # Errors
///
/// A folder that cannot be written.
pub fn lock(folder: &Path) -> io::Result<Option<Lock>> {
    let file = File::create(folder.join(".lock"))?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        // Some file systems have no locks; a run there is not worse than without.
        Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Some(Lock { _file: file })),
    }
}

/// Writes `bytes` to a file beside `path`, makes sure that they are on the disk, and gives the file its
/// name. Whatever happens, `path` is what it was or what it shall be.
///
/// # Errors
///
/// What the file system refuses; nothing is left behind.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), FileError> {
    let path = path.as_ref();
    let beside = beside(path);
    let written = write_synced(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        // Best effort: the first error is the one to tell.
        let _ = fs::remove_file(&beside);
        let path = path.display().to_string();
        return Err(FileError::Io { path, error });
    }
    // The name must be on the disk too; not every system can open a folder for that.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A name in the same folder, since only there a rename is one step; of this process alone.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
