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

/// One way to lay out a data set.
struct Layout {
    /// What to look for, for the message that nothing was found.
    what: &'static str,
    recognises: fn(&Files) -> bool,
    open: fn(&Files, Split) -> Opened,
}

/// The first that recognises the files opens them: the more particular stand before the more general.
const LAYOUTS: &[Layout] = &[
    Layout {
        what: "CIFAR-10, binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin",
        recognises: cifar::is_cifar10,
        open: cifar::open_cifar10,
    },
    Layout {
        what: "CIFAR-100, binary version: train.bin, test.bin and fine_label_names.txt",
        recognises: cifar::is_cifar100,
        open: cifar::open_cifar100,
    },
    Layout {
        what: "CIFAR-10, sprites: data_batch_1.png to data_batch_5.png and test_batch.png, with train_lables.json and \
               test_lables.json",
        recognises: sprites::recognises,
        open: sprites::open,
    },
    Layout {
        what: "IDX, as MNIST and Fashion-MNIST: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-.., plain or .gz",
        recognises: idx::recognises,
        open: idx::open,
    },
    Layout {
        what: "tiles: one picture full of square tiles, such as svhn_test.webp, and a byte per label, svhn_test.labels",
        recognises: tiles::recognises,
        open: tiles::open,
    },
    Layout {
        what: "numbered pictures: classes.tsv, and 0000.jpg for the class 0",
        recognises: numbered::recognises,
        open: numbered::open,
    },
    Layout {
        what: "a folder of pictures per class, perhaps within train/ and val/ or test/",
        recognises: classes::is_tree,
        open: classes::open,
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
#[cfg(not(target_family = "wasm"))]
pub fn open(path: impl AsRef<Path>, split: Split) -> Opened {
    let path = path.as_ref();
    let name = path.display().to_string();
    let about = std::fs::metadata(path).map_err(|error| DataError::read(&name, error))?;
    if about.is_dir() {
        return open_files(Files::from_folder(path)?, split);
    }
    if is_archive(&name) {
        return open_files(Files::from_archive(&name, &read_file(path, &name)?)?, split);
    }
    if let Some(files) = tiles::beside(path)? {
        return tiles::open(&files, split);
    }
    Err(unknown(name, "a single file".to_owned()))
}

/// Opens a data set at a path of the page's memory: a folder or an archive.
///
/// # Errors
///
/// As natively.
#[cfg(target_family = "wasm")]
pub fn open(path: impl AsRef<Path>, split: Split) -> Opened {
    use crate::disk;

    let path = path.as_ref();
    let place = path.display().to_string();
    let inside = disk::below(path).into_iter().filter_map(|(file, bytes)| {
        let name = file.strip_prefix(path).ok()?.to_str()?.to_owned();
        (!name.is_empty()).then_some((name, bytes))
    });
    let files = match disk::is_folder(path) {
        true => Files::from_bytes(place, inside),
        false => {
            let bytes = disk::shared(path).map_err(|error| DataError::read(&place, error))?;
            Files::from_archive(&place, &bytes)?
        }
    };
    open_files(files, split)
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
    if let Some(layout) = layout_of(&files) {
        return (layout.open)(&files, split);
    }
    // Archives within archives stay closed: there is no end to them.
    if let Some(archive) = only_archive(&files) {
        let inside = Files::from_archive(&files.full_name(archive), &files.read(archive)?)?;
        return match layout_of(&inside) {
            Some(layout) => (layout.open)(&inside, split),
            None => Err(unknown(inside.place(), found(&inside))),
        };
    }
    Err(unknown(files.place(), found(&files)))
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
