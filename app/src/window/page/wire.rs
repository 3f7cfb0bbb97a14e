//! What crosses between the page and the thread of its runs, which share no memory.

use super::super::{album::TestData, news::News};
use anyhow::{Context, Result};
use bayesadapter::{
    evaluate::{Evaluation, LayerPosterior},
    metrics::DrawCurve,
    session::{
        Command, DeviceChoice, Ending, Event, Interim, Method, Phase, Prepared, Progress, Scrubbed,
        ValidationScores,
    },
    train::Position,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::PathBuf;

/// What the thread is told.
#[derive(Serialize, Deserialize)]
pub enum Order {
    /// A file that the runs need, whose bytes come beside this.
    File(PathBuf),
    /// Folders and settings of the runs, as in a run file.
    Start(Vec<(PathBuf, String)>, DeviceChoice),
    Tell(Command),
}

/// What the thread says.
#[derive(Serialize, Deserialize)]
pub enum Word {
    Began {
        method: Method,
        folder: PathBuf,
        data: TestData,
    },
    Run(#[serde(with = "Told")] Event),
    Ended {
        method: Method,
        ending: Result<Ending, String>,
    },
    Over(Result<(), String>),
    /// The module stops, and why.
    Failed(String),
    /// A file was written, whose bytes come beside this.
    Wrote(PathBuf),
    Renamed(PathBuf, PathBuf),
    Removed(PathBuf),
}

/// An event with all that is in it, some of which is left out where events are told as text.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Event")]
enum Told {
    Phase {
        phase: Phase,
    },
    Prepared(Box<Prepared>),
    InitialStd {
        initial_std: f32,
        temperature: f64,
    },
    Progress(Progress),
    Validated {
        position: Position,
        scores: ValidationScores,
    },
    Saved {
        position: Position,
    },
    Warning {
        message: String,
    },
    Evaluating {
        method: String,
        done: usize,
        of: usize,
        curve: Option<Box<DrawCurve>>,
    },
    Layer(Box<LayerPosterior>),
    Draw(Box<Scrubbed>),
    Interim(Box<Interim>),
    Evaluated(Box<Evaluation>),
}

impl Word {
    /// News of runs; there are no others of them.
    pub fn of(news: News) -> Option<Self> {
        Some(match news {
            News::Began {
                method,
                folder,
                data,
            } => Self::Began {
                method,
                folder,
                data,
            },
            News::Run(event) => Self::Run(event),
            News::Ended { method, ending } => Self::Ended { method, ending },
            News::Over(done) => Self::Over(done),
            _ => return None,
        })
    }

    /// The news again; none of what concerns files or the thread alone.
    pub fn news(self) -> Option<News> {
        Some(match self {
            Self::Began {
                method,
                folder,
                data,
            } => News::Began {
                method,
                folder,
                data,
            },
            Self::Run(event) => News::Run(event),
            Self::Ended { method, ending } => News::Ended { method, ending },
            Self::Over(done) => News::Over(done),
            Self::Failed(_) | Self::Wrote(_) | Self::Renamed(_, _) | Self::Removed(_) => {
                return None;
            }
        })
    }
}

/// CBOR, which keeps numbers that are none.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(message, &mut bytes).context("a message of a run cannot be written")?;
    Ok(bytes)
}

pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    ciborium::from_reader(bytes).context("a message of a run cannot be read")
}
