//! A run on disk: settings, history, states to go on from, and the result.

use super::{HistoryRow, Keeper, Method, RunSettings, SessionError};
use crate::{
    disk::{self, Lock},
    evaluate::Evaluation,
    file::{FileError, write_atomically},
    train::{Position, TrainState},
};
use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

/// The folder of a run. One process at a time holds it.
///
/// | | |
/// |---|---|
/// | `run.toml` | every setting |
/// | `metrics.csv`, `metrics.json` | the history |
/// | `checkpoints/` | states to go on from, the last two; what could not be read ends with `.damaged` |
/// | `posterior.safetensors` | the result |
/// | `evaluations/` | what each network is worth |
pub struct RunFolder {
    path: PathBuf,
    /// What the run file says before the settings: lines of comments.
    about: String,
    _lock: Lock,
}

/// States that are kept: should the last one turn out damaged, there is one before.
const STATES: usize = 2;

impl RunFolder {
    /// Makes the folder of a new run. `about` says which program and device it is of.
    ///
    /// # Errors
    ///
    /// A folder that holds a run already or is in use, and one that cannot be written.
    pub fn create(
        path: impl Into<PathBuf>,
        settings: &RunSettings,
        about: &str,
    ) -> Result<Self, SessionError> {
        let path = path.into();
        let refused = |error: io::Error| SessionError::Folder {
            folder: path.display().to_string(),
            problem: format!("the folder of the run cannot be made: {error}"),
        };
        if disk::exists(&path.join(SETTINGS)) {
            return Err(SessionError::Folder {
                folder: path.display().to_string(),
                problem:
                    "there is a run in this folder already; resume it, or choose another folder"
                        .to_owned(),
            });
        }
        disk::create_folder(&path.join(STATES_FOLDER)).map_err(refused)?;
        disk::create_folder(&path.join(EVALUATIONS)).map_err(refused)?;
        let mut this = Self {
            _lock: lock(&path)?,
            path,
            about: String::new(),
        };
        this.change(settings, about)?;
        Ok(this)
    }

    /// Writes other settings for what is left of the run, and of which program and device it is from now on.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn change(&mut self, settings: &RunSettings, about: &str) -> Result<(), SessionError> {
        self.about = about.lines().map(|line| format!("# {line}\n")).collect();
        Ok(self.write_settings(&settings.to_toml()?)?)
    }

    /// Opens the folder of a run, with its settings.
    ///
    /// # Errors
    ///
    /// A folder without a run, or one in use.
    pub fn open(path: impl Into<PathBuf>) -> Result<(Self, RunSettings), SessionError> {
        let path = path.into();
        let file = path.join(SETTINGS);
        let text = disk::read(&file).map_err(|error| SessionError::Folder {
            folder: path.display().to_string(),
            problem: format!("there is no run to resume: {SETTINGS} cannot be read ({error})"),
        })?;
        let text = String::from_utf8_lossy(&text);
        let lock = lock(&path)?;
        let settings = RunSettings::from_toml(&text)?;
        let about = text.lines().take_while(|line| line.starts_with('#'));
        let this = Self {
            path,
            about: about.map(|line| format!("{line}\n")).collect(),
            _lock: lock,
        };
        Ok((this, settings))
    }

    /// The latest state that is whole, if there is one, and the files that were found damaged.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read, and a state of another version of this library: to begin anew would cost it.
    pub fn state(&self) -> Result<(Option<TrainState>, Vec<PathBuf>), SessionError> {
        let mut damaged = Vec::new();
        for path in self.states()?.into_iter().rev() {
            let bytes = disk::read(&path);
            match bytes.map(|bytes| TrainState::from_bytes(&bytes)) {
                Ok(Ok(state)) => return Ok((Some(state), damaged)),
                Ok(Err(error @ (FileError::Newer { .. } | FileError::Older { .. }))) => {
                    return Err(SessionError::Folder {
                        folder: path.display().to_string(),
                        problem: error.to_string(),
                    });
                }
                Ok(Err(_)) | Err(_) => damaged.push(path),
            }
        }
        Ok((None, damaged))
    }

    /// Whether the run came to its end: the result is there, and judged.
    pub fn is_finished(&self, settings: &RunSettings) -> bool {
        let result = settings.result_name();
        disk::exists(&self.path.join(POSTERIOR)) && disk::exists(&self.evaluation_path(&result))
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the result is.
    pub fn posterior_path(&self) -> PathBuf {
        self.path.join(POSTERIOR)
    }

    /// The evaluations so far, the one of the starting point first.
    ///
    /// # Errors
    ///
    /// Files that cannot be read.
    pub fn evaluations(&self) -> Result<Vec<Evaluation>, SessionError> {
        let files = list(&self.path.join(EVALUATIONS), "json")?;
        let evaluations = files.iter().map(|file| read_json(file));
        let mut evaluations: Vec<Evaluation> = evaluations.collect::<Result<_, _>>()?;
        let start = Method::Map.to_string();
        evaluations.sort_by_key(|one| one.method != start);
        Ok(evaluations)
    }

    fn evaluation_path(&self, method: &str) -> PathBuf {
        let name = format!("{}.json", method.to_lowercase().replace(' ', "-"));
        self.path.join(EVALUATIONS).join(name)
    }

    /// The history so far.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn history_rows(&self) -> Result<Vec<HistoryRow>, SessionError> {
        let file = self.path.join(HISTORY_JSON);
        if !disk::exists(&file) {
            return Ok(Vec::new());
        }
        read_json(&file)
    }

    fn write_settings(&self, toml: &str) -> Result<(), FileError> {
        let text = format!("{}{toml}", self.about);
        write_atomically(self.path.join(SETTINGS), text.as_bytes())
    }

    fn state_path(&self, step: usize) -> PathBuf {
        self.path.join(STATES_FOLDER).join(state_name(step))
    }

    fn states(&self) -> Result<Vec<PathBuf>, SessionError> {
        list(&self.path.join(STATES_FOLDER), STATE)
    }
}

const SETTINGS: &str = "run.toml";
const STATES_FOLDER: &str = "checkpoints";
/// The ending of a state.
const STATE: &str = "safetensors";
const EVALUATIONS: &str = "evaluations";
/// The file of the result.
pub(super) const POSTERIOR: &str = "posterior.safetensors";
const HISTORY: &str = "metrics.csv";
const HISTORY_JSON: &str = "metrics.json";

impl Keeper for RunFolder {
    fn state(&mut self, position: Position, bytes: Vec<u8>) -> Result<(), FileError> {
        let last = self.state_path(position.step);
        write_atomically(&last, &bytes)?;
        let states = self.states().unwrap_or_default();
        let (states, later) = states.split_at(states.partition_point(|path| *path <= last));
        // Best effort, both: a file too many harms nobody.
        for unread in later {
            // The run came from before it, since it could not be read.
            let _ = disk::rename(unread, &unread.with_added_extension("damaged"));
        }
        for old in states.iter().rev().skip(STATES) {
            let _ = disk::remove_file(old);
        }
        Ok(())
    }

    fn forget_states(&mut self, step: usize) -> Result<(), FileError> {
        let refused = |path: &Path, error| FileError::Io {
            path: path.display().to_string(),
            error,
        };
        let (folder, first) = (self.path.join(STATES_FOLDER), self.state_path(step));
        let files = disk::list(&folder).map_err(|error| refused(&folder, error))?;
        // What could not be read was put away as damaged, and stays for who wants to look at it.
        let is_state = |path: &PathBuf| is_of(path, STATE) && *path >= first;
        let states = files.into_iter().filter(is_state);
        let result = Some(self.posterior_path()).filter(|path| disk::exists(path));
        for path in states.chain(result) {
            disk::remove_file(&path).map_err(|error| refused(&path, error))?;
        }
        Ok(())
    }

    fn settings(&mut self, settings: &RunSettings) -> Result<(), FileError> {
        let text = settings.to_toml();
        self.write_settings(&text.map_err(|error| FileError::Header(error.to_string()))?)
    }

    fn history(&mut self, history: &[HistoryRow]) -> Result<(), FileError> {
        let mut text = String::from(
            "step,epoch,likelihood_loss,complexity_loss,matrix_complexity_loss,accuracy,lr,variational_lr,\
             ood_mutual_information,validation_accuracy,validation_nll,validation_ece,validation_images,seconds\n",
        );
        for row in history {
            let validation = match row.validation {
                Some(scores) => format!(
                    "{},{},{},{}",
                    scores.accuracy, scores.nll, scores.ece, scores.images
                ),
                None => ",,,".to_owned(),
            };
            let ood = row.ood_mutual_information;
            let ood = ood.map_or(String::new(), |nats| nats.to_string());
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{ood},{validation},{:.3}",
                row.step,
                row.epoch,
                row.likelihood_loss,
                row.complexity_loss,
                row.matrix_complexity_loss,
                row.accuracy,
                row.lr,
                row.variational_lr,
                row.seconds
            );
        }
        write_atomically(self.path.join(HISTORY), text.as_bytes())?;
        write_json(&self.path.join(HISTORY_JSON), &history)
    }

    fn posterior(&mut self, bytes: Vec<u8>) -> Result<(), FileError> {
        write_atomically(self.path.join(POSTERIOR), &bytes)
    }

    fn evaluation(&mut self, evaluation: &Evaluation) -> Result<(), FileError> {
        write_json(&self.evaluation_path(&evaluation.method), evaluation)
    }

    fn judged(&self, name: &str) -> Option<Evaluation> {
        read_json(&self.evaluation_path(name)).ok()
    }
}

/// The file of a state.
pub(super) fn state_name(step: usize) -> String {
    format!("step-{step:09}.{STATE}")
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), FileError> {
    let bytes = serde_json::to_vec(value).map_err(|error| FileError::Header(error.to_string()))?;
    write_atomically(path, &bytes)
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, SessionError> {
    let refused = |problem: String| SessionError::Folder {
        folder: path.display().to_string(),
        problem,
    };
    let text = disk::read(path).map_err(|error| refused(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| refused(error.to_string()))
}

/// Files of a folder with an ending, sorted by name.
fn list(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, SessionError> {
    let refused = |error: io::Error| SessionError::Folder {
        folder: folder.display().to_string(),
        problem: error.to_string(),
    };
    let mut files = disk::list(folder).map_err(refused)?;
    files.retain(|path| is_of(path, ending));
    Ok(files)
}

fn is_of(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

fn lock(folder: &Path) -> Result<Lock, SessionError> {
    let refused = |problem: String| SessionError::Folder {
        folder: folder.display().to_string(),
        problem,
    };
    let lock = disk::lock(folder);
    let lock = lock.map_err(|error| refused(format!("the folder cannot be written: {error}")))?;
    lock.ok_or_else(|| refused("another process works on this run".to_owned()))
}
