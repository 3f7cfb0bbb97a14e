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
