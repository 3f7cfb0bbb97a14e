//! What fine-tuning needs beside a forward pass: an optimiser and its rates, and a loop that can be saved at any
//! step and goes on from there bit for bit.

mod rates;
mod sgd;
mod state;
mod tally;
mod trainer;

pub use rates::{FineTuning, RateError, Rates};
pub use state::{Position, TrainState};
pub use tally::StepScores;
pub(crate) use trainer::Moment;
pub use trainer::{RunningStatistics, TrainError, Trainer, TrainerSettings};
