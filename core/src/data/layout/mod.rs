//! The layouts that data sets are published in, and which one is at hand.

mod cifar;
mod classes;
mod idx;
mod numbered;
mod sprites;
mod tiles;

#[cfg(not(target_family = "wasm"))]
use super::files::read_file;
use super::{DataError, Dataset, Files, Split};
use std::{path::Path, sync::Arc};

type Opened = Result<Arc<dyn Dataset>, DataError>;
type OpenedValidation = Result<Option<Arc<dyn Dataset>>, DataError>;

/// One way to lay out a data set.
struct Layout {
    /// What to look for, for the message that nothing was found.
    what: &'static str,
    recognises: fn(&Files) -> bool,
    open: fn(&Files, Split) -> Opened,
    /// A validation set that is no test set.
    validation: fn(&Files) -> OpenedValidation,
}

/// The first that recognises the files opens them: the more particular stand before the more general.
const LAYOUTS: &[Layout] = &[
    Layout {
        what: "CIFAR-10, binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin",
        recognises: cifar::is_cifar10,
        open: cifar::open_cifar10,
        validation: no_validation,
    },
    Layout {
        what: "CIFAR-100, binary version: train.bin, test.bin and fine_label_names.txt",
        recognises: cifar::is_cifar100,
        open: cifar::open_cifar100,
        validation: no_validation,
    },
    Layout {
        what: "CIFAR-10, sprites: data_batch_1.png to data_batch_5.png and test_batch.png, with train_lables.json and \
               test_lables.json",
        recognises: sprites::recognises,
        open: sprites::open,
        validation: no_validation,
    },
    Layout {
        what: "IDX, as MNIST and Fashion-MNIST: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-.., plain or .gz",
        recognises: idx::recognises,
        open: idx::open,
        validation: no_validation,
    },
    Layout {
        what: "tiles: one picture full of square tiles, such as svhn_test.webp, and a byte per label, svhn_test.labels",
        recognises: tiles::recognises,
        open: tiles::open,
        validation: no_validation,
    },
    Layout {
        what: "numbered pictures: classes.tsv, and 0000.jpg for the class 0",
        recognises: numbered::recognises,
        open: numbered::open,
        validation: no_validation,
    },
    Layout {
        what: "a folder of pictures per class, perhaps within train/, val/ and test/",
        recognises: classes::is_tree,
        open: classes::open,
        validation: classes::open_validation,
    },
];

/// Opens a data set: a folder, a `.tar` or `.tar.gz` archive, a folder with such an archive as it was downloaded, or a
/// picture of tiles, in any of the layouts that are known. Sets that know no splits give the same for both: see
/// [`Dataset::unsplit`].
///
/// ```no_run
/// use bayesadapter::data::{Split, open};
///
/// let cifar = open("cifar-10-binary.tar.gz", Split::Train)?;
/// let flowers = open("/data/flowers", Split::Test)?; // a folder per class, perhaps within train/ and val/
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
///
/// # Errors
///
/// A layout that is not known, and whatever can be found out without decoding every picture: missing files,
/// wrong sizes and counts, labels out of range, classes without pictures.
pub fn open(path: impl AsRef<Path>, split: Split) -> Opened {
    Source::open(path.as_ref())?.split(split)
}

/// Opens the validation set of a data set: the images in `val/` of a folder per class within `train/`, `val/` and
/// `test/`. Other layouts have none. Without a `test/`, the images in `val/` are those of [`Split::Test`].
///
/// ```no_run
/// use bayesadapter::data::open_validation;
///
/// if let Some(validation) = open_validation("/data/flowers")? {
///     println!("{} images", validation.len());
/// }
/// # Ok::<(), bayesadapter::data::DataError>(())
/// ```
///
/// # Errors
///
/// As [`open`].
pub fn open_validation(path: impl AsRef<Path>) -> OpenedValidation {
    Source::open(path.as_ref())?.validation()
}

/// Opens a data set from files that are at hand already, as in a browser.
///
/// ```
/// use bayesadapter::data::{Files, Split, open_files};
///
/// let files = Files::from_bytes("upload", vec![("readme.txt".to_owned(), b"nothing".to_vec())]);
/// let error = open_files(files, Split::Train).err().expect("no data set");
/// assert!(error.to_string().starts_with("upload has none of the layouts"));
/// ```
///
/// # Errors
///
/// As [`open`].
pub fn open_files(files: Files, split: Split) -> Opened {
    Source::of_files(files)?.split(split)
}

/// The files of a data set, and their layout: listed, unpacked and recognised once for all of its sets.
pub(crate) struct Source {
    files: Files,
    layout: &'static Layout,
}

impl Source {
    /// A folder, an archive, or a picture of tiles.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        Self::of_files(files_at(path)?)
    }

    fn of_files(files: Files) -> Result<Self, DataError> {
        if let Some(layout) = layout_of(&files) {
            return Ok(Self { files, layout });
        }
        // Archives within archives stay closed: there is no end to them.
        let Some(archive) = only_archive(&files) else {
            return Err(unknown(files.place(), found(&files)));
        };
        let inside = Files::from_archive(&files.full_name(archive), &files.read(archive)?)?;
        match layout_of(&inside) {
            Some(layout) => Ok(Self {
                files: inside,
                layout,
            }),
            None => Err(unknown(inside.place(), found(&inside))),
        }
    }

    pub(crate) fn split(&self, split: Split) -> Opened {
        (self.layout.open)(&self.files, split)
    }

    /// As [`open_validation`].
    pub(crate) fn validation(&self) -> OpenedValidation {
        (self.layout.validation)(&self.files)
    }
}

#[cfg(not(target_family = "wasm"))]
fn files_at(path: &Path) -> Result<Files, DataError> {
    let name = path.display().to_string();
    let about = std::fs::metadata(path).map_err(|error| DataError::read(&name, error))?;
    if about.is_dir() {
        return Files::from_folder(path);
    }
    if is_archive(&name) {
        return Files::from_archive(&name, &read_file(path, &name)?);
    }
    match tiles::beside(path)? {
        Some(files) => Ok(files),
        None => Err(unknown(name, "a single file".to_owned())),
    }
}

/// The files of a folder or an archive in the page's memory.
#[cfg(target_family = "wasm")]
fn files_at(path: &Path) -> Result<Files, DataError> {
    use crate::disk;

    let place = path.display().to_string();
    if !disk::is_folder(path) {
        let bytes = disk::shared(path).map_err(|error| DataError::read(&place, error))?;
        return Files::from_archive(&place, &bytes);
    }
    let inside = disk::below(path).into_iter().filter_map(|(file, bytes)| {
        let name = file.strip_prefix(path).ok()?.to_str()?.to_owned();
        (!name.is_empty()).then_some((name, bytes))
    });
    Ok(Files::from_bytes(place, inside))
}

fn no_validation(_: &Files) -> OpenedValidation {
    Ok(None)
}

fn layout_of(files: &Files) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|layout| (layout.recognises)(files))
}

fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".tar", ".tar.gz", ".tgz"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// The archive among files, if there is one and no other that could be meant.
fn only_archive(files: &Files) -> Option<&str> {
    let mut archives = files.names().filter(|name| is_archive(name));
    let first = archives.next()?;
    archives.next().is_none().then_some(first)
}

fn unknown(place: String, found: String) -> DataError {
    let looked_for: Vec<String> = LAYOUTS
        .iter()
        .map(|layout| format!("- {}", layout.what))
        .collect();
    DataError::UnknownLayout {
        place,
        found,
        looked_for: looked_for.join("\n"),
    }
}

/// A few names, for the message that they are not enough.
fn found(files: &Files) -> String {
    const SHOWN: usize = 5;
    let count = files.names().count();
    let shown: Vec<&str> = files.names().take(SHOWN).collect();
    match count {
        0 => "no files".to_owned(),
        _ if count > SHOWN => format!("{} and {} more files", shown.join(", "), count - SHOWN),
        _ => shown.join(", "),
    }
}

/// The lines of a text that hold something, for lists of class names.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}
