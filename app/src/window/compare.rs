//! What networks are worth, from where runs left it.

use super::{
    judging::{self, Case},
    platform::Computer,
};
use anyhow::{Context, Result, bail};
use bayesadapter::{
    disk,
    evaluate::Evaluation,
    session::{self, RunFolder},
};
use std::path::{Path, PathBuf};

/// The networks of one run.
pub struct Compared {
    pub path: PathBuf,
    /// What the run is called.
    pub name: String,
    pub evaluations: Vec<Evaluation>,
}

/// What was found to compare.
pub struct Comparison {
    /// At least one.
    pub runs: Vec<Compared>,
    /// Which others are not among them, and why.
    pub left_out: Option<String>,
}

impl From<Compared> for Comparison {
    fn from(run: Compared) -> Self {
        Self {
            runs: vec![run],
            left_out: None,
        }
    }
}

/// Reads a run folder, a folder of runs, or a posterior file. A file that lies in no run is judged on the data that
/// it was made with.
pub async fn read(path: &Path, computer: &Computer) -> Result<Comparison> {
    if disk::is_folder(path) && !is_run(path) {
        return of_runs(path);
    }
    let mut places = [Some(path), path.parent()].into_iter().flatten();
    Ok(match places.find(|place| is_run(place)) {
        Some(run) => of_run(run)?.into(),
        None => of_file(path, computer).await?.into(),
    })
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

/// The runs in a folder that can be compared; an error if none can.
fn of_runs(folder: &Path) -> Result<Comparison> {
    let (mut runs, mut refusals) = (Vec::new(), Vec::new());
    for path in runs_in(folder)? {
        match of_run(&path) {
            Ok(run) => runs.push(run),
            Err(error) => refusals.push(format!("\n- {error:#}")),
        }
    }
    let refusals = refusals.concat();
    if runs.is_empty() {
        bail!("no run in {} can be compared:{refusals}", folder.display());
    }
    let left_out = format!(
        "not all runs in {} can be compared:{refusals}",
        folder.display()
    );
    Ok(Comparison {
        runs,
        left_out: (!refusals.is_empty()).then_some(left_out),
    })
}

fn of_run(path: &Path) -> Result<Compared> {
    let unreadable = || format!("{} cannot be read", path.display());
    let (folder, _) = RunFolder::open(path).with_context(unreadable)?;
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
    // Nobody listens, and nobody stops it: the window shows that the worker is busy.
    let (_, port) = session::connect();
    let judged = judging::judge(&Case::of(path), computer, &port).await;
    let judged = judged.with_context(|| {
        format!(
            "{} lies in no run folder, so it has to be judged on the data it was made with",
            path.display()
        )
    })?;
    Ok(Compared {
        name: name_of(path),
        path: path.to_owned(),
        evaluations: judged.context("the judging was stopped")?.evaluations,
    })
}

/// The last part of a path, which people know things by.
pub fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
