//! A run: from a network and pictures to a posterior and what it is worth.
//!
//! One run is one stream of [`Event`]s, one cell with the [`Latest`] state, and one set of [`Command`]s. Command
//! line, window and page are three users of it. What it saves goes to a [`Keeper`]: natively a [`RunFolder`].

mod complaint;
mod device_choice;
mod error;
mod event;
mod folder;
mod initial_std;
mod job;
mod judge;
mod learning;
mod looks;
mod mark;
mod open;
mod port;
mod presets;
mod run;
mod sample;
mod scrub;
mod settings;
mod unhurried;
mod working_time;

pub use device_choice::DeviceChoice;
pub use error::SessionError;
pub use event::{Command, Event, HistoryRow, Interim, Phase, Prepared, Progress, ValidationScores};
pub use folder::RunFolder;
pub use job::Job;
pub use judge::Judge;
pub use open::{StartingPoint, built_in, open_any, open_splits, starting_point};
pub use port::{Control, Latest, Port, connect};
pub use presets::PRESETS;
pub use run::{Ending, run};
pub use scrub::{Glimpse, Probes, Scrub, Scrubbed};
pub use settings::{
    DataSettings, EvaluationSettings, Method, ModelSettings, PosteriorSettings, RunSettings,
    SettingsError, TrainingSettings,
};

pub use crate::data::Splits;

use crate::{evaluate::Evaluation, file::FileError, train::Position};

/// Where a run puts what it saves.
pub trait Keeper {
    /// The state at a position, from which the run can go on. It replaces the one before.
    ///
    /// # Errors
    ///
    /// What the place refuses; what was there stays.
    fn state(&mut self, position: Position, bytes: Vec<u8>) -> Result<(), FileError>;

    /// The states after `step` steps and later are worthless, and so is a result: numbers ran away in them.
    ///
    /// # Errors
    ///
    /// What the place refuses.
    fn forget_states(&mut self, step: usize) -> Result<(), FileError>;

    /// The settings, when they change on the way. The run goes on with them when it is resumed.
    ///
    /// # Errors
    ///
    /// What the place refuses; what was there stays.
    fn settings(&mut self, settings: &RunSettings) -> Result<(), FileError>;

    /// The history so far.
    ///
    /// # Errors
    ///
    /// What the place refuses.
    fn history(&mut self, history: &[HistoryRow]) -> Result<(), FileError>;

    /// The result.
    ///
    /// # Errors
    ///
    /// What the place refuses.
    fn posterior(&mut self, bytes: Vec<u8>) -> Result<(), FileError>;

    /// What a network is worth.
    ///
    /// # Errors
    ///
    /// What the place refuses.
    fn evaluation(&mut self, evaluation: &Evaluation) -> Result<(), FileError>;

    /// What a network of this run was found to be worth before, if that was kept and can be read.
    fn judged(&self, _name: &str) -> Option<Evaluation> {
        None
    }
}

/// How a run shares its thread with others.
pub trait Pace {
    /// After every step: gives way, where that is needed. Seconds come back in which the run was made to rest, and that
    /// are no work of its own.
    fn breathe(&self) -> impl Future<Output = f64>;

    /// While the run is paused: a moment without work.
    fn wait(&self) -> impl Future<Output = ()>;
}

/// A run with a thread of its own.
#[cfg(not(target_family = "wasm"))]
pub struct OwnThread;

#[cfg(not(target_family = "wasm"))]
impl Pace for OwnThread {
    async fn breathe(&self) -> f64 {
        0.0
    }

    async fn wait(&self) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Starts a run on a thread of its own. The other end of the returned control is the run.
#[cfg(not(target_family = "wasm"))]
pub fn spawn(
    job: Job,
    resumed: Option<crate::train::TrainState>,
    mut keeper: impl Keeper + Send + 'static,
) -> (
    Control,
    std::thread::JoinHandle<Result<Ending, SessionError>>,
) {
    let (control, port) = connect();
    let thread = std::thread::spawn(move || {
        pollster::block_on(run(job, resumed, &mut keeper, &port, &OwnThread))
    });
    (control, thread)
}
