//! What fine-tuning needs beside a forward pass: an optimiser and its rates, and a loop that can be saved at any
//! step and goes on from there bit for bit.

mod error;
mod finite;
mod parts;
mod rates;
mod regularisation;
mod schedule;
mod settings;
mod sgd;
mod state;
mod tally;
mod trainer;

pub use error::TrainError;
pub use rates::{FineTuning, RateError, Rates};
pub use regularisation::{RegularisationError, Regularised, UncertaintyRegularisation};
pub use schedule::Schedule;
pub use settings::{RunningStatistics, TrainerSettings};
pub use state::{Position, TrainState};
pub use tally::StepScores;
pub use trainer::Trainer;
pub(crate) use trainer::{Moment, THE_LOSS};
