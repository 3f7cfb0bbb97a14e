//! Named files, wherever they are.

use super::DataError;
use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
#[cfg(not(target_family = "wasm"))]
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most that an archive may hold, all files together: ten times CIFAR.
const MAX_ARCHIVE_BYTES: u64 = 2 << 30;
/// The most that one file may hold.
#[cfg(not(target_family = "wasm"))]
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Files with names: a folder, an archive, or what a browser was handed.
///
/// Names are relative, with `/` between folders. Hidden files are left out, and so is a folder around everything,
/// as archives have it.
///
/// ```
/// use bayesadapter::data::Files;
///
/// let files = Files::from_bytes("upload", vec![("cifar/test_batch.bin".to_owned(), vec![0; 3073])]);
/// assert_eq!(files.names().next(), Some("test_batch.bin"));
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    place: String,
    /// Before every name; empty, or ends with `/`.
    prefix: String,
    /// Without the prefix, sorted.
    names: Vec<String>,
    /// Folders without the prefix, for those that are empty.
    folders: Vec<String>,
    store: Store,
}

#[derive(Clone, Debug)]
enum Store {
    #[cfg(not(target_family = "wasm"))]
    Folder(PathBuf),
    Memory(Arc<BTreeMap<String, Arc<[u8]>>>),
}

/// Folders with these names say what the pictures in them are for, not what they show.
pub(super) const TRAIN_FOLDERS: [&str; 2] = ["train", "training"];
/// In order of preference.
pub(super) const TEST_FOLDERS: [&str; 2] = ["test", "testing"];
/// Where there is no test set, these hold it.
pub(super) const VALIDATION_FOLDERS: [&str; 3] = ["val", "valid", "validation"];

impl Files {
    /// Files from memory; `place` is what errors call them together.
    pub fn from_bytes(
        place: impl Into<String>,
        files: impl IntoIterator<Item = (String, impl Into<Arc<[u8]>>)>,
    ) -> Self {
        let files = files.into_iter();
        let files: BTreeMap<String, Arc<[u8]>> =
            files.map(|(name, bytes)| (name, bytes.into())).collect();
        let names = files.keys().cloned().collect();
        Self::new(
            place.into(),
            names,
            Vec::new(),
            Store::Memory(Arc::new(files)),
        )
    }

    /// The files of a `.tar`, `.tar.gz` or `.tgz` archive.
    ///
    /// # Errors
    ///
    /// What is no such archive, or unpacks to more than 2 GiB.
    pub fn from_archive(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        let damaged = |error: std::io::Error| {
            DataError::damaged(name, format!("it is no complete tar archive ({error})"))
        };
        let unpacked: Box<dyn Read + '_> = match bytes {
            [0x1F, 0x8B, ..] => Box::new(GzDecoder::new(bytes)),
            _ => Box::new(bytes),
        };
        let mut archive = tar::Archive::new(unpacked.take(MAX_ARCHIVE_BYTES));
        let (mut files, mut folders) = (BTreeMap::new(), Vec::new());
        for entry in archive.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            let path = entry.path().map_err(damaged)?;
            let path = path.to_string_lossy().trim_start_matches("./").to_owned();
            if entry.header().entry_type().is_dir() {
                folders.push(path.trim_end_matches('/').to_owned());
            } else if entry.header().entry_type().is_file() {
                // Grows as bytes come: the size in a header may be anything.
                let mut content = Vec::new();
                entry.read_to_end(&mut content).map_err(damaged)?;
                if (content.len() as u64) < entry.size() {
                    return Err(DataError::damaged(
                        name,
                        format!("`{path}` is cut short, or the archive unpacks to more than 2 GiB"),
                    ));
                }
                files.insert(path, content.into());
            }
        }
        let names = files.keys().cloned().collect();
        Ok(Self::new(
            name.to_owned(),
            names,
            folders,
            Store::Memory(Arc::new(files)),
        ))
    }

    /// Everything below a folder.
    ///
    /// # Errors
    ///
    /// Folders that cannot be read or lie in themselves, and names that are not UTF-8.
    #[cfg(not(target_family = "wasm"))]
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, DataError> {
        let root = folder.as_ref();
        let (mut names, mut folders) = (Vec::new(), Vec::new());
        walk(
            root,
            String::new(),
            &mut Vec::new(),
            &mut names,
            &mut folders,
        )?;
        let store = Store::Folder(root.to_path_buf());
        Ok(Self::new(root.display().to_string(), names, folders, store))
    }

    fn new(place: String, mut names: Vec<String>, mut folders: Vec<String>, store: Store) -> Self {
        names.retain(|name| !is_hidden(name));
        folders.retain(|name| !is_hidden(name));
        names.sort_unstable();
        folders.sort_unstable();
        let mut this = Self {
            place,
            prefix: String::new(),
            names,
            folders,
            store,
        };
        while let Some(around) = this.folder_around_all() {
            this = this.within(&around);
        }
        this
    }

    /// The one folder in which everything lies, unless its name says something.
    fn folder_around_all(&self) -> Option<String> {
        let (around, _) = self.names.first()?.split_once('/')?;
        let says = TRAIN_FOLDERS.iter().chain(&TEST_FOLDERS);
        let says = says.chain(&VALIDATION_FOLDERS);
        let inside = |name: &String| name.split('/').next() == Some(around);
        let all = self.names.iter().chain(&self.folders).all(inside);
        (all && !says.into_iter().any(|known| *known == around)).then(|| around.to_owned())
    }

    /// What lies in one of the folders.
    pub(super) fn within(&self, folder: &str) -> Self {
        let inside = |name: &String| Some(name.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
        Self {
            place: self.place.clone(),
            prefix: format!("{}{folder}/", self.prefix),
            names: self.names.iter().filter_map(inside).collect(),
            folders: self.folders.iter().filter_map(inside).collect(),
            store: self.store.clone(),
        }
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    /// The file with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names
            .binary_search_by(|known| known.as_str().cmp(name))
            .is_ok()
    }

    /// The first file whose name starts with this.
    pub(super) fn starting_with(&self, start: &str) -> Option<&str> {
        let first = self.names.partition_point(|name| name.as_str() < start);
        let name = self.names.get(first)?;
        name.starts_with(start).then_some(name)
    }

    /// The first file whose name ends with one of these.
    pub(super) fn ending_with(&self, endings: &[&str]) -> Option<&str> {
        let fits = |ending: &&str| self.names().find(|name| name.ends_with(ending));
        endings.iter().find_map(fits)
    }

    /// What errors call all of it.
    pub fn place(&self) -> String {
        let inside = self.prefix.trim_end_matches('/');
        match inside.is_empty() {
            true => self.place.clone(),
            false => format!("{}/{inside}", self.place.trim_end_matches('/')),
        }
    }

    /// What errors call a file.
    pub(super) fn full_name(&self, name: &str) -> String {
        format!("{}/{name}", self.place().trim_end_matches('/'))
    }

    /// The bytes of a file.
    pub(super) fn read(&self, name: &str) -> Result<Cow<'_, [u8]>, DataError> {
        let stored = format!("{}{name}", self.prefix);
        match &self.store {
            #[cfg(not(target_family = "wasm"))]
            Store::Folder(root) => {
                read_file(&root.join(stored), &self.full_name(name)).map(Cow::Owned)
            }
            Store::Memory(files) => match files.get(&stored) {
                Some(bytes) => Ok(Cow::Borrowed(bytes)),
                None => Err(DataError::read(
                    self.full_name(name),
                    std::io::ErrorKind::NotFound.into(),
                )),
            },
        }
    }

    /// The text of a file.
    pub(super) fn read_text(&self, name: &str) -> Result<String, DataError> {
        String::from_utf8(self.read(name)?.into_owned())
            .map_err(|_| DataError::damaged(self.full_name(name), "it is no UTF-8 text"))
    }
}

fn is_hidden(name: &str) -> bool {
    name.split('/')
        .any(|part| part.starts_with('.') || part == "__MACOSX")
}

/// A whole file, if it has a sensible size.
#[cfg(not(target_family = "wasm"))]
pub(super) fn read_file(path: &Path, name: &str) -> Result<Vec<u8>, DataError> {
    let refused = |error| DataError::read(name, error);
    let file = std::fs::File::open(path).map_err(refused)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(refused)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(DataError::TooLarge {
            file: name.to_owned(),
            limit: MAX_FILE_BYTES,
            advice: "unpack it into a folder, or give another file",
        });
    }
    Ok(bytes)
}

/// Lists what is below `folder`, whose name relative to the root is `within`. `above` are the folders on the way.
#[cfg(not(target_family = "wasm"))]
fn walk(
    folder: &Path,
    within: String,
    above: &mut Vec<PathBuf>,
    names: &mut Vec<String>,
    folders: &mut Vec<String>,
) -> Result<(), DataError> {
    let refused = |error| DataError::read(folder.display().to_string(), error);
    let canonical = folder.canonicalize().map_err(refused)?;
    if above.contains(&canonical) {
        return Err(DataError::Loop {
            folder: folder.display().to_string(),
        });
    }
    above.push(canonical);
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| DataError::Name {
            file: path.display().to_string(),
        })?;
        if is_hidden(name) {
            continue;
        }
        let full = match within.is_empty() {
            true => name.to_owned(),
            false => format!("{within}/{name}"),
        };
        // Links are followed: data sets are often links to another disk.
        let mut kind = entry.file_type().map_err(refused)?;
        if kind.is_symlink() {
            let refused = |error| DataError::read(path.display().to_string(), error);
            kind = std::fs::metadata(&path).map_err(refused)?.file_type();
        }
        if kind.is_dir() {
            folders.push(full.clone());
            walk(&path, full, above, names, folders)?;
        } else if kind.is_file() {
            names.push(full);
        }
    }
    above.pop();
    Ok(())
}
