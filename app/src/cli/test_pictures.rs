//! The pictures that networks are judged on: such as they did not learn from, of the classes that they know.

use super::{BadInput, Voice};
use anyhow::Result;
use bayesadapter::{
    data::{Dataset, Split, ValidationSplit},
    file::Header,
    session::{RunSettings, open_any, open_splits},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A posterior file, and what it says of itself.
pub struct Judged {
    pub file: PathBuf,
    pub header: Header,
}

/// Validation images and where they come from, if there are some.
pub type Validation = Option<(String, Arc<dyn Dataset>)>;

/// The test images of the data at `path`, and validation images. How the data are split is what `asked` says, with its
/// random seed, or what the runs on these data did that made the networks: then no network has seen a test image.
pub fn open(
    path: &str,
    asked: Option<(ValidationSplit, Option<u64>)>,
    networks: &[Judged],
    voice: &Voice,
) -> Result<(Arc<dyn Dataset>, Validation)> {
    let whole = open_any(path, Split::Test)?;
    if let Some(remark) = whole.remark() {
        voice.warn(&remark);
    }
    for network in networks {
        network.check_classes(whole.class_names(), voice)?;
    }
    let of_runs = networks.iter().filter_map(|one| one.split_of_run_on(path));
    let mut splits: Vec<(ValidationSplit, u64)> = Vec::new();
    for mut split in of_runs {
        // A test set of its own depends on no seed.
        if !whole.unsplit() && split.0 == ValidationSplit::None {
            split.1 = 0;
        }
        if !splits.contains(&split) {
            splits.push(split);
        }
    }
    if let Some((split, seed)) = asked {
        let of_runs = splits.first().map_or(0, |&(_, seed)| seed);
        splits = vec![(split, seed.unwrap_or(of_runs))];
    }
    match splits[..] {
        [] => {
            if whole.unsplit() {
                voice.warn(&format!(
                    "{path} has no test part of its own, so all of its {} images are evaluated; those that a network \
                     was trained on make it look better than it is",
                    whole.len()
                ));
            }
            let calibrated = networks
                .iter()
                .filter_map(|one| one.header.calibration.as_ref());
            for calibration in calibrated {
                voice.warn(&format!(
                    "temperature and prediction sets are those of the file, fitted on {}, some of which may be among \
                     these images; --validation fits them on images of {path} that are not scored",
                    calibration.source
                ));
            }
            Ok((whole, None))
        }
        [(validation, seed)] => {
            let splits = open_splits(path, &validation, seed)?;
            if splits.test.len() < whole.len() {
                voice.say(format_args!(
                    "Evaluated on {} of the {} images of {path}, which no run was trained or calibrated on",
                    splits.test.len(),
                    whole.len()
                ));
            }
            let source = splits.validation_source.map(|source| source.to_string());
            Ok((splits.test, source.zip(splits.validation)))
        }
        _ => {
            let each: Vec<String> = splits
                .iter()
                .map(|(validation, seed)| format!("{validation} with seed {seed}"))
                .collect();
            Err(BadInput(format!(
                "the runs of these networks split {path} in different ways ({}), so that one was trained or calibrated \
                 on test images of another; evaluate them one by one, or say how with --validation",
                each.join(", ")
            ))
            .into())
        }
    }
}

impl Judged {
    /// How the run that made the network split the data at `path`, if it was on these.
    fn split_of_run_on(&self, path: &str) -> Option<(ValidationSplit, u64)> {
        let run = serde_json::Value::Object(self.header.run.clone());
        let run: RunSettings = serde_json::from_value(run).ok()?;
        let place = |path: &str| Path::new(path).canonicalize().ok();
        let same = run.data.path == path || place(&run.data.path)? == place(path)?;
        let seed = run.data.split_seed.unwrap_or(run.seed);
        same.then_some((run.data.validation, seed))
    }

    /// A label is a number: what it means to the network and to the data must be the same.
    fn check_classes(&self, found: &[String], voice: &Voice) -> Result<()> {
        let (file, known) = (self.file.display(), &self.header.class_names);
        if known.is_empty() || known == found {
            return Ok(());
        }
        if known.len() != found.len() {
            return Err(BadInput(format!(
                "{file} tells {} classes apart, but the pictures are of {}; judge it on data of the same classes",
                known.len(),
                found.len()
            ))
            .into());
        }
        let different = || {
            (0..)
                .zip(known.iter().zip(found))
                .filter(|(_, (a, b))| a != b)
        };
        if let Some((number, (mine, other))) = different().find(|(_, (_, b))| known.contains(b)) {
            return Err(BadInput(format!(
                "the classes stand in another order: class {number} is `{mine}` in {file}, and `{other}` in the data. \
                 Bring the data into the layout that the network learnt from"
            ))
            .into());
        }
        if let Some((number, (mine, other))) = different().next() {
            voice.warn(&format!(
                "classes have other names: class {number} is `{mine}` in {file}, and `{other}` in the data; they are \
                 taken for the same"
            ));
        }
        Ok(())
    }
}
