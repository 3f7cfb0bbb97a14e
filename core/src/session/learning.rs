//! The part of a run that changes the network.

mod culprit;
mod looking;
mod ood;
mod saving;
mod starting;
mod validating;

use super::{
    Command, Ending, Event, HistoryRow, Job, Keeper, Pace, Phase, Port, Prepared, Probes, Progress,
    RunSettings, SessionError,
    complaint::caught,
    looks::{Look, Looks},
    mark::{Averages, Mark, Notes},
    working_time::WorkingTime,
};
use crate::{
    data::Batch,
    evaluate::{EvaluateError, LayerPosterior},
    file::Header,
    models::Network,
    pass::PassError,
    posterior::{Bayes, Complexity, Inventory},
    train::{FineTuning, StepScores, THE_LOSS, TrainError, TrainState, Trainer},
};
use ood::OodImages;
use std::{collections::BTreeSet, mem};

/// Rows of history in an epoch, about.
const ROWS_PER_EPOCH: usize = 50;
/// The scores stay on the device for at most this long.
const SECONDS_PER_READ: f64 = 0.25;

/// The part of a run that changes the network.
pub(super) struct Learning<'a, K, P> {
    job: &'a Job,
    /// Those of the job, with the start of the posterior that was chosen, and the learning rates that were set on the
    /// way.
    settings: RunSettings,
    trainer: Trainer<Network>,
    header: Header,
    pub keeper: &'a mut K,
    port: &'a Port,
    pace: &'a P,
    history: Vec<HistoryRow>,
    /// Scores since the last row of history.
    scores: Vec<StepScores>,
    complexity_loss: f64,
    /// Seconds of training before this process.
    seconds_before: f64,
    time: WorkingTime,
    last_read: f64,
    /// Steps that were done when this process began.
    first_step: usize,
    /// Steps of the last state that was kept, or with which this process began.
    saved_step: usize,
    /// Examples that this process has learnt from.
    examples: usize,
    /// OOD images that it learns to be unsure of.
    ood: Option<OodImages>,
    /// Broken pictures that were told of.
    broken: BTreeSet<String>,
    /// What users asked it to tell.
    looks: Looks,
    /// Numbers of the test pictures that draws are shown with.
    probed: Vec<usize>,
    /// The same, once they were read.
    probes: Option<Probes>,
    /// The last moment whose weights gave a finite loss, once one did.
    good: Option<Mark>,
    /// The moment of the last read: what its weights are worth, only the next loss tells.
    unproven: Mark,
}

impl<'a, K: Keeper, P: Pace> Learning<'a, K, P> {
    pub(super) fn new(
        job: &'a Job,
        resumed: Option<TrainState>,
        keeper: &'a mut K,
        port: &'a Port,
        pace: &'a P,
    ) -> Result<Self, SessionError> {
        let settings = job.trainer_settings()?;
        let (trainer, notes) = match resumed {
            Some(state) => {
                let saved = state.posterior.posterior().prior().examples;
                let found = job.train.len();
                if saved != found {
                    return Err(SessionError::OtherData { saved, found });
                }
                let notes: Notes = state.notes()?;
                let network = job.network.clone();
                (
                    Trainer::resume(network, state, settings, &job.device)?,
                    notes,
                )
            }
            None => (
                Trainer::new(job.converted()?, settings, &job.device)?,
                Notes::default(),
            ),
        };
        Ok(Self {
            first_step: trainer.position().step,
            saved_step: trainer.position().step,
            good: None,
            unproven: Mark {
                moment: trainer.moment(),
                seconds: notes.seconds,
                complexity_loss: notes.complexity_loss,
                scores: notes.scores.clone(),
                rows: notes.history.len(),
            },
            header: job.header(&job.settings),
            settings: job.settings.clone(),
            job,
            trainer,
            keeper,
            port,
            pace,
            history: notes.history,
            scores: notes.scores,
            complexity_loss: notes.complexity_loss,
            seconds_before: notes.seconds,
            time: WorkingTime::start(),
            last_read: 0.0,
            examples: 0,
            ood: job.ood_batches()?.map(OodImages::new),
            broken: BTreeSet::new(),
            looks: Looks::default(),
            probed: Probes::choose(job.test.len(), None),
            probes: None,
        })
    }

    pub(super) fn announce(&self) {
        self.port.emit(Event::Prepared(Box::new(Prepared {
            load: self.job.load.clone(),
            conversion: self.trainer.bayes().account().clone(),
            examples: self.job.train.len(),
            validation: self.job.validation_source(),
            test_examples: self.job.test.len(),
            class_names: self.job.train.class_names().to_vec(),
            different_draws: self.bayes().posterior().different_draws(),
            steps: self.trainer.steps(),
            position: self.trainer.position(),
        })));
    }

    /// What was learnt.
    pub(super) fn bayes(&self) -> &Bayes<Network> {
        self.trainer.bayes()
    }

    pub(super) async fn learn(&mut self) -> Result<Ending, SessionError> {
        self.phase(Phase::Training);
        self.time = WorkingTime::start();
        let ending = caught(self.epochs()).await;
        match &ending {
            Ok(_) => self.keep_history(),
            Err(SessionError::Data(_) | SessionError::Step { .. }) => self.rescue().await,
            Err(SessionError::Device { .. }) => self.rescue_from_device().await,
            // The disk is gone; or the run was set back, and that is saved.
            Err(_) => {}
        }
        ending
    }

    async fn epochs(&mut self) -> Result<Ending, SessionError> {
        let batches = self.job.train_batches()?;
        // That of the last epoch before the run was stopped.
        self.validate().await?;
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
                let rested = self.pace.breathe().await;
                self.time.rested(rested);
            }
        }
        // What the last step made of the weights, no later loss tells.
        let found = self.trainer.not_finite().await;
        match found.map_err(SessionError::device)? {
            Some(_) => Err(self.set_back(THE_LOSS).await),
            None => Ok(Ending::Finished),
        }
    }

    fn batch(&mut self, batch: &Batch) -> Result<(), SessionError> {
        for name in &batch.skipped {
            // Once, and not again in every epoch.
            if self.broken.insert(name.clone()) {
                self.port.emit(Event::passed_over(name));
            }
        }
        let position = self.trainer.position();
        let step = position.step;
        let learnt = match batch.labels.is_empty() {
            true => self.trainer.pass_over(),
            false => {
                let (images, labels) = batch.to_tensors(&self.job.device);
                let batches = self.trainer.batches_per_epoch();
                let ood = match &mut self.ood {
                    Some(ood) => ood.beside(position, batches, &self.job.device)?,
                    None => None,
                };
                self.trainer.learn_with_ood(images, labels, ood)
            }
        };
        learnt.map_err(|reason| match reason {
            TrainError::Pass(reason @ PassError::Panicked(_)) => SessionError::device(reason),
            reason => SessionError::Step { step, reason },
        })
    }

    /// Commands that have come, between two steps. A pause lasts in here, and so does a look.
    async fn obey(&mut self) -> Result<Option<Ending>, SessionError> {
        let (mut paused, mut looked) = (false, false);
        loop {
            let Some(command) = self.port.command() else {
                // One look between two steps: a run goes on, whatever its users ask for.
                if (paused || !looked) && self.look(paused).await {
                    looked = true;
                } else if paused {
                    self.pace.wait().await;
                } else {
                    return Ok(None);
                }
                continue;
            };
            match command {
                Command::Stop => {
                    self.save_at_last().await?;
                    return Ok(Some(Ending::Stopped));
                }
                Command::Save => self.save_on_the_way().await?,
                Command::ShowLayer(path) => self.show_layer(&path).await?,
                Command::ShowDraw(scrub) => self.looks.ask(Look::Draw(scrub)),
                Command::JudgeNow => self.looks.ask(Look::Judge),
                Command::SetRates(rates) => self.set_rates(rates),
                Command::Pause if !paused => {
                    paused = true;
                    self.time.pause();
                    self.phase(Phase::Paused);
                }
                Command::Resume if paused => {
                    paused = false;
                    self.time.go_on();
                    self.phase(Phase::Training);
                }
                Command::Pause | Command::Resume => {}
            }
        }
    }

    fn set_rates(&mut self, rates: FineTuning) {
        if let Err(error) = self.trainer.set_fine_tuning(rates.clone()) {
            self.warn(error.to_string());
            return;
        }
        self.settings.training.rates = rates;
        self.keep_settings("the learning rates hold until the run ends");
    }

    /// Writes the settings as they are now. Where that fails, `meanwhile` says what holds all the same.
    fn keep_settings(&mut self, meanwhile: &str) {
        self.header = self.job.header(&self.settings);
        if let Err(error) = self.keeper.settings(&self.settings) {
            self.warn(format!("{meanwhile}, and could not be written: {error}"));
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
        let now = self.time.seconds();
        // The first loss is read at once: it alone tells of what the run began with.
        if self.row_due() || self.good.is_none() || now - self.last_read > SECONDS_PER_READ {
            self.read().await?;
            self.last_read = now;
        }
        let epoch_ended = position.batch == 0;
        if epoch_ended {
            self.validate().await?;
        }
        let every = self.job.settings.training.checkpoint_steps.max(1);
        if epoch_ended || position.step.is_multiple_of(every) {
            self.save_on_the_way().await?;
        }
        Ok(())
    }

    fn row_due(&self) -> bool {
        let epochs = self.job.settings.training.epochs as usize;
        let steps_per_row = (self.trainer.steps() / (epochs * ROWS_PER_EPOCH)).max(1);
        let position = self.trainer.position();
        position.batch == 0 || position.step.is_multiple_of(steps_per_row)
    }

    /// Takes the scores from the device and tells them.
    async fn read(&mut self) -> Result<(), SessionError> {
        let scores = self.trainer.scores().await;
        let scores = scores.map_err(SessionError::device)?;
        if scores.iter().any(|one| !one.likelihood_loss.is_finite()) {
            return Err(self.set_back(THE_LOSS).await);
        }
        // Without a step since the last time there is nothing new to tell.
        let news = !scores.is_empty();
        if news && self.history.is_empty() && self.scores.is_empty() {
            self.complexity_loss = self.complexity().await?.total;
        }
        self.examples += scores.iter().map(|one| one.examples).sum::<usize>();
        self.scores.extend(scores);
        if news {
            self.port.emit(Event::Progress(self.progress()));
        }
        if self.row_due() && !self.scores.is_empty() {
            self.row().await?;
        }
        let now = self.mark();
        let before = mem::replace(&mut self.unproven, now);
        if news {
            self.good = Some(before);
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark {
            moment: self.trainer.moment(),
            seconds: self.seconds(),
            complexity_loss: self.complexity_loss,
            scores: self.scores.clone(),
            rows: self.history.len(),
        }
    }

    async fn complexity(&self) -> Result<Complexity, SessionError> {
        let loss = self.trainer.bayes().complexity_async().await;
        loss.map_err(SessionError::device)
    }

    async fn row(&mut self) -> Result<(), SessionError> {
        let complexity = self.complexity().await?;
        self.complexity_loss = complexity.total;
        let (position, rates) = (self.trainer.position(), self.trainer.rates());
        let batches = self.trainer.batches_per_epoch() as f64;
        let averages = Averages::of(&self.scores);
        self.history.push(HistoryRow {
            step: position.step,
            epoch: f64::from(position.epoch) + position.batch as f64 / batches,
            likelihood_loss: averages.nll,
            complexity_loss: self.complexity_loss,
            matrix_complexity_loss: complexity.matrices,
            accuracy: averages.accuracy,
            ood_mutual_information: averages.ood_mutual_information,
            validation: None,
            lr: rates.lr,
            variational_lr: rates.variational_lr,
            seconds: self.seconds(),
        });
        self.scores.clear();
        Ok(())
    }

    fn progress(&self) -> Progress {
        let position = self.trainer.position();
        let done = (position.step - self.first_step) as f64;
        let seconds = self.time.seconds();
        let averages = Averages::of(&self.scores);
        Progress {
            position,
            steps: self.trainer.steps(),
            epochs: self.job.settings.training.epochs,
            likelihood_loss: averages.nll,
            complexity_loss: self.complexity_loss,
            accuracy: averages.accuracy,
            rates: self.trainer.rates(),
            examples_per_second: self.examples as f64 / seconds.max(1e-9),
            seconds_left: seconds / done.max(1.0) * (self.trainer.steps() - position.step) as f64,
        }
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.time.seconds()
    }

    fn phase(&self, phase: Phase) {
        self.port.emit(Event::Phase { phase });
    }

    fn warn(&self, message: String) {
        self.port.emit(Event::Warning { message });
    }
}
