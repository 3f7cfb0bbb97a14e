//! Data and weights by their names and paths.

use super::{RunSettings, SessionError, SettingsError};
use crate::{
    checkpoint::{Checkpoint, LoadOptions},
    data::{
        self, DataError, Dataset, GeneratedOod, Joined, OodKind, Source, Split, Splits,
        ValidationSplit,
    },
    models::{Architecture, Network},
    posterior::{Bayes, Entry, IntoBayes, Inventory, Point},
};
use burn::tensor::Device;
use std::{path::Path, sync::Arc};

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

/// Training, validation and test set of a name or path. Of data in one piece a tenth of every class is the test set.
/// Which images are in which set, depends on the seed alone.
///
/// ```
/// use bayesadapter::{data::ValidationSplit, session::open_splits};
///
/// let splits = open_splits("digits", &"100".parse()?, 0)?;
/// let sizes = [&splits.train, &splits.test].map(|data| data.len());
/// assert_eq!(sizes, [1_342, 355]);
/// assert!(open_splits("digits", &ValidationSplit::None, 0)?.validation.is_none());
/// # Ok::<(), bayesadapter::session::SessionError>(())
/// ```
///
/// # Errors
///
/// Data that cannot be opened, a validation set that they cannot give, and in one piece a class with a single image.
pub fn open_splits(
    path: &str,
    validation: &ValidationSplit,
    seed: u64,
) -> Result<Splits, SessionError> {
    if let Some(train) = built_in(path, Split::Train) {
        return split_up(
            train,
            || Ok(None),
            || open_any(path, Split::Test),
            validation,
            seed,
        );
    }
    let source = Source::open(Path::new(path))?;
    let test = || Ok(source.split(Split::Test)?);
    let train = source.split(Split::Train)?;
    split_up(train, || source.validation(), test, validation, seed)
}

/// The other sets are opened if there are some.
fn split_up(
    train: Arc<dyn Dataset>,
    own_validation: impl Fn() -> Result<Option<Arc<dyn Dataset>>, DataError>,
    test: impl Fn() -> Result<Arc<dyn Dataset>, SessionError>,
    validation: &ValidationSplit,
    seed: u64,
) -> Result<Splits, SessionError> {
    if train.unsplit() {
        refuse_single_pictures(&*train)?;
        return Ok(Splits::of_whole(train, validation, seed)?);
    }
    let own = match validation {
        ValidationSplit::Auto => own_validation()?,
        _ => None,
    };
    Ok(Splits::of_parts(train, own, test()?, validation, seed)?)
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

/// What a run started from.
pub struct StartingPoint {
    /// The parameters, without those that the checkpoint did not have.
    pub parameters: Inventory,
    /// The network, if the checkpoint had all of its parameters.
    pub network: Option<Bayes<Network>>,
}

/// What a run started from, if it began with a checkpoint.
///
/// # Errors
///
/// A checkpoint that is gone, or does not fit any more.
pub fn starting_point(
    settings: &RunSettings,
    architecture: &Architecture,
    device: &Device,
) -> Result<Option<StartingPoint>, SessionError> {
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
    let parameters = start.entries.len();
    start.entries.retain(loaded);
    let complete = start.entries.len() == parameters;
    let network = complete.then(|| network.into_bayes(Point::train(1)));
    Ok(Some(StartingPoint {
        parameters: start,
        network: network.transpose()?,
    }))
}

/// The OOD images that a run learns to be unsure of, if its settings name some: kinds that are generated from its
/// training images for an input `[channels, height, width]`, and data by their names and paths.
pub(super) fn ood_training_images(
    settings: &RunSettings,
    train: &Arc<dyn Dataset>,
    [_, height, width]: [usize; 3],
) -> Result<Option<Arc<dyn Dataset>>, SessionError> {
    let (mut kinds, mut parts) = (Vec::new(), Vec::new());
    for name in &settings.data.ood_train {
        match name.parse::<OodKind>() {
            Ok(kind) => kinds.push(kind),
            Err(unknown) => parts.push(ood_data(settings, name, &unknown)?),
        }
    }
    if !kinds.is_empty() {
        let generated = GeneratedOod::new(Arc::clone(train), &kinds, settings.seed)?;
        // What is done to an image at another size than the network's would be averaged away.
        parts.insert(0, Arc::new(generated.with_size(height, width)?));
    }
    Ok(Joined::of(parts))
}

/// Data that a run learns to be unsure of; `unknown` says that their name is no generated kind.
fn ood_data(
    settings: &RunSettings,
    name: &str,
    unknown: &DataError,
) -> Result<Arc<dyn Dataset>, SessionError> {
    let data = open_any(name, Split::Train).map_err(|error| {
        SettingsError::new(format!("ood_train: {unknown}; and as data: {error}"))
    })?;
    if data.unsplit() && settings.data.out_of_distribution.as_deref() == Some(name) {
        return Err(SettingsError::new(format!(
            "{name} has no training and test part, so that the OOD images of training would be those of the \
             evaluation; choose other data for ood_train or for out_of_distribution"
        ))
        .into());
    }
    Ok(data)
}

/// What data at a path are called.
pub(super) fn name_of(path: &str) -> String {
    let path = Path::new(path);
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
