//! The start of a posterior that suits the network, where nobody chose one.

use super::Learning;
use crate::{
    evaluate::Evaluation,
    session::{Event, Keeper, Pace, SessionError},
    train::Trainer,
};

impl<K: Keeper, P: Pace> Learning<'_, K, P> {
    /// Starts the posterior anew as it suits the network that `start` is an evaluation of, if that tells and the
    /// settings do not. Only before the first step.
    pub(in crate::session) fn suit(&mut self, start: &Evaluation) -> Result<(), SessionError> {
        let load = self.job.load.as_ref();
        let Some(calibrated) = &start.calibrated else {
            return Ok(());
        };
        // How sure a last layer with random weights is tells nothing.
        if load.is_some_and(|load| !load.replaced_head.is_empty()) {
            return Ok(());
        }
        let posterior = &mut self.settings.posterior;
        let temperature = calibrated.calibration.temperature;
        let Some(std) = posterior.initial_std_for(temperature) else {
            return Ok(());
        };
        posterior.initial_std = Some(std);
        let converted = self.job.converted_with(posterior)?;
        let settings = self.job.trainer_settings()?;
        self.trainer = Trainer::new(converted, settings, &self.job.device)?;
        self.unproven = self.mark();
        self.port.emit(Event::InitialStd {
            initial_std: std,
            temperature: temperature.value(),
        });
        self.keep_settings("the initial std that suits the network is used");
        Ok(())
    }
}
