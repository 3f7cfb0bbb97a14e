//! What the worker does beside answering about the posterior that is open.

use super::{
    compare,
    judging::{self, Case},
    news::News,
    platform::{self, Computer},
    sort, survey,
};
use crate::{
    outcome,
    report::{self, Exhibit, Format},
};
use anyhow::Result;
use bayesadapter::session::{Port, RunSettings};
use std::path::{Path, PathBuf};

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
    /// The same, for someone who compares networks.
    SortToCompare(PathBuf),
    /// Read what the networks of a run, or of a posterior file, are worth.
    Compare(PathBuf),
    /// Judge the network of a posterior file, which the other end of the port follows and can stop.
    Judge(Case, Port),
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
    Exhibit(Exhibit, Format),
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

    /// Whether it may take minutes, so that others should not wait for it.
    pub fn takes_long(&self) -> bool {
        matches!(
            self,
            Self::Estimate(_) | Self::Compare(_) | Self::Judge(_, _)
        )
    }

    /// Whether it writes a file.
    pub fn saves(&self) -> bool {
        matches!(self, Self::Save(_, _) | Self::Report(_))
    }

    pub async fn run(self, computer: &Computer) -> Result<News> {
        Ok(match self {
            Self::Survey(settings) => News::Surveyed(Box::new(survey::survey(*settings))),
            Self::Estimate(settings) => {
                News::Estimated(Box::new(survey::estimate(*settings, computer).await))
            }
            Self::ListDevices => News::Devices(computer.list().await),
            Self::Sort(path) => News::Sorted(sort::sort(path)?),
            Self::SortToCompare(path) => News::Sorted(sort::to_compare(path)?),
            Self::Compare(path) => News::Compared(compare::read(&path, computer).await?),
            Self::Judge(case, port) => match judging::judge(&case, computer, &port).await? {
                Some(judgement) => News::Judged(Box::new(judgement)),
                None => News::JudgingOver,
            },
            Self::Save(parcel, path) => told(save(parcel, path).await, false),
            Self::Report(folder) => told(report_of(&folder), true),
        })
    }
}

async fn save(parcel: Parcel, path: PathBuf) -> Result<PathBuf> {
    platform::deliver(&path, &parcel.content.into_bytes().await?)?;
    Ok(path)
}

fn report_of(folder: &Path) -> Result<PathBuf> {
    platform::deliver_report(&outcome::report(folder)?, folder)
}

/// What became of a file.
fn told(saved: Result<PathBuf>, show: bool) -> News {
    match saved {
        Ok(path) => News::Saved { path, show },
        Err(error) => News::NotSaved(format!("{error:#}")),
    }
}

impl Content {
    async fn into_bytes(self) -> Result<Vec<u8>> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::Exhibit(exhibit, Format::Csv) => Ok(exhibit.csv().into_bytes()),
            Self::Exhibit(exhibit, Format::Svg) => Ok(exhibit.svg()?.into_bytes()),
            Self::Exhibit(exhibit, Format::Png) => platform::png(&exhibit.svg()?).await,
            Self::Report(folder) => Ok(report::html(&outcome::report(&folder)?)?.into_bytes()),
        }
    }
}
