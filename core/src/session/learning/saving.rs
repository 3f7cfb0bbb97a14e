//! What a run keeps on its way, at its end, and before an error ends it.

use super::Learning;
use crate::{
    disk,
    evaluate::Calibration,
    session::{
        Event, Keeper, Pace, SessionError,
        complaint::caught,
        folder::{POSTERIOR, state_name},
    },
};

impl<K: Keeper, P: Pace> Learning<'_, K, P> {
    /// Saves the state. That a disk is full or gone is told, and the run goes on: the last state that was saved is
    /// whole.
    pub(super) async fn save_on_the_way(&mut self) -> Result<(), SessionError> {
        self.read().await?;
        match self.write().await {
            Err(SessionError::NotSaved { step, reason, .. }) => {
                self.warn(format!(
                    "the state at step {step} could not be saved: {reason}; the run goes on"
                ));
                Ok(())
            }
            saved => saved,
        }
    }

    /// Saves the state before the run ends.
    pub(super) async fn save_at_last(&mut self) -> Result<(), SessionError> {
        self.read().await?;
        self.write_at_last().await
    }

    /// Saves what was learnt, before an error ends the run. In the middle of a step that is the moment of the last read.
    pub(super) async fn rescue(&mut self) {
        if self.trainer.position().step == self.first_step {
            return;
        }
        let saved = match self.trainer.is_between_steps() {
            true => self.save_at_last().await,
            false => self.write_at_last().await,
        };
        if let Err(error) = saved {
            self.warn(error.to_string());
        }
    }

    /// Tries to save the moment of the last read, which a device that failed at something else may still tell.
    pub(super) async fn rescue_from_device(&mut self) {
        if self.unproven.position().step > self.saved_step {
            // The run ends with what the device said first.
            let _ = caught(self.write_at_last()).await;
        }
    }

    /// Writes the state of the last read.
    async fn write(&mut self) -> Result<(), SessionError> {
        let position = self.unproven.position();
        let (step, bytes) = (position.step, self.state_bytes().await?);
        let kept = self.keeper.state(position, bytes);
        kept.map_err(|reason| SessionError::NotSaved {
            what: "state",
            step,
            reason: Box::new(reason),
            aside: None,
        })?;
        self.saved_step = step;
        self.port.emit(Event::Saved { position });
        self.keep_history();
        Ok(())
    }

    /// The same when there is no next time: what its place refuses goes aside.
    async fn write_at_last(&mut self) -> Result<(), SessionError> {
        match self.write().await {
            Err(SessionError::NotSaved {
                what, step, reason, ..
            }) => {
                let bytes = self.state_bytes().await?;
                Err(SessionError::NotSaved {
                    what,
                    step,
                    reason,
                    // Where nothing can be written, the first refusal is the one to tell.
                    aside: disk::write_aside(&state_name(step), &bytes).ok(),
                })
            }
            saved => saved,
        }
    }

    async fn state_bytes(&self) -> Result<Vec<u8>, SessionError> {
        let bytes = self.unproven.to_bytes(&self.header, &self.history).await;
        bytes.map_err(SessionError::of_file)
    }

    async fn posterior_bytes(&self) -> Result<Vec<u8>, SessionError> {
        let bytes = self.bayes().to_file_async(&self.header).await;
        bytes.map_err(SessionError::of_file)
    }

    /// Writes the result. If its place refuses it, and refused the last state too, it goes aside.
    pub(in crate::session) async fn keep_posterior(&mut self) -> Result<(), SessionError> {
        let bytes = self.posterior_bytes().await?;
        let Err(reason) = self.keeper.posterior(bytes) else {
            return Ok(());
        };
        let step = self.trainer.position().step;
        let aside = match self.saved_step == step {
            true => None,
            false => {
                let bytes = self.posterior_bytes().await?;
                disk::write_aside(POSTERIOR, &bytes).ok()
            }
        };
        let place = aside.as_ref().map(|place| place.display());
        let place = place.map_or(String::new(), |place| format!("it is in {place} instead; "));
        self.warn(format!(
            "the posterior could not be written: {reason}; {place}it is judged all the same"
        ));
        Err(SessionError::NotSaved {
            what: "posterior",
            step,
            reason: Box::new(reason),
            aside,
        })
    }

    /// Writes the result once more, with what was fitted on the validation set.
    pub(in crate::session) async fn keep_calibrated_posterior(
        &mut self,
        calibration: Calibration,
    ) -> Result<(), SessionError> {
        self.header.calibration = Some(calibration);
        self.keep_posterior().await
    }

    /// Writes the history, which is in the state too: without it the run is whole.
    pub(super) fn keep_history(&mut self) {
        if let Err(error) = self.keeper.history(&self.history) {
            self.warn(format!("the history could not be written: {error}"));
        }
    }

    /// Goes back to where all was finite, saves that, and tells what happened. `seen` is what was not finite, unless it
    /// is found out with which parameter that began.
    pub(in crate::session) async fn set_back(&mut self, seen: &str) -> SessionError {
        let rates = self.trainer.rates();
        let good = self.good.take();
        let from = good.as_ref().unwrap_or(&self.unproven);
        let (what, step) = self.culprit(from, seen).await;
        let Some(good) = good else {
            let step = self.first_step;
            self.forget_states(step);
            return SessionError::BadStart { what, step };
        };
        let back = good.position().step;
        self.history.truncate(good.rows);
        // Before anything is written, so that at no moment the run would go on from a bad state.
        self.forget_states(back + 1);
        self.unproven = good;
        if let Err(error) = self.write_at_last().await {
            self.warn(error.to_string());
        }
        SessionError::NotFinite {
            what,
            step,
            back,
            lr: rates.lr,
            variational_lr: rates.variational_lr,
        }
    }

    /// Puts states away. Where they stay, the run would begin with them again, and find out again that they are bad.
    fn forget_states(&mut self, step: usize) {
        if let Err(error) = self.keeper.forget_states(step) {
            self.warn(format!(
                "the states from step {step} on are worthless, and could not be removed: {error}"
            ));
        }
    }
}
