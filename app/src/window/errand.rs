//! What the worker does beside answering about the posterior that is open.

use super::{
    compare::{self, Compared},
    news::News,
    platform::{self, Computer},
    sort, survey,
};
use crate::{outcome, report};
use anyhow::Result;
use bayesadapter::session::RunSettings;
use std::path::PathBuf;

/// One thing to do.
pub enum Errand {
    /// Look at the files that settings name.
    Survey(Box<RunSettings>),
    /// Estimate memory and time of a run.
    Estimate(Box<RunSettings>),
    /// Find out what can compute here.
    ListDevices,
    /// Find out what a file or folder is.
    Sort(PathBuf),
    /// Read what the networks of a run, or of a posterior file, are worth.
    Compare(PathBuf),
    /// Write a file.
    Save(Parcel, PathBuf),
    /// Write the report of a run into its folder, and show it.
    Report(PathBuf),
}

/// What becomes a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel {
    /// The file's name, with its ending.
    pub name: String,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text(String),
    Drawing(report::Drawing, report::Format),
    /// The report of the run in a folder.
    Report(PathBuf),
}

impl Errand {
    /// Whether this takes the place of an errand that waits: of what is typed, the latest counts.
    pub fn replaces(&self, waiting: &Self) -> bool {
        matches!(
            (self, waiting),
            (Self::Survey(_), Self::Survey(_)) | (Self::Estimate(_), Self::Estimate(_))
        )
    }

    pub async fn run(self, computer: &Computer) -> Result<News> {
        Ok(match self {
            Self::Survey(settings) => News::Surveyed(Box::new(survey::survey(*settings))),
            Self::Estimate(settings) => {
                News::Estimated(Box::new(survey::estimate(*settings, computer).await))
            }
            Self::ListDevices => News::Devices(computer.list().await),
            Self::Sort(path) => News::Sorted(sort::sort(path)?),
            Self::Compare(path) => {
                let runs: Vec<Compared> = compare::read(&path, computer).await?;
                News::Compared(runs)
            }
            Self::Save(parcel, path) => {
                platform::deliver(&path, &parcel.content.into_bytes()?)?;
                News::Saved { path, show: false }
            }
            Self::Report(folder) => {
                let path = platform::deliver_report(&outcome::report(&folder)?, &folder)?;
                News::Saved { path, show: true }
            }
        })
    }
}

impl Content {
    fn into_bytes(self) -> Result<Vec<u8>> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::Drawing(drawing, format) => drawing.to_bytes(format),
            Self::Report(folder) => Ok(report::html(&outcome::report(&folder)?)?.into_bytes()),
        }
    }
}
