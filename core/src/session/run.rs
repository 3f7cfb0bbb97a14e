//! The course of a run: learn, save, judge.

use super::{
    Command, Event, HistoryRow, Job, Keeper, Method, Pace, Phase, Port, Prepared, Progress,
    SessionError,
};
use crate::{
    clock::Stopwatch,
    data::Batch,
    evaluate::{EvaluateError, LayerPosterior},
    file::Header,
    models::Network,
    pass::PassError,
    posterior::{IntoBayes, Inventory, Point},
    train::{FineTuning, Moment, StepScores, TrainError, TrainState, Trainer},
};
use serde::{Deserialize, Serialize};
use std::mem;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All is done.
    Finished,
    /// As it was told; it can be resumed.
    Stopped,
}

/// What is saved beside the state of the training.
#[derive(Serialize, Deserialize)]
struct Notes {
    rates: FineTuning,
    history: Vec<HistoryRow>,
    seconds: f64,
}

/// Rows of history in an epoch, about.
const ROWS_PER_EPOCH: usize = 50;
/// The scores stay on the device for at most this long.
const SECONDS_PER_READ: f64 = 0.25;

/// Runs a job from its start, or from a saved state, to its end.
///
/// # Errors
///
/// What keeps the run from going on. Before it is returned, what can be saved is saved.
pub async fn run(
    job: Job,
    resumed: Option<TrainState>,
    keeper: &mut impl Keeper,
    port: &Port,
    pace: &impl Pace,
) -> Result<Ending, SessionError> {
    let ending = course(job, resumed, keeper, port, pace).await;
    port.emit(Event::Phase {
        phase: Phase::Ended,
    });
    ending
}

async fn course(
    job: Job,
    resumed: Option<TrainState>,
    keeper: &mut impl Keeper,
    port: &Port,
    pace: &impl Pace,
) -> Result<Ending, SessionError> {
    let method = job.settings.posterior.method;
    let fresh = resumed.is_none();
    // Judged first: it is what the result is compared with, and shows at once whether weights and data fit.
    let baseline = match (method, &job.settings.model.weights) {
        (Method::Map, _) | (_, None) => None,
        _ => {
            let prior = Point::train(job.train.len());
            Some(job.network.clone().into_bayes(prior)?)
        }
    };
    let mut learning = Learning::new(&job, resumed, keeper, port, pace)?;
    learning.announce();
    let judge = job.judge();
    if let Some(baseline) = baseline.filter(|_| fresh) {
        let judged = judge.evaluate(&baseline, Method::Map, port, pace).await?;
        let Some(evaluation) = judged else {
            return Ok(Ending::Stopped);
        };
        learning.keeper.evaluation(&evaluation)?;
    }
    if learning.learn().await? == Ending::Stopped {
        return Ok(Ending::Stopped);
    }
    let bayes = learning.trainer.into_bayes();
    let bytes = bayes.to_file_async(&job.header()).await?;
    keeper.posterior(bytes)?;
    let Some(evaluation) = judge.evaluate(&bayes, method, port, pace).await? else {
        return Ok(Ending::Stopped);
    };
    keeper.evaluation(&evaluation)?;
    Ok(Ending::Finished)
}

/// The part of a run that changes the network.
struct Learning<'a, K, P> {
    job: &'a Job,
    trainer: Trainer<Network>,
    header: Header,
    keeper: &'a mut K,
    port: &'a Port,
    pace: &'a P,
    history: Vec<HistoryRow>,
    /// Scores since the last row of history.
    scores: Vec<StepScores>,
    complexity_loss: f64,
    /// Seconds of training before this process.
    seconds_before: f64,
    clock: Stopwatch,
    last_read: f64,
    /// Steps that were done when this process began.
    first_step: usize,
    /// The last moment whose weights gave a finite loss.
    good: Moment<Network>,
    /// The moment of the last read: what its weights are worth, only the next loss tells.
    unproven: Moment<Network>,
}

impl<'a, K: Keeper, P: Pace> Learning<'a, K, P> {
    fn new(
        job: &'a Job,
        resumed: Option<TrainState>,
        keeper: &'a mut K,
        port: &'a Port,
        pace: &'a P,
    ) -> Result<Self, SessionError> {
        let mut settings = job.trainer_settings()?;
        let mut notes = Notes {
            rates: settings.rates.clone(),
            history: Vec::new(),
            seconds: 0.0,
        };
        let trainer = match resumed {
            Some(state) => {
                notes = state.notes()?;
                settings.rates = notes.rates.clone();
                Trainer::resume(job.network.clone(), state, settings, &job.device)?
            }
            None => Trainer::new(job.converted()?, settings, &job.device)?,
        };
        Ok(Self {
            first_step: trainer.position().step,
            good: trainer.moment(),
            unproven: trainer.moment(),
            header: job.header(),
            job,
            trainer,
            keeper,
            port,
            pace,
            history: notes.history,
            scores: Vec::new(),
            complexity_loss: 0.0,
            seconds_before: notes.seconds,
            clock: Stopwatch::start(),
            last_read: 0.0,
        })
    }

    fn announce(&self) {
        self.port.emit(Event::Prepared(Box::new(Prepared {
            load: self.job.load.clone(),
            conversion: self.trainer.bayes().account().clone(),
            examples: self.job.train.len(),
            test_examples: self.job.test.len(),
            class_names: self.job.train.class_names().to_vec(),
            steps: self.trainer.steps(),
            position: self.trainer.position(),
        })));
    }

    async fn learn(&mut self) -> Result<Ending, SessionError> {
        self.phase(Phase::Training);
        self.clock = Stopwatch::start();
        let batches = self.job.train_batches()?;
        while !self.trainer.is_finished() {
            let position = self.trainer.position();
            for batch in batches.epoch(position.epoch, position.batch) {
                if self.trainer.is_between_steps() && self.obey().await? == Some(Ending::Stopped) {
                    return Ok(Ending::Stopped);
                }
                self.batch(&batch?)?;
                if self.trainer.is_between_steps() {
                    self.after_step().await?;
                }
                self.pace.breathe().await;
            }
        }
        self.keeper.history(&self.history)?;
        Ok(Ending::Finished)
    }

    fn batch(&mut self, batch: &Batch) -> Result<(), SessionError> {
        for name in &batch.skipped {
            self.warn(format!("{name} cannot be read and was passed over"));
        }
        let (images, labels) = batch.to_tensors(&self.job.device);
        let step = self.trainer.position().step;
        self.trainer
            .learn(images, labels)
            .map_err(|reason| match reason {
                TrainError::Pass(reason @ PassError::Panicked(_)) => {
                    SessionError::Device { reason }
                }
                reason => SessionError::Step { step, reason },
            })
    }

    /// Commands that have come, between two steps. A pause lasts in here.
    async fn obey(&mut self) -> Result<Option<Ending>, SessionError> {
        let mut paused = false;
        loop {
            match self.port.command() {
                Some(Command::Stop) => {
                    self.save().await?;
                    return Ok(Some(Ending::Stopped));
                }
                Some(Command::Save) => self.save().await?,
                Some(Command::ShowLayer(path)) => self.show_layer(&path).await?,
                Some(Command::SetRates(rates)) => {
                    if let Err(error) = self.trainer.set_fine_tuning(rates) {
                        self.warn(error.to_string());
                    }
                }
                Some(Command::Pause) if !paused => {
                    paused = true;
                    self.phase(Phase::Paused);
                }
                Some(Command::Resume) if paused => {
                    paused = false;
                    self.phase(Phase::Training);
                }
                Some(Command::Pause | Command::Resume) => {}
                None if paused => self.pace.wait().await,
                None => return Ok(None),
            }
        }
    }

    /// Tells what a parameter looks like. A path that is none is a warning: the run goes on without.
    async fn show_layer(&self, path: &str) -> Result<(), SessionError> {
        let start = Inventory::of(&self.job.network);
        let now = self.trainer.bayes().inventory();
        match LayerPosterior::of_path(&now, path, Some(&start)).await {
            Ok(layer) => self.port.emit(Event::Layer(Box::new(layer))),
            Err(error @ EvaluateError::NoLayer { .. }) => self.warn(error.to_string()),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn after_step(&mut self) -> Result<(), SessionError> {
        let position = self.trainer.position();
        let done = position.step - self.first_step;
        let row_due = position.step.is_multiple_of(self.steps_per_row());
        let now = self.clock.seconds();
        if row_due || done == 1 || now - self.last_read > SECONDS_PER_READ {
            self.read().await?;
            self.last_read = now;
        }
        if row_due {
            self.row().await?;
        }
        let epoch_ended = position.batch == 0;
        let every = self.job.settings.training.checkpoint_steps.max(1);
        if epoch_ended || position.step.is_multiple_of(every) {
            self.save().await?;
        }
        Ok(())
    }

    fn steps_per_row(&self) -> usize {
        let epochs = self.job.settings.training.epochs as usize;
        (self.trainer.steps() / (epochs * ROWS_PER_EPOCH)).max(1)
    }

    /// Takes the scores from the device and tells them.
    async fn read(&mut self) -> Result<(), SessionError> {
        let scores = self.trainer.scores().await;
        let scores = scores.map_err(|reason| SessionError::Device { reason })?;
        if scores.is_empty() {
            // No step since the last time: there is nothing new to tell.
            return Ok(());
        }
        if scores.iter().any(|one| !one.likelihood_loss.is_finite()) {
            return Err(self.set_back().await?);
        }
        if self.history.is_empty() && self.scores.is_empty() {
            self.complexity_loss = self.complexity().await?;
        }
        self.good = mem::replace(&mut self.unproven, self.trainer.moment());
        self.scores.extend(scores);
        self.port.emit(Event::Progress(self.progress()));
        Ok(())
    }

    async fn complexity(&self) -> Result<f64, SessionError> {
        let loss = self.trainer.bayes().complexity_loss_async().await;
        loss.map_err(|reason| SessionError::Device { reason })
    }

    async fn row(&mut self) -> Result<(), SessionError> {
        self.complexity_loss = self.complexity().await?;
        let (position, rates) = (self.trainer.position(), self.trainer.rates());
        let batches = self.trainer.batches_per_epoch() as f64;
        let (likelihood_loss, accuracy) = averages(&self.scores);
        self.history.push(HistoryRow {
            step: position.step,
            epoch: f64::from(position.epoch) + position.batch as f64 / batches,
            likelihood_loss,
            complexity_loss: self.complexity_loss,
            accuracy,
            mean_rate: rates.mean,
            spread_rate: rates.spread,
            seconds: self.seconds(),
        });
        self.scores.clear();
        Ok(())
    }

    fn progress(&self) -> Progress {
        let position = self.trainer.position();
        let done = (position.step - self.first_step) as f64;
        let seconds = self.clock.seconds();
        let examples = done
            * (self.job.settings.training.batch * self.job.settings.training.accumulate) as f64;
        let (likelihood_loss, accuracy) = averages(&self.scores);
        Progress {
            position,
            steps: self.trainer.steps(),
            epochs: self.job.settings.training.epochs,
            likelihood_loss,
            complexity_loss: self.complexity_loss,
            accuracy,
            rates: self.trainer.rates(),
            examples_per_second: examples / seconds.max(1e-9),
            seconds_left: seconds / done.max(1.0) * (self.trainer.steps() - position.step) as f64,
        }
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.clock.seconds()
    }

    fn notes(&self) -> Notes {
        Notes {
            rates: self.trainer.fine_tuning().clone(),
            history: self.history.clone(),
            seconds: self.seconds(),
        }
    }

    /// Saves the state. That a disk is full or gone is told, and the run goes on: the last state that was saved is
    /// whole.
    async fn save(&mut self) -> Result<(), SessionError> {
        self.read().await?;
        let bytes = self.trainer.save(&self.header, &self.notes()).await?;
        let position = self.trainer.position();
        let kept = self.keeper.state(position, bytes);
        match kept.and_then(|()| self.keeper.history(&self.history)) {
            Ok(()) => self.port.emit(Event::Saved { position }),
            Err(error) => self.warn(format!(
                "the state could not be saved: {error}; the run goes on"
            )),
        }
        Ok(())
    }

    /// Goes back to where all was finite, saves that, and tells what happened.
    async fn set_back(&mut self) -> Result<SessionError, SessionError> {
        let step = self.trainer.position().step;
        let found = self.trainer.not_finite().await;
        let found = found.map_err(|reason| SessionError::Device { reason })?;
        let rates = self.trainer.rates();
        let position = self.good.position;
        let back = position.step;
        self.history.retain(|row| row.step <= back);
        let bytes = self.good.save(&self.header, &self.notes()).await?;
        self.keeper.state(position, bytes)?;
        self.keeper.history(&self.history)?;
        Ok(SessionError::NotFinite {
            what: found.unwrap_or_else(|| "the loss".to_owned()),
            step,
            back,
            mean_rate: rates.mean,
            spread_rate: rates.spread,
        })
    }

    fn phase(&self, phase: Phase) {
        self.port.emit(Event::Phase { phase });
    }

    fn warn(&self, message: String) {
        self.port.emit(Event::Warning { message });
    }
}

/// Mean loss and share of right answers, every example counting the same.
fn averages(scores: &[StepScores]) -> (f64, f64) {
    let examples: usize = scores.iter().map(|one| one.examples).sum();
    let loss: f64 = scores
        .iter()
        .map(|one| one.likelihood_loss * one.examples as f64)
        .sum();
    let correct: usize = scores.iter().map(|one| one.correct).sum();
    let examples = examples.max(1) as f64;
    (loss / examples, correct as f64 / examples)
}
