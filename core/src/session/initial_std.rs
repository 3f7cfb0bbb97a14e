//! How far the draws of a posterior lie apart at the start of a run, where nobody says.

use super::{Method, PosteriorSettings};
use crate::metrics::Temperature;

/// Of an ensemble whose network needs no temperature, and what each unit of temperature above 1 adds: a rule of thumb from
/// two networks. ResNet-20 on CIFAR-10 (temperature 2.37) starts at 0.3 with it, and a small network on Fashion-MNIST
/// (1.2) at 0.13, where 0.3 is worse than 0.1 and 0.2.
const CALM: f64 = 0.1;
const PER_UNIT: f64 = 0.15;
/// The widths that were compared on these two.
const RANGE: std::ops::RangeInclusive<f64> = 0.05..=0.3;
/// A Gaussian as a share of an ensemble: at 0.3 it ended underconfident on CIFAR-10, where an ensemble did not.
const GAUSSIAN: f64 = 2.0 / 3.0;

impl PosteriorSettings {
    /// The `initial_std` for a network with this temperature on validation images, unless the settings have one: the
    /// more overconfident a network is, the wider its posterior starts.
    ///
    /// ```
    /// use bayesadapter::{metrics::Temperature, session::PosteriorSettings};
    ///
    /// let mut settings = PosteriorSettings::default();
    /// let std = settings.initial_std_for(Temperature::new(2.0)?);
    /// assert_eq!(std, Some(0.25));
    /// settings.initial_std = Some(0.2);
    /// assert_eq!(settings.initial_std_for(Temperature::new(2.0)?), None);
    /// # Ok::<(), bayesadapter::metrics::MetricError>(())
    /// ```
    pub fn initial_std_for(&self, temperature: Temperature) -> Option<f32> {
        if self.initial_std.is_some() || self.initial_log_std.is_some() {
            return None;
        }
        let ensemble = CALM + PER_UNIT * (temperature.value() - 1.0);
        let ensemble = ensemble.clamp(*RANGE.start(), *RANGE.end());
        let std = match self.method {
            Method::Map => return None,
            Method::Pse => ensemble,
            Method::Mfg => GAUSSIAN * ensemble,
        };
        // Two digits, so that a run file is easy to read.
        Some(((100.0 * std).round() / 100.0) as f32)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn overconfident_networks_start_wider_within_bounds() {
        let std = |method, temperature: f64| {
            let settings = PosteriorSettings {
                method,
                ..PosteriorSettings::default()
            };
            settings.initial_std_for(Temperature::new(temperature).unwrap())
        };
        let ensembles = [0.1, 1.0, 1.2, 2.0, 5.0].map(|temperature| std(Method::Pse, temperature));
        assert_eq!(ensembles, [0.05, 0.1, 0.13, 0.25, 0.3].map(Some));
        assert_eq!(std(Method::Mfg, 5.0), Some(0.2));
        assert_eq!(std(Method::Map, 2.0), None);
    }

    #[test]
    fn what_is_given_stays() {
        let temperature = Temperature::new(2.0).unwrap();
        let given = PosteriorSettings {
            method: Method::Mfg,
            initial_log_std: Some([-6.0, -5.0]),
            ..PosteriorSettings::default()
        };
        assert_eq!(given.initial_std_for(temperature), None);
    }
}
