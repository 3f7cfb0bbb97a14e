//! The digits demo: what its runs are told.

use bayesadapter::{
    data::OodKind,
    session::{DeviceChoice, Method, RunSettings},
    train::FineTuning,
};
use std::path::{Path, PathBuf};

/// Few digits, so that there is something that a network cannot know.
pub const DATA: &str = "few-digits";

/// The folder of one of the demo's runs.
pub fn run_folder(out: &Path, method: Method) -> PathBuf {
    out.join(method.to_string().to_lowercase())
}

/// The settings of one of the demo's runs; all but the one of MAP start from what that left in `out`.
pub fn settings(method: Method, device: DeviceChoice, out: &Path) -> RunSettings {
    let mut settings = RunSettings {
        device,
        ..RunSettings::default()
    };
    settings.data.path = DATA.to_owned();
    settings.data.out_of_distribution = Some("scribbles".to_owned());
    settings.posterior.method = method;
    settings.training.batch = 32;
    settings.training.lambda = 5e-4;
    settings.training.epochs = 60;
    if method == Method::Map {
        settings.training.rates = FineTuning {
            lr: 0.05,
            ..FineTuning::from_scratch()
        };
    } else {
        // The network is young and its data are few: its weights may still move.
        settings.training.rates.lr = 2e-2;
        settings.posterior.initial_std = Some(0.4);
        if method == Method::Mfg {
            settings.posterior.initial_std = Some(0.1);
            settings.training.regularisation.alpha = 1.0;
        }
        // So that it knows a drawing that is no digit; those of the evaluation are made in another way.
        settings.data.ood_train = vec![OodKind::Doodles.to_string()];
        let map = run_folder(out, Method::Map).join("posterior.safetensors");
        settings.model.weights = Some(map.display().to_string());
    }
    settings
}
