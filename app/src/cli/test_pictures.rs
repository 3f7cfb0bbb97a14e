//! The pictures that networks are judged on: such as they did not learn from, of the classes that they know.

use super::{BadInput, Voice};
use anyhow::Result;
use bayesadapter::{
    data::{Dataset, Split},
    file::Header,
    session::{RunSettings, Splits, open_any},
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A posterior file, and what it says of itself.
pub struct Judged {
    pub file: PathBuf,
    pub header: Header,
}

/// The test part of the data at `path`. Of data in one piece that a network learnt from, it is what its run kept back.
pub fn open(path: &str, networks: &[Judged], voice: &Voice) -> Result<Arc<dyn Dataset>> {
    let whole = open_any(path, Split::Test)?;
    if let Some(remark) = whole.remark() {
        voice.warn(&remark);
    }
    for network in networks {
        network.check_classes(whole.class_names(), voice)?;
    }
    if !whole.unsplit() {
        return Ok(whole);
    }
    let seeds = networks.iter().filter_map(|one| one.seed_of_run_on(path));
    let seeds: Vec<u64> = seeds.collect::<BTreeSet<_>>().into_iter().collect();
    match seeds[..] {
        [] => {
            voice.warn(&format!(
                "{path} has no test part of its own, so all of its {} pictures are judged; those that a network learnt \
                 from make it look better than it is",
                whole.len()
            ));
            Ok(whole)
        }
        [seed] => {
            let test = Splits::hold_out(whole, seed).test;
            voice.say(format_args!(
                "Judged by the {} pictures of {path} that were kept back from training",
                test.len()
            ));
            Ok(test)
        }
        _ => Err(BadInput(format!(
            "these networks kept different pictures of {path} back from training (seeds {seeds:?}); judge them one by one"
        ))
        .into()),
    }
}

impl Judged {
    /// The seed of the run that made the network, if it learnt from the data at `path`.
    fn seed_of_run_on(&self, path: &str) -> Option<u64> {
        let run = serde_json::Value::Object(self.header.run.clone());
        let run: RunSettings = serde_json::from_value(run).ok()?;
        let place = |path: &str| Path::new(path).canonicalize().ok();
        let same = run.data.path == path || place(&run.data.path)? == place(path)?;
        same.then_some(run.seed)
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
