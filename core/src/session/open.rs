//! Data and weights by their names and paths.

use super::{RunSettings, SessionError, Splits};
use crate::{
    checkpoint::{Checkpoint, LoadOptions},
    data::{self, DataError, Dataset, Split},
    models::Architecture,
    posterior::{Entry, Inventory},
};
use burn::tensor::Device;
use std::sync::Arc;

/// How many scribbles there are.
const SCRIBBLES: usize = 360;

/// One split of the data of a path, or of the name of some that are [built in](built_in).
///
/// # Errors
///
/// Data that cannot be opened.
pub fn open_any(path: &str, split: Split) -> Result<Arc<dyn Dataset>, SessionError> {
    match built_in(path, split) {
        Some(data) => Ok(data),
        None => Ok(data::open(path, split)?),
    }
}

/// One split of the data that come with the library under a name: `digits`, `few-digits` or `scribbles`.
pub fn built_in(name: &str, split: Split) -> Option<Arc<dyn Dataset>> {
    let data = match name {
        "digits" => data::digits(split),
        "few-digits" => data::few_digits(split),
        "scribbles" => data::scribbles(SCRIBBLES, 0),
        _ => return None,
    };
    Some(Arc::new(data))
}

/// Data to learn from and to judge by, of a name or path. Of those that come in one piece, a tenth of every class is
/// kept back to judge by; which pictures, depends on the seed alone.
///
/// # Errors
///
/// Data that cannot be opened, and in one piece a class with a single picture.
pub fn open_splits(path: &str, seed: u64) -> Result<Splits, SessionError> {
    let train = open_any(path, Split::Train)?;
    match train.unsplit() {
        true => {
            refuse_single_pictures(&*train)?;
            Ok(Splits::hold_out(train, seed))
        }
        false => Ok(Splits {
            train,
            test: open_any(path, Split::Test)?,
        }),
    }
}

fn refuse_single_pictures(data: &dyn Dataset) -> Result<(), DataError> {
    let mut pictures = vec![Vec::new(); data.class_names().len()];
    for index in 0..data.len() {
        pictures[data.label(index) as usize].push(index);
    }
    for (class, pictures) in data.class_names().iter().zip(pictures) {
        if let [only] = pictures[..] {
            return Err(DataError::OnePicture {
                picture: data.name(only),
                class: class.clone(),
            });
        }
    }
    Ok(())
}

/// The parameters that a run started from, if it began with a checkpoint; without those that the checkpoint did not
/// have.
///
/// # Errors
///
/// A checkpoint that is gone, or does not fit any more.
pub fn starting_point(
    settings: &RunSettings,
    architecture: &Architecture,
    device: &Device,
) -> Result<Option<Inventory>, SessionError> {
    let Some(weights) = &settings.model.weights else {
        return Ok(None);
    };
    let options = LoadOptions {
        replace_head: settings.model.replace_head,
        ..LoadOptions::default()
    };
    let (network, account) = architecture.load(&Checkpoint::open(weights)?, &options, device)?;
    let mut start = Inventory::of(&network);
    let loaded = |entry: &Entry| {
        account
            .applied
            .iter()
            .any(|one| one.parameter == entry.path)
    };
    start.entries.retain(loaded);
    Ok(Some(start))
}

/// What data at a path are called.
pub(super) fn name_of(path: &str) -> String {
    let path = std::path::Path::new(path);
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
