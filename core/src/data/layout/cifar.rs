//! The binary versions of CIFAR-10 and CIFAR-100.
//!
//! A file is records of one label byte (CIFAR-100: a coarse and a fine one) and 3,072 bytes of pixels, colour by
//! colour: <https://www.cs.toronto.edu/~kriz/cifar.html>.

use super::{Opened, lines};
use crate::data::{DataError, Files, Picture, Pictures, Split};
use std::sync::Arc;

pub(super) const SIDE: usize = 32;
pub(super) const TRAIN_BATCHES: usize = 5;
const PIXELS: usize = 3 * SIDE * SIDE;
pub(super) const CIFAR10_CLASSES: [&str; 10] = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
];

pub(super) fn is_cifar10(files: &Files) -> bool {
    files.has("data_batch_1.bin") || files.has("test_batch.bin")
}

pub(super) fn is_cifar100(files: &Files) -> bool {
    files.has("fine_label_names.txt") && (files.has("train.bin") || files.has("test.bin"))
}

pub(super) fn open_cifar10(files: &Files, split: Split) -> Opened {
    let class_names = match files.has("batches.meta.txt") {
        true => lines(&files.read_text("batches.meta.txt")?),
        false => CIFAR10_CLASSES.map(str::to_owned).to_vec(),
    };
    let names = match split {
        Split::Train => (1..=TRAIN_BATCHES)
            .map(|number| format!("data_batch_{number}.bin"))
            .collect(),
        Split::Test => vec!["test_batch.bin".to_owned()],
    };
    read(files, split, &names, class_names, 1)
}

pub(super) fn open_cifar100(files: &Files, split: Split) -> Opened {
    let class_names = lines(&files.read_text("fine_label_names.txt")?);
    let name = format!("{split}.bin");
    read(files, split, &[name], class_names, 2)
}

/// Reads files of records that begin with `label_bytes`, of which the last is the label.
fn read(
    files: &Files,
    split: Split,
    names: &[String],
    class_names: Vec<String>,
    label_bytes: usize,
) -> Opened {
    let mut all = Pictures {
        pictures: Vec::new(),
        labels: Vec::new(),
        class_names,
        origins: Vec::new(),
        unsplit: false,
    };
    for name in names {
        if !files.has(name) {
            return Err(DataError::NoSplit {
                place: files.place(),
                split,
                missing: format!("{name} is missing"),
            });
        }
        all.origins
            .push((files.full_name(name), all.pictures.len()));
        let bytes = files.read(name)?;
        let (records, rest) = (bytes.chunks_exact(label_bytes + PIXELS), bytes.len());
        if rest == 0 || !records.remainder().is_empty() {
            return Err(DataError::FileSize {
                file: files.full_name(name),
                bytes: bytes.len() as u64,
                expected: format!(
                    "a whole number of records of {} bytes is needed",
                    label_bytes + PIXELS
                ),
            });
        }
        for record in records {
            all.labels.push(u32::from(record[label_bytes - 1]));
            all.pictures.push(interleaved(&record[label_bytes..]));
        }
    }
    Ok(Arc::new(all.checked("the same file")?))
}

/// A picture from three planes.
fn interleaved(planes: &[u8]) -> Picture {
    let place = SIDE * SIDE;
    let pixels = (0..place).flat_map(|at| [planes[at], planes[place + at], planes[2 * place + at]]);
    Picture {
        channels: 3,
        height: SIDE,
        width: SIDE,
        pixels: pixels.collect(),
    }
}
