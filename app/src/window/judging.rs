//! What the network of a posterior file is worth, beside the one that it started from.

use super::{
    album::TestData,
    compare::name_of,
    platform::{self, Computer, OwnPace},
};
use crate::network::{self, Opened};
use anyhow::{Result, bail};
use bayesadapter::{
    data::{Dataset, Split},
    evaluate::{Evaluation, ImageSet},
    models::Network,
    posterior::Bayes,
    session::{self, DeviceChoice, Judge, Method, Port, RunSettings},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A posterior file to judge, and on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub file: PathBuf,
    /// Pictures of the same classes, in the place of those that it was made with.
    pub data: Option<PathBuf>,
    /// Pictures of another kind, in the place of those of its run.
    pub strangers: Option<PathBuf>,
}

impl Case {
    /// On the data that the file was made with.
    pub fn of(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            data: None,
            strangers: None,
        }
    }
}

/// What the network of a posterior file is worth.
pub struct Judgement {
    pub case: Case,
    /// What it was judged on.
    pub data: TestData,
    /// Of the network that it started from, if that is still there, and then its own.
    pub evaluations: Vec<Evaluation>,
}

/// Judges the network of a posterior file, and tells the port how far it is. Nothing is returned if it was stopped.
pub async fn judge(case: &Case, computer: &Computer, port: &Port) -> Result<Option<Judgement>> {
    let named = computer.device(DeviceChoice::Auto).await?;
    platform::give_way(&named);
    let device = named.device;
    let opened = network::open(&case.file, &device)?;
    let run = opened.run()?;
    let data = match (&case.data, &run) {
        // It learnt from most of its own.
        (Some(data), Some(run)) if is_same(data, Path::new(&run.data.path)) => TestData::of(run),
        (Some(data), _) => TestData {
            path: data.display().to_string(),
            split: None,
            set: ImageSet::Test,
        },
        (None, Some(run)) => TestData::of(run),
        (None, None) => bail!(
            "{} does not say what data it was made with; choose some to judge it on",
            case.file.display()
        ),
    };
    let usual = RunSettings::default();
    let settings = run.as_ref().unwrap_or(&usual);
    let (test, validation) = data.open_splits()?;
    check_classes(&opened, &data, &*test)?;
    let judge = Judge {
        test,
        test_is_corrupted: false,
        calibration: None,
        validation,
        out_of_distribution: strangers(case, settings)?,
        preparation: opened.preparation()?,
        settings: settings.evaluation.clone(),
        skip_broken: settings.data.skip_broken,
        workers: settings.data.workers,
        device,
    };
    let start = start(&opened, settings);
    let start = start.iter().map(|start| (start, Method::Map.to_string()));
    let mut evaluations = Vec::new();
    // On other data than its own there is nothing to fit to: what the file has is what users of it get.
    let known = opened.header.calibration.clone();
    let of_file = Judge {
        calibration: known.filter(|_| judge.validation.is_none()),
        ..judge.clone()
    };
    let start = start.map(|(bayes, name)| (&judge, bayes, name));
    for (judge, bayes, name) in start.chain([(&of_file, &opened.bayes, opened.name())]) {
        let judged = judge.evaluate(bayes, &name, port, &OwnPace).await?;
        let Some(evaluation) = judged else {
            return Ok(None);
        };
        evaluations.push(evaluation);
    }
    Ok(Some(Judgement {
        case: case.clone(),
        data,
        evaluations,
    }))
}

/// Whether two paths are of the same place, however they are written.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = one.canonicalize().ok().zip(other.canonicalize().ok());
    one == other || whole.is_some_and(|(one, other)| one == other)
}

/// Refuses images of other classes than the network knows.
fn check_classes(opened: &Opened, data: &TestData, test: &dyn Dataset) -> Result<()> {
    let (known, found) = (&opened.header.class_names, test.class_names());
    if !known.is_empty() && known != found {
        bail!(
            "{} has the classes {}, and the network knows {}; choose data of the same classes",
            data.path,
            in_short(found),
            in_short(known)
        );
    }
    Ok(())
}

/// Pictures of another kind with their name: those of the case, else those of the run.
fn strangers(case: &Case, run: &RunSettings) -> Result<Option<(String, Arc<dyn Dataset>)>> {
    let open = |path: &str| -> Result<_> {
        let pictures = session::open_any(path, Split::Test)?;
        Ok((name_of(Path::new(path)), pictures))
    };
    match (&case.strangers, &run.data.out_of_distribution) {
        (Some(chosen), _) => open(&chosen.display().to_string()).map(Some),
        // Who has other data may not have these.
        (None, Some(of_run)) if case.data.is_some() => Ok(open(of_run).ok()),
        (None, Some(of_run)) => open(of_run).map(Some),
        (None, None) => Ok(None),
    }
}

/// The network that the posterior started from. It is only what the posterior is compared with: where the weights are
/// gone, or are of another last layer, the posterior is judged alone.
fn start(opened: &Opened, run: &RunSettings) -> Option<Bayes<Network>> {
    let architecture = opened.header.architecture.as_ref()?;
    let start = session::starting_point(run, architecture, &opened.device).ok()?;
    start?.network
}

/// The first of some names, and how many there are.
fn in_short(names: &[String]) -> String {
    let first: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
    match names.len() > first.len() {
        true => format!("{}, … ({})", first.join(", "), names.len()),
        false => first.join(", "),
    }
}
