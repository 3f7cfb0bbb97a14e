//! What is said to a session, and what it says.

use super::{Scrub, Scrubbed};
use crate::{
    checkpoint::LoadAccount,
    evaluate::{Evaluation, LayerPosterior},
    metrics::DrawCurve,
    posterior::ConversionAccount,
    train::{FineTuning, Position, Rates},
};
use serde::{Deserialize, Serialize};
use std::mem;

/// What a session can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Wait after the current step.
    Pause,
    /// Go on.
    Resume,
    /// Save, and end after the current step.
    Stop,
    /// Save after the current step.
    Save,
    /// Tell what the posterior of the parameter with this path looks like now.
    ShowLayer(String),
    /// Tell what a network out of the posterior looks like now, and says of a few test pictures. The same one again is
    /// told when there is time for it: looking takes a fifth of a run's time at most.
    ShowDraw(Scrub),
    /// Judge the network as it is now, on some of the test pictures, when there is time for it.
    JudgeNow,
    /// Go on with other learning rates.
    SetRates(FineTuning),
}

impl Command {
    /// Whether this command makes one that waits worthless.
    pub(super) fn replaces(&self, waiting: &Self) -> bool {
        let pauses = |command: &Self| matches!(command, Self::Pause | Self::Resume);
        mem::discriminant(self) == mem::discriminant(waiting) || (pauses(self) && pauses(waiting))
    }
}

/// What a session does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Reads weights and data.
    #[default]
    Preparing,
    /// Learns.
    Training,
    /// Waits for [`Command::Resume`].
    Paused,
    /// Judges the result.
    Evaluating,
    /// Has ended, one way or the other.
    Ended,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The session does something else now.
    Phase {
        /// What it does.
        phase: Phase,
    },
    /// Weights and data are there.
    Prepared(Box<Prepared>),
    /// Nobody chose how far draws lie apart at the start, and the overconfidence of the pre-trained network did
    /// ([`PosteriorSettings::initial_std_for`](super::PosteriorSettings::initial_std_for)).
    InitialStd {
        /// The initial standard deviation.
        initial_std: f32,
        /// The temperature of the pre-trained network on validation images.
        temperature: f64,
    },
    /// Some steps are done.
    Progress(Progress),
    /// An epoch is done, and the network was evaluated on validation images.
    Validated {
        /// Where the run is.
        position: Position,
        /// How it did.
        scores: ValidationScores,
    },
    /// The state was saved.
    Saved {
        /// Where the run is.
        position: Position,
    },
    /// Something that the user should know, and that the run can go on with.
    Warning {
        /// What it is, and what to do.
        message: String,
    },
    /// Some of the test pictures are done.
    Evaluating {
        /// What is judged.
        method: String,
        /// Pictures done.
        done: usize,
        /// Pictures in all.
        of: usize,
        /// Accuracy and likelihood against the number of draws, on the test pictures so far.
        #[serde(skip)]
        curve: Option<Box<DrawCurve>>,
    },
    /// What [`Command::ShowLayer`] asked for.
    Layer(Box<LayerPosterior>),
    /// What [`Command::ShowDraw`] asked for.
    Draw(Box<Scrubbed>),
    /// What [`Command::JudgeNow`] asked for.
    Interim(Box<Interim>),
    /// A network was judged.
    Evaluated(Box<Evaluation>),
}

impl Event {
    /// That a picture was left out, of which `name` says why.
    pub(super) fn passed_over(name: &str) -> Self {
        Self::Warning {
            message: format!("{name} cannot be read and was passed over"),
        }
    }

    /// Whether this event makes an earlier one worthless.
    pub(super) fn replaces(&self, earlier: &Self) -> bool {
        let counts_alone = matches!(
            earlier,
            Self::Prepared(_)
                | Self::InitialStd { .. }
                | Self::Warning { .. }
                | Self::Validated { .. }
                | Self::Evaluated(_)
        );
        !counts_alone && mem::discriminant(self) == mem::discriminant(earlier)
    }
}

/// What a run starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// What became of the weights of the checkpoint, if there was one.
    pub load: Option<LoadAccount>,
    /// What got a posterior.
    pub conversion: ConversionAccount,
    /// Pictures to learn from.
    pub examples: usize,
    /// Where the validation images come from, if there are some.
    #[serde(default)]
    pub validation: Option<String>,
    /// Images in the test set.
    pub test_examples: usize,
    /// Names of the classes.
    pub class_names: Vec<String>,
    /// How many networks there are to draw, if there is an end to them.
    pub different_draws: Option<u32>,
    /// Steps in all.
    pub steps: usize,
    /// Where the run begins, if it is resumed.
    pub position: Position,
}

/// What a network is worth on its way. It is told, and not kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interim {
    /// Where the run was.
    pub position: Position,
    /// Steps in all.
    pub steps: usize,
    /// On some of the validation images, or of the test images where there is no validation set; the others are among those that were
    /// [not judged](Evaluation::passed_over).
    pub evaluation: Evaluation,
}

/// How far a run is, and how it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Where the run is.
    pub position: Position,
    /// Steps in all.
    pub steps: usize,
    /// Epochs in all.
    pub epochs: u32,
    /// Mean negative log-likelihood of an example over the last steps, in nats.
    pub likelihood_loss: f64,
    /// The complexity loss, `KL(q || prior) / n`, as it was last computed.
    pub complexity_loss: f64,
    /// Share of right answers in the last steps, on training data.
    pub accuracy: f64,
    /// Learning rates.
    pub rates: Rates,
    /// Pictures that are learnt from in a second.
    pub examples_per_second: f64,
    /// Seconds until the training ends, at this speed.
    pub seconds_left: f64,
}

/// A line of the run's history. Its numbers depend on settings and seed alone, but for the seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// Steps done.
    pub step: usize,
    /// Epochs done, with the part of the current one.
    pub epoch: f64,
    /// Mean negative log-likelihood of an example since the last row, in nats.
    pub likelihood_loss: f64,
    /// The complexity loss, `KL(q || prior) / n`.
    pub complexity_loss: f64,
    /// The same of matrices and convolution kernels alone, as the paper reports it.
    #[serde(default)]
    pub matrix_complexity_loss: f64,
    /// Share of right answers since the last row, on training data.
    pub accuracy: f64,
    /// Learning rate of means, shared weights and point weights.
    #[serde(alias = "mean_rate")]
    pub lr: f64,
    /// Learning rate of what the posterior adds.
    #[serde(alias = "spread_rate")]
    pub variational_lr: f64,
    /// Mean mutual information of two draws for OOD training images since the last row, in nats, if there were some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ood_mutual_information: Option<f64>,
    /// Scores on the validation set, in the row that ends an epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ValidationScores>,
    /// Seconds of training so far.
    pub seconds: f64,
}

/// How a network does on some of the validation images, while it learns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationScores {
    /// Share of correct predictions.
    pub accuracy: f64,
    /// Negative log-likelihood per image, in nats.
    pub nll: f64,
    /// Expected calibration error.
    pub ece: f64,
    /// Images that were evaluated.
    pub images: usize,
}
