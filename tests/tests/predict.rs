//! Predictions of whole networks against passes made by hand.

use bayesadapter::{
    metrics::Decomposition,
    models::{Architecture, MobileFaceNetConfig, ModelConfig, Network},
    ops::{NoiseKey, fill_normals},
    pass::{Mode, Pass},
    posterior::{Bayes, InitialStd, IntoBayes, LowRankEnsemble, MeanField, Point, Posterior},
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
        initial_std: InitialStd::LogUniform([-3.0, -2.0]),
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
        let ensemble = LowRankEnsemble::fine_tune(1_000).with_components(7);
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
            // A map of digits-cnn takes 8 KiB for each row: 5 rows, then one.
            let bounds = [1, 7, 12, 1_000].map(|rows| (rows, usize::MAX));
            for (rows_at_once, map_bytes) in bounds.into_iter().chain([(1_000, 40_960), (9, 1)]) {
                let options = PredictOptions {
                    rows_at_once,
                    map_bytes,
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

/// In nats.
fn entropy(row: &[f64]) -> f64 {
    row.iter().map(|&p| -p * p.ln()).sum()
}

#[test]
fn uncertainty_needs_no_draws_to_be_kept() {
    let device = Device::flex();
    let bayes = bayes(mean_field(), &device);
    let x = images(&digits(), 5, &device);
    // Launches of parts of one draw, of two draws, and of all of them.
    for rows_at_once in [2, 12, 1_000] {
        let options = PredictOptions {
            rows_at_once,
            ..PredictOptions::new(Draws::Fixed(7))
        };
        let found = bayes.predict(x.clone(), options.clone()).unwrap();
        assert_eq!(found.draw_probabilities, None);
        let kept = bayes.predict(x.clone(), options.with_draws_kept()).unwrap();
        assert_eq!(kept.summary, found.summary);

        let rows = kept.draw_probabilities.unwrap();
        let rows: Vec<f64> = rows.into_iter().map(f64::from).collect();
        let Decomposition {
            mean_probabilities,
            total_entropy,
            aleatoric_entropy,
            mutual_information,
        } = found.summary;
        for example in 0..5 {
            let draws: Vec<&[f64]> = rows.chunks(10).skip(example).step_by(5).collect();
            let mean: Vec<f64> = (0..10)
                .map(|class| draws.iter().map(|row| row[class]).sum::<f64>() / 7.0)
                .collect();
            let total = entropy(&mean);
            let aleatoric = draws.iter().map(|row| entropy(row)).sum::<f64>() / 7.0;
            let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
            assert!(close(total_entropy[example], total));
            assert!(close(aleatoric_entropy[example], aleatoric));
            assert!(close(mutual_information[example], total - aleatoric));
            for (found, expected) in mean_probabilities[example * 10..].iter().zip(&mean) {
                assert!((f64::from(*found) - expected).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn every_network_of_an_ensemble_counts_once() {
    let device = Device::flex();
    let x = images(&digits(), 2, &device);
    let bayes = bayes(
        LowRankEnsemble::fine_tune(1_000).with_components(3),
        &device,
    );
    let by_hand = |k| {
        let run = bayes.run(Pass::draw(k), |net| net.logits(x.clone()));
        values(softmax(run.unwrap(), 1))
    };
    let [one, two, three] = [0, 1, 2].map(by_hand);
    let expected: Vec<f32> = (0..one.len())
        .map(|at| (one[at] + two[at] + three[at]) / 3.0)
        .collect();
    let until = Draws::UntilStable {
        tolerance: 1e-9,
        max: u32::MAX,
    };
    for draws in [Draws::Fixed(8), until] {
        let prediction = bayes.predict(x.clone(), draws).unwrap();
        assert_eq!(prediction.draws, [0, 1, 2]);
        let tolerance = Tolerance::of_largest(1e-5, &expected);
        assert_close("mean", prediction.probabilities(), &expected, tolerance);
    }
}

/// Half of what such an adapter binds goes through the network at once, down to one draw of one example.
#[test]
fn an_adapter_of_small_bindings_predicts_in_parts() {
    /// Outputs of the layer, of which few are looked at: a mebibyte for each row.
    const WIDE: usize = 1 << 18;
    #[derive(Module, Debug)]
    struct Wide {
        layer: bayesadapter::nn::Linear,
    }
    impl Classifier<2> for Wide {
        fn logits(&self, x: Tensor<2>) -> Tensor<2> {
            let rows = x.dims()[0];
            self.layer.forward(x).slice([0..rows, 0..3])
        }
    }
    let [expected, found] = [("cpu", 20), ("wgpu", 256)].map(|(name, rows_at_once)| {
        let (_, device) = devices().into_iter().find(|(one, _)| *one == name).unwrap();
        let x: Vec<f32> = (0..200 * 4).map(|at| (at as f32).sin()).collect();
        let x = Tensor::<2>::from_data(TensorData::new(x, [200, 4]), &device);
        let weight: Vec<f32> = (0..4 * WIDE).map(|at| (at as f32).cos()).collect();
        let weight = Tensor::<2>::from_data(TensorData::new(weight, [4, WIDE]), &device);
        let mut layer = bayesadapter::nn::LinearConfig::new(4, WIDE)
            .with_bias(false)
            .init(&device);
        layer.weight = burn::module::Param::from_tensor(weight);
        let bayes = Wide { layer }.into_bayes(mean_field()).unwrap();
        // 200 rows of a mebibyte, and 40 draws of four: more than 128 MiB each.
        let many = PredictOptions {
            rows_at_once,
            weight_bytes: usize::MAX,
            ..PredictOptions::new(Draws::Mean)
        };
        let at_mean = bayes.predict(x.clone(), many.clone()).unwrap();
        let few = x.slice(0..1);
        let draws = PredictOptions {
            draws: Draws::Fixed(40),
            ..many
        };
        let drawn = bayes.predict(few, draws).unwrap();
        [at_mean.probabilities(), drawn.probabilities()].concat()
    });
    let tolerance = Tolerance::of_largest(1e-4, &expected);
    assert_close("in parts", &found, &expected, tolerance);
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
    for (name, device) in devices() {
        let x = images(&digits(), 4, &device);
        let sure = MeanField {
            initial_std: InitialStd::LogUniform([-12.0, -12.0]),
            ..MeanField::fine_tune(1_000)
        };
        let until = |tolerance, max| Draws::UntilStable { tolerance, max };
        let few = bayes(sure, &device)
            .predict(x.clone(), until(1e-3, 100))
            .unwrap();
        assert_eq!(few.draws.len(), 8, "four more changed nothing on {name}");
        let many = bayes(mean_field(), &device)
            .predict(x, until(1e-6, 18))
            .unwrap();
        assert_eq!(many.draws.len(), 18, "{name}");
    }
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
    let stock = Stock { layer };
    for bayes in [
        stock.clone().into_bayes(mean_field()).unwrap(),
        stock.into_bayes(LowRankEnsemble::fine_tune(1_000)).unwrap(),
    ] {
        let x = Tensor::<2>::ones([2, 4], &device);
        let options = PredictOptions::new(Draws::Fixed(5)).with_draws_kept();
        let prediction = bayes.predict(x.clone(), options).unwrap();
        let by_hand: Vec<f32> = (0..5)
            .flat_map(|k| values(softmax(bayes.draw(k).unwrap().logits(x.clone()), 1)))
            .collect();
        assert_eq!(prediction.draw_probabilities.unwrap(), by_hand);
    }
}

#[test]
fn features_are_averaged_over_draws() {
    for (name, device) in devices() {
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
        assert_close(name, &found, &expected, tolerance);
    }
}

#[test]
fn dropout_predicts_when_the_mode_says_so() {
    let architecture = digits().with_dropout(0.3).unwrap();
    for (name, device) in devices() {
        let network = architecture.init(&device).unwrap();
        let x = images(&architecture, 2, &device);
        let options = PredictOptions::new(Draws::Fixed(4));
        let sure = MeanField {
            initial_std: InitialStd::LogUniform([-20.0, -20.0]),
            ..MeanField::fine_tune(1_000)
        };
        // Of a point, dropout alone makes the draws differ.
        for posterior in [Posterior::from(sure), Point::train(1_000).into()] {
            let bayes = network.clone().into_bayes(posterior).unwrap();
            let most = |options: PredictOptions| {
                let prediction = bayes.predict(x.clone(), options).unwrap();
                let information = prediction.mutual_information().iter();
                information.copied().fold(0.0, f64::max)
            };
            let without = most(options.clone());
            assert!(without < 1e-6, "{without} on {name}");
            let with = most(options.clone().with_mode(Mode::EvaluateWithDropout));
            assert!(with > 1e-6, "{with} on {name}");
        }
    }
}

#[test]
fn what_a_draw_drops_of_an_example_does_not_depend_on_the_launch() {
    let architecture = digits().with_dropout(0.3).unwrap();
    for (name, device) in devices() {
        let network = architecture.init(&device).unwrap();
        let bayes = network.into_bayes(Point::train(1_000)).unwrap();
        let x = images(&architecture, 5, &device);
        let predict = |draws, rows_at_once| {
            let options = PredictOptions {
                rows_at_once,
                ..PredictOptions::new(draws)
            };
            let options = options.with_mode(Mode::EvaluateWithDropout);
            let prediction = bayes.predict(x.clone(), options.with_draws_kept());
            prediction.unwrap().draw_probabilities.unwrap()
        };
        let expected = predict(Draws::Fixed(4), 1_000);
        let tolerance = Tolerance::of_largest(1e-5, &expected);
        for rows_at_once in [1, 3, 12] {
            let found = predict(Draws::Fixed(4), rows_at_once);
            let what = format!("{rows_at_once} rows on {name}");
            assert_close(&what, &found, &expected, tolerance);
        }
        // Other draws, and other examples of a draw, drop something else.
        let alone = predict(Draws::List(vec![2]), 1_000);
        assert_close(name, &alone, &expected[100..150], tolerance);
        assert_ne!(expected[..50], expected[50..100], "{name}");
    }
}

#[test]
fn modes_that_tell_nothing_are_errors() {
    let device = Device::flex();
    let x = images(&digits(), 2, &device);
    let predict = |mode| {
        let options = PredictOptions::new(Draws::Fixed(4)).with_mode(mode);
        bayes(Point::train(1_000), &device).predict(x.clone(), options)
    };
    let error = predict(Mode::EvaluateWithDropout).unwrap_err();
    assert_eq!(error, PredictError::NoDropout);
    assert_eq!(predict(Mode::Train).unwrap_err(), PredictError::Training);
}

#[test]
fn a_pass_sees_the_statistics_of_the_last_training_step() {
    let device = Device::flex().autodiff();
    let architecture: Architecture = "resnet8-cifar".parse().unwrap();
    let network = architecture.init(&device).unwrap();
    let bayes = network.into_bayes(Point::train(1_000)).unwrap();
    let x = images(&architecture, 3, &device);
    let run = |pass| bayes.run(pass, |net| net.logits(x.clone())).unwrap();
    let before = values(run(Pass::mean()));
    run(Pass::train_mean());
    let after = values(run(Pass::mean()));
    assert_ne!(after, before);
    let x = x.without_autodiff();
    let valid = bayes.network().valid();
    let expected = Pass::mean().run(|| valid.logits(x)).unwrap();
    assert_eq!(after, values(expected));
}

/// The pixels as features of which `width` are told, of one row fewer if asked for.
#[derive(Module, Debug)]
struct Told {
    layer: bayesadapter::nn::Linear,
    fewer: usize,
    width: usize,
}

impl Classifier<2> for Told {
    fn logits(&self, x: Tensor<2>) -> Tensor<2> {
        self.layer.forward(x)
    }

    fn features_and_logits(&self, x: Tensor<2>) -> (Option<Tensor<2>>, Tensor<2>) {
        let rows = x.dims()[0];
        let features = x.clone().slice([0..rows - self.fewer, 0..self.width]);
        (Some(features), self.logits(x))
    }
}

#[test]
fn features_that_are_none_are_an_error() {
    let device = Device::flex();
    let predict = |fewer, width| {
        let layer = bayesadapter::nn::LinearConfig::new(4, 3).init(&device);
        let told = Told {
            layer,
            fewer,
            width,
        };
        let options = PredictOptions::new(Draws::Mean).with_features_kept();
        // One row, since threads share out several.
        let x = Tensor::<2>::ones([1, 4], &device);
        told.into_bayes(mean_field()).unwrap().predict(x, options)
    };
    assert_eq!(predict(0, 4).unwrap().features, Some(vec![1.0; 4]));
    let error = predict(1, 4).unwrap_err();
    let expected = PredictError::Features {
        rows: 1,
        found: vec![0, 4],
    };
    assert_eq!(error, expected);
}

#[test]
fn embeddings_are_no_probabilities() {
    let device = Device::flex();
    let faces = MobileFaceNetConfig {
        width: 0.05,
        input: [32, 32],
        embedding: 6,
        ..MobileFaceNetConfig::new(None)
    };
    let architecture = Architecture::MobileFaceNet(faces);
    let x = images(&architecture, 2, &device);
    let predict = |architecture: Architecture, options: PredictOptions| {
        let network = architecture.init(&device).unwrap();
        let bayes = network.into_bayes(MeanField::fine_tune(10)).unwrap();
        bayes.predict(x.clone(), options)
    };
    let options = PredictOptions::new(Draws::Mean);
    let refused = predict(architecture.clone(), options.clone());
    assert_eq!(refused, Err(PredictError::NoClassifier));
    let told = predict(architecture.clone(), options.clone().with_features_kept()).unwrap();
    assert_eq!(told.features.unwrap().len(), 2 * 6);
    let classified = predict(architecture.with_classes(3), options).unwrap();
    assert_eq!(classified.classes, 3);
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
