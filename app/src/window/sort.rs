//! What a file or folder is, by its content.

use super::compare::{is_run, runs_in};
use anyhow::{Context, Result, bail};
use bayesadapter::{
    checkpoint::Checkpoint,
    data::{self, DataError, Split},
    disk,
    file::{FileError, PosteriorFile},
    session::{RunFolder, RunSettings},
};
use std::path::{Path, PathBuf};

/// What was found.
pub enum Found {
    Posterior(PathBuf),
    /// A checkpoint without a posterior.
    Weights(PathBuf),
    Data(PathBuf),
    Picture(PathBuf),
    /// Pictures in a folder, which a network can be asked about.
    Pictures {
        paths: Vec<PathBuf>,
        /// Why none can learn from them.
        refusal: String,
    },
    Settings(Box<RunSettings>),
    /// A run that came to its end has a posterior to open.
    FinishedRun {
        posterior: PathBuf,
    },
    /// A run that can go on.
    StoppedRun {
        folder: PathBuf,
        settings: Box<RunSettings>,
    },
    /// A run, a folder of runs or a posterior file, whose networks can be compared.
    Networks(PathBuf),
}

/// Bytes that tell a picture from other files.
const START: u64 = 64;

/// Finds out what there is at a path.
pub fn sort(path: PathBuf) -> Result<Found> {
    match disk::is_folder(&path) {
        true => folder(path),
        false => file(path),
    }
}

/// The same for someone who compares networks: what holds some is not opened.
pub fn to_compare(path: PathBuf) -> Result<Found> {
    Ok(match sort(path.clone())? {
        Found::Posterior(_) | Found::FinishedRun { .. } | Found::StoppedRun { .. } => {
            Found::Networks(path)
        }
        found => found,
    })
}

fn folder(path: PathBuf) -> Result<Found> {
    if is_run(&path) {
        let (folder, settings) = RunFolder::open(&path)?;
        return Ok(match folder.is_finished(&settings) {
            true => Found::FinishedRun {
                posterior: folder.posterior_path(),
            },
            false => Found::StoppedRun {
                folder: path,
                settings: Box::new(settings),
            },
        });
    }
    match (data::open(&path, Split::Train), runs_in(&path)) {
        (Ok(_), _) => Ok(Found::Data(path)),
        (Err(_), Ok(_)) => Ok(Found::Networks(path)),
        (Err(error @ DataError::NoClasses { .. }), Err(_)) => match pictures_in(&path)? {
            paths if paths.is_empty() => Err(error.into()),
            paths => Ok(Found::Pictures {
                paths,
                refusal: error.to_string(),
            }),
        },
        (Err(error), Err(_)) => Err(error.into()),
    }
}

fn file(path: PathBuf) -> Result<Found> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&[".toml"]) {
        let text = disk::read(&path);
        let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
        let text = String::from_utf8_lossy(&text);
        let settings = RunSettings::from_toml(&text)
            .with_context(|| format!("{} is no run file", path.display()))?;
        return Ok(Found::Settings(Box::new(settings)));
    }
    if ends(&[".tar", ".tar.gz", ".tgz"]) {
        return Ok(Found::Data(path));
    }
    // One file of several that make a data set.
    if ends(&["-ubyte", "-ubyte.gz", "_batch.bin"])
        && let Some(folder) = path.parent()
    {
        return Ok(Found::Data(folder.to_owned()));
    }
    if is_picture(&path)? {
        // Some data sets are one large picture with a file of labels beside it.
        return Ok(match data::open(&path, Split::Train) {
            Ok(_) => Found::Data(path),
            Err(_) => Found::Picture(path),
        });
    }
    match PosteriorFile::open(&path) {
        Ok(_) => Ok(Found::Posterior(path)),
        Err(FileError::NoPosterior | FileError::Format(_)) => checkpoint(path),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// The pictures right inside of a folder, by name.
fn pictures_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = disk::list(folder);
    let mut paths = paths.with_context(|| format!("{} cannot be read", folder.display()))?;
    paths.retain(|path| !disk::is_folder(path) && matches!(is_picture(path), Ok(true)));
    Ok(paths)
}

fn is_picture(path: &Path) -> Result<bool> {
    let start = disk::read_start(path, START);
    let start = start.with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(image::guess_format(&start).is_ok())
}

fn checkpoint(path: PathBuf) -> Result<Found> {
    match Checkpoint::open(&path) {
        Ok(_) => Ok(Found::Weights(path)),
        Err(error) => bail!(
            "{error}. The window takes posterior files, checkpoints, pictures, folders and archives of pictures, run \
             folders and run files"
        ),
    }
}
