//! Predictions of whole networks against passes made by hand.

use bayesadapter::{
    models::{Architecture, ModelConfig, Network},
    ops::{NoiseKey, fill_normals},
    pass::{Mode, Pass},
    posterior::{Bayes, IntoBayes, LowRankEnsemble, MeanField, Posterior},
    predict::{Classifier, Draws, PredictError, PredictOptions},
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData, activation::softmax},
};

fn images(architecture: &Architecture, rows: usize, device: &Device) -> Tensor<4> {
    let [channels, height, width] = architecture.input_shape();
    let shape = [rows, channels, height, width];
    let mut pixels = vec![0.0; shape.iter().product()];
    fill_normals(&NoiseKey::default(), 0, 0, &mut pixels);
    Tensor::from_data(TensorData::new(pixels, shape), device)
}

fn digits() -> Architecture {
    "digits-cnn".parse().unwrap()
}

fn mean_field() -> MeanField {
    MeanField {
        initial_log_std: [-3.0, -2.0],
        ..MeanField::fine_tune(1_000)
    }
}

fn bayes(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Network> {
    device.seed(5);
    digits()
        .init(device)
        .unwrap()
        .into_bayes(posterior)
        .unwrap()
}

#[test]
fn draws_at_once_are_the_draws_one_by_one() {
    for (name, device) in devices() {
        let x = images(&digits(), 5, &device);
        let ensemble = LowRankEnsemble::fine_tune(1_000).with_components(3);
        for posterior in [Posterior::from(mean_field()), ensemble.into()] {
            let bayes = bayes(posterior, &device);
            let by_hand: Vec<f32> = (0..6)
                .flat_map(|k| {
                    let logits = bayes
                        .run(Pass::draw(k), |net| net.logits(x.clone()))
                        .unwrap();
                    values(softmax(logits, 1))
                })
                .collect();
            for rows_at_once in [1, 7, 12, 1_000] {
                let options = PredictOptions {
                    rows_at_once,
                    ..PredictOptions::new(Draws::Fixed(6)).with_draws_kept()
                };
                let prediction = bayes.predict(x.clone(), options).unwrap();
                assert_eq!(prediction.draws, [0, 1, 2, 3, 4, 5]);
                let found = prediction.draw_probabilities.as_ref().unwrap();
                let tolerance = Tolerance::of_largest(1e-5, &by_hand);
                assert_close(
                    &format!("{rows_at_once} rows on {name}"),
                    found,
                    &by_hand,
                    tolerance,
                );
                assert_eq!(prediction.examples(), 5);
                assert!(prediction.mutual_information().iter().all(|&mi| mi > 0.0));
            }
            let list = bayes.predict(x.clone(), Draws::List(vec![4, 1])).unwrap();
            assert_eq!(list.draws, [4, 1]);
            let mean = list.probabilities()[0];
            let expected = (by_hand[4 * 50] + by_hand[50]) / 2.0;
            assert!((mean - expected).abs() < 1e-5, "{mean} and {expected}");
        }
    }
}

#[test]
fn the_mean_network_has_no_epistemic_uncertainty() {
    let device = Device::flex();
    let bayes = bayes(mean_field(), &device);
    let x = images(&digits(), 3, &device);
    let prediction = bayes.predict(x.clone(), Draws::Mean).unwrap();
    assert!(prediction.draws.is_empty());
    assert_eq!(prediction.mutual_information(), [0.0; 3]);
    let plain = values(softmax(bayes.at_mean().unwrap().logits(x), 1));
    assert_eq!(prediction.probabilities(), plain);
}

#[test]
fn drawing_stops_when_nothing_changes() {
    let device = Device::flex();
    let x = images(&digits(), 4, &device);
    let sure = MeanField {
        initial_log_std: [-12.0, -12.0],
        ..MeanField::fine_tune(1_000)
    };
    let until = |tolerance, max| Draws::UntilStable { tolerance, max };
    let few = bayes(sure, &device)
        .predict(x.clone(), until(1e-3, 100))
        .unwrap();
    assert_eq!(few.draws.len(), 8, "four more changed nothing");
    let many = bayes(mean_field(), &device)
        .predict(x, until(1e-6, 18))
        .unwrap();
    assert_eq!(many.draws.len(), 18);
}

/// A network of Burn's layers, which share one draw among all rows.
#[derive(Module, Debug)]
struct Stock {
    layer: burn::nn::Linear,
}

impl Classifier<2> for Stock {
    fn logits(&self, x: Tensor<2>) -> Tensor<2> {
        self.layer.forward(x)
    }
}

#[test]
fn stock_layers_are_drawn_one_by_one() {
    let device = Device::flex();
    let layer = burn::nn::LinearConfig::new(4, 3).init(&device);
    let bayes = Stock { layer }.into_bayes(mean_field()).unwrap();
    let x = Tensor::<2>::ones([2, 4], &device);
    let options = PredictOptions::new(Draws::Fixed(5)).with_draws_kept();
    let prediction = bayes.predict(x.clone(), options).unwrap();
    let by_hand: Vec<f32> = (0..5)
        .flat_map(|k| values(softmax(bayes.draw(k).unwrap().logits(x.clone()), 1)))
        .collect();
    assert_eq!(prediction.draw_probabilities.unwrap(), by_hand);
}

#[test]
fn features_are_averaged_over_draws() {
    let device = Device::flex();
    let bayes = bayes(mean_field(), &device);
    let x = images(&digits(), 3, &device);
    let options = PredictOptions::new(Draws::Fixed(4)).with_features_kept();
    let found = bayes.predict(x.clone(), options).unwrap().features.unwrap();
    let mut expected = vec![0.0; found.len()];
    for k in 0..4 {
        let features = bayes
            .run(Pass::draw(k), |net| net.features(x.clone()))
            .unwrap();
        for (sum, value) in expected.iter_mut().zip(values(features)) {
            *sum += value / 4.0;
        }
    }
    let tolerance = Tolerance::of_largest(1e-5, &expected);
    assert_close("features", &found, &expected, tolerance);
}

#[test]
fn dropout_predicts_when_the_mode_says_so() {
    let device = Device::flex();
    let architecture: Architecture = "wrn-10-1".parse().unwrap();
    let Architecture::WideResNet(mut config) = architecture else {
        panic!("{architecture:?}");
    };
    config.dropout = Some(0.3);
    let architecture = Architecture::WideResNet(config);
    let point = MeanField {
        initial_log_std: [-20.0, -20.0],
        ..MeanField::fine_tune(1_000)
    };
    let bayes = architecture
        .init(&device)
        .unwrap()
        .into_bayes(point)
        .unwrap();
    let x = images(&architecture, 2, &device);
    let options = PredictOptions::new(Draws::Fixed(4));
    let without = bayes.predict(x.clone(), options.clone()).unwrap();
    let with = bayes
        .predict(x, options.with_mode(Mode::EvaluateWithDropout))
        .unwrap();
    let most = |mi: &[f64]| mi.iter().copied().fold(0.0, f64::max);
    assert!(most(without.mutual_information()) < 1e-6);
    assert!(most(with.mutual_information()) > 1e-6);
}

#[test]
fn what_cannot_be_predicted_is_an_error() {
    let device = Device::flex();
    let bayes = bayes(mean_field(), &device);
    let none = images(&digits(), 1, &device).slice(0..0);
    assert_eq!(
        bayes.predict(none, Draws::Fixed(2)),
        Err(PredictError::NoExamples)
    );
    let x = images(&digits(), 2, &device);
    assert_eq!(
        bayes.predict(x.clone(), Draws::Fixed(0)),
        Err(PredictError::NoDraws)
    );
    let broken = x.clone().mul_scalar(f32::NAN);
    let error = bayes.predict(broken, Draws::Fixed(2)).unwrap_err();
    assert!(matches!(error, PredictError::Probabilities(_)), "{error}");
    let huge = x.mul_scalar(1e6);
    let certain = bayes.predict(huge, Draws::Fixed(4)).unwrap();
    assert!(
        certain.entropy().iter().all(|entropy| entropy.is_finite()),
        "{certain:?}"
    );
    let wrong = Tensor::<4>::zeros([1, 7, 8, 8], &device);
    assert!(matches!(
        bayes.predict(wrong, Draws::Mean),
        Err(PredictError::Pass(_))
    ));
}
