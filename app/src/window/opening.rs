//! Opening a posterior file, with what belongs to it: its run, its data, the weights that it started from.

use super::{album::TestData, compare, worker::View};
use crate::network::{self, Opened};
use anyhow::Result;
use bayesadapter::{
    data::Dataset,
    evaluate::{Evaluation, LayerPosterior, movements},
    models::Network,
    posterior::{Bayes, Inventory},
    session::{self, HistoryRow, Probes, RunFolder},
};
use burn::tensor::Device;
use std::{
    collections::BTreeMap,
    fmt::Display,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Test pictures, and where they are from.
pub struct TestSet {
    pub data: TestData,
    pub pictures: Arc<dyn Dataset>,
}

/// A posterior file that is open.
pub struct Open {
    pub opened: Opened,
    pub test: Option<TestSet>,
    /// The test pictures that draws are shown with.
    pub probes: Probes,
    /// What the run of the file started from.
    start: Option<Inventory>,
    /// The same as a network that answers.
    pub start_network: Option<Bayes<Network>>,
}

impl Open {
    pub async fn layer(&self, path: &str) -> Result<LayerPosterior> {
        let inventory = self.opened.bayes.inventory();
        Ok(LayerPosterior::of_path(&inventory, path, self.start.as_ref()).await?)
    }
}

/// Opens a file. Without what belongs to it the posterior can be shown all the same; what is missing is told.
pub async fn open(path: PathBuf, device: &Device) -> Result<(Open, View)> {
    let opened = network::open(&path, device)?;
    let inventory = opened.bayes.inventory();
    let summaries = inventory.summaries().await?;
    let mut remarks = Remarks::default();
    let run = remarks
        .without(opened.run(), "The settings of its run are missing")
        .flatten();
    let architecture = opened.header.architecture.as_ref();
    let start = run.as_ref().zip(architecture).and_then(|(run, of)| {
        let start = session::starting_point(run, of, device);
        let what =
            "How far it moved is not known, since the weights that it started from are missing";
        remarks.without(start, what).flatten()
    });
    let (start, start_network) = match start {
        Some(start) => (Some(start.parameters), start.network),
        None => (None, None),
    };
    let movements = match &start {
        Some(start) => movements(&inventory, start).await?,
        None => BTreeMap::new(),
    };
    let data = run.as_ref().map(TestData::of);
    let test = data.clone().and_then(|data| {
        let pictures = remarks.without(data.open(), "Its test pictures are missing")?;
        Some(TestSet { data, pictures })
    });
    let (evaluations, history) = of_folder(path.parent(), &mut remarks);
    let probes = probes(&opened, test.as_ref(), &evaluations);
    let open = Open {
        probes: remarks
            .without(probes, "What its draws say is not known")
            .unwrap_or_default(),
        opened,
        test,
        start,
        start_network,
    };
    let layer = match inventory.entries.first() {
        Some(first) => Some(Arc::new(open.layer(&first.path).await?)),
        None => None,
    };
    let training = run.map(|run| run.training);
    let view = View {
        method: open.opened.method,
        name: open.opened.name(),
        about: open.opened.about(),
        input_shape: open.opened.header.input_shape,
        different_draws: open.opened.bayes.posterior().different_draws(),
        summaries,
        movements,
        layer,
        evaluations,
        history,
        pictures_per_step: training.map(|training| training.batch * training.accumulate),
        data,
        remarks: remarks.0,
        path,
    };
    Ok((open, view))
}

/// What the file has to do without.
#[derive(Default)]
struct Remarks(Vec<String>);

impl Remarks {
    /// What was found; or nothing, and a line on what is missing and why.
    fn without<T>(&mut self, found: Result<T, impl Display>, what: &str) -> Option<T> {
        let told = |error| self.0.push(format!("{what}: {error:#}"));
        found.map_err(told).ok()
    }
}

/// Evaluations and history of the run that a file lies in, if it lies in one.
fn of_folder(folder: Option<&Path>, remarks: &mut Remarks) -> (Vec<Evaluation>, Vec<HistoryRow>) {
    let Some(folder) = folder.filter(|folder| compare::is_run(folder)) else {
        return (Vec::new(), Vec::new());
    };
    let opened = RunFolder::open(folder);
    let Some((folder, _)) = remarks.without(opened, "The folder of its run cannot be read") else {
        return (Vec::new(), Vec::new());
    };
    let evaluations = remarks.without(folder.evaluations(), "What it is worth cannot be read");
    let history = remarks.without(
        folder.history_rows(),
        "The history of its run cannot be read",
    );
    (evaluations.unwrap_or_default(), history.unwrap_or_default())
}

/// The test pictures that draws are shown with.
fn probes(opened: &Opened, test: Option<&TestSet>, evaluations: &[Evaluation]) -> Result<Probes> {
    let Some(test) = test.map(|test| &*test.pictures) else {
        return Ok(Probes::default());
    };
    let name = opened.name();
    let judged = evaluations.iter().find(|one| one.method == name);
    let numbers = Probes::choose(test.len(), judged);
    let (preparation, names) = (opened.preparation()?, &opened.header.class_names);
    Ok(Probes::new(test, &numbers, &preparation, names)?)
}
