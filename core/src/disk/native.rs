//! Files on the disk.

use super::{MAX_FILE_BYTES, START, Unread};
use crate::file::FileError;
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
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

/// A whole file of at most [`MAX_FILE_BYTES`], if `is_wanted` says so of its start: what is not wanted is not read.
pub(crate) fn read_bounded(
    path: &Path,
    is_wanted: impl FnOnce(&[u8]) -> bool,
) -> Result<Vec<u8>, Unread> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let too_large = |limit| Unread::TooLarge { bytes, limit };
    if bytes > MAX_FILE_BYTES {
        return Err(too_large(MAX_FILE_BYTES));
    }
    let length = usize::try_from(bytes).map_err(|_| too_large(usize::MAX as u64))?;
    // A pipe has no length, and can be read only once.
    let mut rest = file.take(MAX_FILE_BYTES);
    let mut contents = Vec::new();
    rest.by_ref()
        .take(START as u64)
        .read_to_end(&mut contents)?;
    if !is_wanted(&contents) {
        return Err(Unread::Stranger { start: contents });
    }
    // A plain reservation would end the program where memory is short.
    contents
        .try_reserve_exact(length.saturating_sub(contents.len()))
        .map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
    rest.read_to_end(&mut contents)?;
    Ok(contents)
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

/// Gives a file another name, in the place of what had it.
///
/// # Errors
///
/// What the file system refuses.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
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

/// Writes a file into a new folder among the system's temporary ones, and returns where it is: the last resort for what
/// its own place refuses.
///
/// # Errors
///
/// What the file system refuses there too.
pub fn write_aside(name: &str, bytes: &[u8]) -> Result<PathBuf, FileError> {
    let process = std::process::id();
    let mut number = 0;
    let folder = loop {
        let folder = std::env::temp_dir().join(format!("bayesadapter-{process}-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => break folder,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                let path = folder.display().to_string();
                return Err(FileError::Io { path, error });
            }
        }
    };
    let path = folder.join(name);
    write_atomically(&path, bytes)?;
    Ok(path)
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
