//! Test pictures to look at, of the data that a network was judged on.

use super::shown;
use anyhow::{Result, bail};
use bayesadapter::{
    data::{Dataset, Picture, Split},
    session::{self, RunSettings, SessionError},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where the test pictures of an evaluation are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestData {
    /// As a run is told.
    pub path: String,
    /// What sets pictures aside to judge by; none where the network learnt from none of them.
    pub seed: Option<u64>,
}

impl TestData {
    /// Of a run.
    pub fn of(settings: &RunSettings) -> Self {
        Self {
            path: settings.data.path.clone(),
            seed: Some(settings.seed),
        }
    }

    pub fn open(&self) -> Result<Arc<dyn Dataset>, SessionError> {
        match self.seed {
            Some(seed) => Ok(session::open_splits(&self.path, seed)?.test),
            None => session::open_any(&self.path, Split::Test),
        }
    }
}

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
