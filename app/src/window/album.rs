//! Test pictures to look at, of the data that a network was judged on.

use super::shown;
use anyhow::{Result, bail};
use bayesadapter::{
    data::{Dataset, Picture, Split},
    evaluate::ImageSet,
    session::{self, RunSettings, SessionError},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where the test pictures of an evaluation are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestData {
    /// As a run is told.
    pub path: String,
    /// How a run splits them into training, validation and test set, as text, and the random seed of that; none where
    /// the network was not trained on them.
    pub split: Option<(String, u64)>,
    /// Which of their sets.
    #[serde(default)]
    pub set: ImageSet,
}

impl TestData {
    /// Of a run.
    pub fn of(settings: &RunSettings) -> Self {
        Self {
            path: settings.data.path.clone(),
            split: Some((
                settings.data.validation.to_string(),
                settings.data.split_seed.unwrap_or(settings.seed),
            )),
            set: ImageSet::Test,
        }
    }

    /// The images of the set.
    pub fn open(&self) -> Result<Arc<dyn Dataset>, SessionError> {
        let (test, validation) = self.open_splits()?;
        Ok(match (self.set, validation) {
            (ImageSet::Validation, Some((_, images))) => images,
            _ => test,
        })
    }

    /// The test images, and validation images with where they come from.
    pub fn open_splits(&self) -> Result<(Arc<dyn Dataset>, Validation), SessionError> {
        let Some((validation, seed)) = &self.split else {
            return Ok((session::open_any(&self.path, Split::Test)?, None));
        };
        let splits = session::open_splits(&self.path, &validation.parse()?, *seed)?;
        let source = splits.validation_source.map(|source| source.to_string());
        Ok((splits.test, source.zip(splits.validation)))
    }
}

/// Validation images and where they come from, if there are some.
pub type Validation = Option<(String, Arc<dyn Dataset>)>;

/// Test pictures that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub data: TestData,
    /// How many there were when the network was judged, with those that could not be read.
    pub there_were: usize,
    pub positions: Vec<usize>,
}

/// What was found of them.
#[derive(Clone, Debug)]
pub struct Album {
    pub wanted: Wanted,
    /// A picture for every position, or why it cannot be shown; or why none can.
    pub pictures: Result<Vec<Result<Picture, String>>, String>,
}

impl Wanted {
    /// The pictures, small.
    pub fn fetch(&self, test: &dyn Dataset) -> Result<Vec<Result<Picture, String>>> {
        if self.there_were != test.len() {
            bail!(
                "{} holds {} test pictures, and held {} when the network was judged: which picture is which is not \
                 known any more; only the numbers can be shown",
                self.data.path,
                test.len(),
                self.there_were
            );
        }
        let picture = |&at: &usize| {
            let picture = test.picture(at).map_err(|error| error.to_string());
            picture.map(|picture| picture.within(shown::AMONG_OTHERS))
        };
        Ok(self.positions.iter().map(picture).collect())
    }
}
