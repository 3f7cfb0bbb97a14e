//! The paper's settings, by the names of its data sets.

use super::{RunSettings, SettingsError};
use crate::{data::Augmentation, train::FineTuning};

/// Names of [`RunSettings::preset`].
pub const PRESETS: &[&str] = &["paper-cifar10", "paper-imagenet", "paper-faces"];

/// What differs between the paper's data sets.
struct Preset {
    architecture: &'static str,
    epochs: u32,
    weight_decay: f64,
    augmentation: Augmentation,
    /// Standard deviation of the product of an ensemble's factors at the start.
    initial_std: f32,
    nesterov: bool,
}

impl RunSettings {
    /// The paper's settings for a data set: `paper-cifar10`, `paper-imagenet` or `paper-faces`.
    ///
    /// # Errors
    ///
    /// Another name.
    pub fn preset(name: &str) -> Result<Self, SettingsError> {
        let preset = match name {
            "paper-cifar10" => Preset {
                architecture: "wrn-28-10",
                epochs: 12,
                weight_decay: 2e-4,
                augmentation: Augmentation::cifar(),
                initial_std: 0.2,
                nesterov: true,
            },
            "paper-imagenet" => Preset {
                architecture: "resnet50",
                epochs: 4,
                weight_decay: 1e-4,
                augmentation: Augmentation::imagenet(),
                initial_std: 0.1,
                nesterov: false,
            },
            "paper-faces" => Preset {
                architecture: "mobilenet_v2",
                epochs: 4,
                weight_decay: 5e-4,
                augmentation: Augmentation {
                    flip: true,
                    ..Default::default()
                },
                initial_std: 0.1,
                nesterov: false,
            },
            _ => {
                let known = PRESETS.join(", ");
                return Err(SettingsError::new(format!(
                    "no preset is called \"{name}\"; there are {known}"
                )));
            }
        };
        Ok(preset.settings())
    }
}

impl Preset {
    fn settings(self) -> RunSettings {
        let mut settings = RunSettings::default();
        settings.model.architecture = self.architecture.to_owned();
        settings.data.augmentation = Some(self.augmentation);
        settings.posterior.initial_std = Some(self.initial_std);
        settings.posterior.initial_log_std = Some([-6.0, -5.0]);
        settings.training.epochs = self.epochs;
        settings.training.batch = 256;
        settings.training.lambda = self.weight_decay;
        settings.training.rates = FineTuning {
            nesterov: self.nesterov,
            ..FineTuning::paper()
        };
        settings
    }
}
