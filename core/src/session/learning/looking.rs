//! What a run tells of itself on its way, to those who ask. It takes time, and changes nothing of what is learnt.

use super::Learning;
use crate::{
    clock::Stopwatch,
    evaluate::Evaluation,
    session::{
        Event, Interim, Keeper, Pace, Probes, Scrub, Scrubbed, SessionError, complaint::caught,
        looks::Look, sample::Sample, unhurried::Unhurried,
    },
};

impl<K: Keeper, P: Pace> Learning<'_, K, P> {
    /// Chooses the test pictures that draws are shown with: those that the start was least sure of.
    pub(in crate::session) fn show_draws_by(&mut self, start: &Evaluation) {
        self.probed = Probes::choose(self.job.test.len(), Some(start));
    }

    /// Tells what was asked for, if it is time; returns whether it did. What fails is told, and the run goes on: if it
    /// was the device, the next step says so.
    pub(super) async fn look(&mut self, paused: bool) -> bool {
        let Some(look) = self.looks.take(self.time.seconds(), paused) else {
            return false;
        };
        let watch = Stopwatch::start();
        let pace = Unhurried::new(self.pace, self.port);
        let found = pace.unless_stopped(caught(self.found(look, &pace))).await;
        match found {
            Some(Ok(Some(event))) => self.port.emit(event),
            Some(Err(error)) => self.warn(format!(
                "the run could not be looked at: {error}; it goes on"
            )),
            // It was told to stop.
            Some(Ok(None)) | None => {}
        }
        let seconds = watch.seconds();
        // It is no training: speed and history are as if nobody had looked.
        self.time.rested(seconds);
        self.looks
            .took(seconds - pace.rested(), self.time.seconds());
        true
    }

    async fn found(&mut self, look: Look, pace: &impl Pace) -> Result<Option<Event>, SessionError> {
        Ok(match look {
            Look::Judge => {
                let interim = self.interim(pace).await?;
                interim.map(|interim| Event::Interim(Box::new(interim)))
            }
            Look::Draw(scrub) => {
                let drawn = self.drawn(scrub, pace).await?;
                Some(Event::Draw(Box::new(drawn)))
            }
        })
    }

    /// An evaluation of the network as it is now, on some of the validation images, or of the test images.
    async fn interim(&self, pace: &impl Pace) -> Result<Option<Interim>, SessionError> {
        let sample = Sample::of(self.job.judge());
        let name = self.job.settings.result_name();
        let judged = sample.evaluate(self.bayes(), &name, pace).await?;
        Ok(judged.map(|evaluation| Interim {
            position: self.trainer.position(),
            steps: self.trainer.steps(),
            evaluation,
        }))
    }

    /// What a network out of the posterior looks like now, and says.
    async fn drawn(&mut self, scrub: Scrub, pace: &impl Pace) -> Result<Scrubbed, SessionError> {
        let judge = self.job.judge();
        let probes: &Probes = match &self.probes {
            Some(probes) => probes,
            None => self.probes.insert(Probes::new(
                &*judge.test,
                &self.probed,
                &judge.preparation,
                judge.test.class_names(),
            )?),
        };
        let give_way = async || {
            pace.breathe().await;
        };
        let bayes = self.trainer.bayes();
        let scrubbed = probes.scrub(bayes, scrub, &judge.device, give_way).await?;
        Ok(scrubbed)
    }
}
