//! What networks are worth, from where runs left it.

use super::{
    album::TestData,
    platform::{Computer, OwnPace},
};
use crate::network::{self, Opened};
use anyhow::{Context, Result, bail};
use bayesadapter::{
    data::Split,
    disk,
    evaluate::Evaluation,
    session::{self, DeviceChoice, Judge, RunFolder, RunSettings},
};
use burn::tensor::Device;
use std::path::{Path, PathBuf};

/// The networks of one run.
pub struct Compared {
    pub path: PathBuf,
    /// What the run is called.
    pub name: String,
    pub evaluations: Vec<Evaluation>,
}

/// What the network of a posterior file is worth.
pub struct Judgement {
    pub path: PathBuf,
    /// What it was judged on.
    pub data: TestData,
    pub evaluation: Evaluation,
}

/// Reads a run folder, a folder of runs, or a posterior file. A file that lies in no run is judged on the data that
/// it was made with.
pub async fn read(path: &Path, computer: &Computer) -> Result<Vec<Compared>> {
    if disk::is_folder(path) {
        let runs = match is_run(path) {
            true => vec![path.to_owned()],
            false => runs_in(path)?,
        };
        return runs.iter().map(|run| of_run(run)).collect();
    }
    match path.parent().filter(|folder| is_run(folder)) {
        Some(folder) => Ok(vec![of_run(folder)?]),
        None => Ok(vec![of_file(path, computer).await?]),
    }
}

/// Whether a folder is that of a run.
pub fn is_run(folder: &Path) -> bool {
    disk::exists(&folder.join("run.toml"))
}

/// The runs right inside of a folder, by name.
pub fn runs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("{} cannot be read", folder.display());
    let mut paths = disk::list(folder).with_context(unreadable)?;
    paths.retain(|path| is_run(path));
    match paths.is_empty() {
        true => bail!(
            "{} holds no run; choose a run folder (the one with run.toml), or a posterior file",
            folder.display()
        ),
        false => Ok(paths),
    }
}

fn of_run(path: &Path) -> Result<Compared> {
    let (folder, _) = RunFolder::open(path)?;
    let evaluations = folder.evaluations()?;
    if evaluations.is_empty() {
        bail!(
            "{}: nothing was judged in this run yet; let it come to its end",
            path.display()
        );
    }
    Ok(Compared {
        name: name_of(path),
        path: path.to_owned(),
        evaluations,
    })
}

async fn of_file(path: &Path, computer: &Computer) -> Result<Compared> {
    let judgement = judge(path, None, computer).await.with_context(|| {
        format!(
            "{} lies in no run folder, so it has to be judged on the data it was made with",
            path.display()
        )
    })?;
    Ok(Compared {
        name: name_of(path),
        path: judgement.path,
        evaluations: vec![judgement.evaluation],
    })
}

/// Judges the network of a posterior file: on the data it was made with, or on those of another path.
pub async fn judge(path: &Path, data: Option<&Path>, computer: &Computer) -> Result<Judgement> {
    let device = computer.device(DeviceChoice::Auto).await?.device;
    let opened = network::open(path, &device)?;
    let run = opened.run()?;
    let test = match (data, &run) {
        (Some(data), _) => TestData {
            path: data.display().to_string(),
            seed: None,
        },
        (None, Some(run)) => TestData::of(run),
        (None, None) => bail!(
            "{} does not say what data it was made with; choose some to judge it on",
            path.display()
        ),
    };
    // Pictures of another kind belong to the data of the run.
    let strangers = run.as_ref().filter(|_| data.is_none());
    let strangers = strangers.and_then(|run| run.data.out_of_distribution.as_ref());
    let usual = RunSettings::default();
    let judge = judge_of(
        &opened,
        run.as_ref().unwrap_or(&usual),
        &test,
        strangers,
        device,
    )?;
    // Nobody listens: the window shows that the worker is busy.
    let (_, port) = session::connect();
    let judged = judge
        .evaluate(&opened.bayes, opened.method, &port, &OwnPace)
        .await?;
    Ok(Judgement {
        path: path.to_owned(),
        data: test,
        evaluation: judged.context("the judging was stopped")?,
    })
}

fn judge_of(
    opened: &Opened,
    run: &RunSettings,
    data: &TestData,
    strangers: Option<&String>,
    device: Device,
) -> Result<Judge> {
    let test = data.open()?;
    let (known, found) = (&opened.header.class_names, test.class_names());
    if !known.is_empty() && known != found {
        bail!(
            "{} has the classes {}, and the network knows {}; choose data of the same classes",
            data.path,
            in_short(found),
            in_short(known)
        );
    }
    let out_of_distribution = match strangers {
        Some(path) => {
            let data = session::open_any(path, Split::Test)?;
            Some((name_of(Path::new(path)), data))
        }
        None => None,
    };
    Ok(Judge {
        test,
        out_of_distribution,
        preparation: opened.preparation()?,
        settings: run.evaluation.clone(),
        skip_broken: run.data.skip_broken,
        workers: run.data.workers,
        device,
    })
}

/// The first of some names, and how many there are.
fn in_short(names: &[String]) -> String {
    let first: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
    match names.len() > first.len() {
        true => format!("{}, … ({})", first.join(", "), names.len()),
        false => first.join(", "),
    }
}

/// The last part of a path, which people know things by.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
