//! Files of version 0.1 mean today what they meant then. `golden/make_version_0_1.sh` made them.

use super::*;
use bayesadapter::{
    checkpoint::{Checkpoint, LoadOptions},
    data::Preparation,
    metrics::{Predictions, accuracy, nll},
    models::Network,
    pass::Pass,
    posterior::Bayes,
    predict::Draws,
    session::open_any,
};
use bayesadapter_tests::{Tolerance, assert_close, values};
use burn::tensor::{Tensor, TensorData};

const PSE: &[u8] = include_bytes!("../../golden/version_0_1/pse.safetensors");
const MFG: &[u8] = include_bytes!("../../golden/version_0_1/mfg.safetensors");
const PSE_MEAN: &[u8] = include_bytes!("../../golden/version_0_1/pse-mean.safetensors");
const STATE: &[u8] = include_bytes!("../../golden/version_0_1/pse-state.safetensors");
const SETTINGS: &str = include_str!("../../golden/version_0_1/pse.toml");
const EVALUATED: &str = include_str!("../../golden/version_0_1/evaluated.jsonl");

fn opened(bytes: &[u8]) -> Bayes<Network> {
    let file = PosteriorFile::from_bytes(bytes).unwrap();
    file.into_network(&Device::flex()).unwrap()
}

/// The test images of the runs, `[images, 1, 8, 8]`, and their classes.
fn test_images() -> (Tensor<4>, Vec<u32>) {
    let header = PosteriorFile::from_bytes(PSE).unwrap().header().clone();
    let preparation = Preparation::new([1, 8, 8], header.normalisation.unwrap());
    let data = open_any("few-digits", Split::Test).unwrap();
    let numbers = 0..data.len();
    let pixels: Vec<f32> = numbers
        .clone()
        .flat_map(|at| preparation.prepare(&data.picture(at).unwrap()).unwrap())
        .collect();
    let pixels = TensorData::new(pixels, [data.len(), 1, 8, 8]);
    (
        Tensor::from_data(pixels, &Device::flex()),
        numbers.map(|at| data.label(at)).collect(),
    )
}

#[test]
fn posteriors_predict_what_they_predicted() {
    let (images, labels) = test_images();
    let mut lines = EVALUATED.lines();
    for bytes in [PSE, MFG] {
        let expected: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
        let expected = |score: &str| expected["scores"][score].as_f64().unwrap();
        let prediction = opened(bytes).predict(images.clone(), Draws::Fixed(20));
        let prediction = prediction.unwrap();
        let found = Predictions::new(prediction.probabilities(), 10, &labels).unwrap();
        let scores = [
            (accuracy(&found), expected("accuracy"), 1e-12),
            (nll(&found), expected("nll"), 1e-6),
        ];
        for (found, expected, tolerance) in scores {
            assert!((found - expected).abs() < tolerance, "{found} {expected}");
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn the_mean_of_an_ensemble_is_still_that_of_its_components() {
    let (images, _) = test_images();
    let bayes = opened(PSE);
    let found = bayes.run(Pass::mean(), |network| network.forward(images.clone()));
    let checkpoint = Checkpoint::from_bytes(PSE_MEAN).unwrap();
    let file = PosteriorFile::from_bytes(PSE).unwrap();
    let architecture = file.header().architecture.clone().unwrap();
    let options = LoadOptions::default();
    let (exported, _) = architecture
        .load(&checkpoint, &options, &Device::flex())
        .unwrap();
    let expected = values(exported.forward(images));
    let tolerance = Tolerance::of_largest(1e-5, &expected);
    assert_close("mean", &values(found.unwrap()), &expected, tolerance);
}

#[test]
fn a_run_that_was_stopped_then_goes_on_to_the_same_end() {
    let mut settings = RunSettings::from_toml(SETTINGS).unwrap();
    // The weights that it began with are in its state.
    settings.model.weights = None;
    let splits = settings.data.open(settings.seed).unwrap();
    let job = Job::new(settings, None, splits, None, &Device::flex()).unwrap();
    let state = TrainState::from_bytes(STATE).unwrap();
    assert_eq!(state.position.step, 21);
    let memory = complete_job(job, Some(state));
    let (images, _) = test_images();
    let logits = |bytes: &[u8], draw| {
        let bayes = opened(bytes);
        values(
            bayes
                .run(Pass::draw(draw), |network| network.forward(images.clone()))
                .unwrap(),
        )
    };
    for draw in 0..3 {
        let expected = logits(PSE, draw);
        let tolerance = Tolerance::of_largest(1e-4, &expected);
        let found = logits(&memory.kept().posterior, draw);
        assert_close("draw", &found, &expected, tolerance);
    }
}
