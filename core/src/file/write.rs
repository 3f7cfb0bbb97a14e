//! Writing so that a file is there whole or not at all.

use super::FileError;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

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
    if let Ok(folder) = fs::File::open(folder.unwrap_or(Path::new("."))) {
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
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
