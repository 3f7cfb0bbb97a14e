//! Attacks on the posterior predictive against closed forms of linear networks and finite differences of deep ones.

use bayesadapter::{
    adversarial::{AttackError, Pgd, predictive_gradient},
    data::{Dataset, Preparation, Split, digits},
    models::{Architecture, Network, Normalisation},
    nn::{Linear, LinearConfig},
    ops::{NoiseKey, fill_normals},
    posterior::{Bayes, InitialStd, IntoBayes, LowRankEnsemble, MeanField, Point, Posterior},
    predict::{Classifier, Draws},
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};
use std::sync::{Mutex, PoisonError};

const SHAPE: [usize; 3] = [3, 4, 4];
const INPUTS: usize = 48;
const CLASSES: usize = 5;

/// A network with logits that are linear in its input.
trait Affine: Classifier<4> {
    /// `[inputs, classes]` and `[classes]`.
    fn weights(&self) -> (Tensor<2>, Tensor<1>);
}

/// Of a layer that gives every row its draw.
#[derive(Module, Debug)]
struct Ours {
    layer: Linear,
}

impl Classifier<4> for Ours {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        self.layer.forward(x.flatten(1, 3))
    }
}

impl Affine for Ours {
    fn weights(&self) -> (Tensor<2>, Tensor<1>) {
        (
            self.layer.weight.val(),
            self.layer.bias.as_ref().unwrap().val(),
        )
    }
}

/// Of Burn's layer, which shares a draw among the rows of a launch.
#[derive(Module, Debug)]
struct Stock {
    layer: burn::nn::Linear,
}

impl Classifier<4> for Stock {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        self.layer.forward(x.flatten(1, 3))
    }
}

impl Affine for Stock {
    fn weights(&self) -> (Tensor<2>, Tensor<1>) {
        (
            self.layer.weight.val(),
            self.layer.bias.as_ref().unwrap().val(),
        )
    }
}

/// Reads its weight past the layer, so that only a forward pass tells that rows share a draw.
#[derive(Module, Debug)]
struct PastItsLayer {
    layer: Linear,
}

impl Classifier<4> for PastItsLayer {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        let (weight, bias) = self.weights();
        x.flatten::<2>(1, 3).matmul(weight) + bias.unsqueeze()
    }
}

impl Affine for PastItsLayer {
    fn weights(&self) -> (Tensor<2>, Tensor<1>) {
        (
            self.layer.weight.val(),
            self.layer.bias.as_ref().unwrap().val(),
        )
    }
}

/// Leaves the graph.
#[derive(Module, Debug)]
struct Detached {
    layer: Linear,
}

impl Classifier<4> for Detached {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        self.layer.forward(x.flatten(1, 3).detach())
    }
}

/// A network with the same start in every run. Devices have one source of random numbers each, and tests run side by
/// side.
fn started<M: Module>(
    device: &Device,
    posterior: impl Into<Posterior>,
    init: impl FnOnce() -> M,
) -> Bayes<M> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    device.seed(3);
    init().into_bayes(posterior).unwrap()
}

fn ours(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Ours> {
    started(device, posterior, || Ours {
        layer: LinearConfig::new(INPUTS, CLASSES).init(device),
    })
}

/// Weights that differ from draw to draw by as much as they are large.
fn wide() -> MeanField {
    MeanField::fine_tune(100).with_initial_std(InitialStd::LogUniform([-2.0, -1.0]))
}

fn normalisation() -> Normalisation {
    Normalisation {
        mean: vec![0.5, 0.4, 0.3],
        std: vec![0.2, 0.25, 0.5],
    }
}

/// Pixels in 0..=1, some of them at the ends.
fn pixels(images: usize) -> Vec<f32> {
    let mut pixels = vec![0.0; images * INPUTS];
    fill_normals(&NoiseKey::default(), 0, 0, &mut pixels);
    let pixel = |normal: &f32| (0.5 + 0.4 * normal).clamp(0.0, 1.0);
    pixels.iter().map(pixel).collect()
}

/// What the network takes for pixels, and pixels for what it takes.
fn by_channel(values: &[f32], of_channel: impl Fn(f32, f32, f32) -> f32) -> Vec<f32> {
    let Normalisation { mean, std } = normalisation();
    let each = INPUTS / SHAPE[0];
    let channel = |at: usize| at / each % SHAPE[0];
    let numbered = values.iter().enumerate();
    numbered
        .map(|(at, &value)| of_channel(value, mean[channel(at)], std[channel(at)]))
        .collect()
}

fn inputs_of(pixels: &[f32]) -> Vec<f32> {
    by_channel(pixels, |pixel, mean, std| (pixel - mean) / std)
}

fn pixels_of(inputs: &[f32]) -> Vec<f32> {
    by_channel(inputs, |input, mean, std| input * std + mean)
}

fn tensor(inputs: &[f32], device: &Device) -> Tensor<4> {
    let [channels, height, width] = SHAPE;
    let shape = [inputs.len() / INPUTS, channels, height, width];
    Tensor::from_data(TensorData::new(inputs.to_vec(), shape), device)
}

fn labels(images: usize) -> Vec<u32> {
    (0..images).map(|image| (image % CLASSES) as u32).collect()
}

/// `-ln mean_s p_s[y]` and its gradient `sum_s p_s[y] (sum_c p_s[c] w_s[c] - w_s[y]) / sum_s p_s[y]` in f64, image by
/// image.
fn closed_form<M: Affine>(
    bayes: &Bayes<M>,
    inputs: &[f32],
    labels: &[u32],
    draws: u32,
) -> (Vec<f32>, Vec<f32>) {
    let networks: Vec<(Vec<f32>, Vec<f32>)> = (0..draws)
        .map(|draw| {
            let (weight, bias) = bayes.draw(draw).unwrap().weights();
            (values(weight), values(bias))
        })
        .collect();
    let (mut nll, mut gradients) = (Vec::new(), Vec::new());
    for (x, &label) in inputs.chunks_exact(INPUTS).zip(labels) {
        let (mut total, mut gradient) = (0.0, vec![0.0; INPUTS]);
        for (weight, bias) in &networks {
            let at = |input: usize, class: usize| f64::from(weight[input * CLASSES + class]);
            let logit = |class: usize| {
                let products = (0..INPUTS).map(|input| f64::from(x[input]) * at(input, class));
                products.sum::<f64>() + f64::from(bias[class])
            };
            let exps: Vec<f64> = (0..CLASSES).map(|class| logit(class).exp()).collect();
            let sum: f64 = exps.iter().sum();
            let p: Vec<f64> = exps.iter().map(|exp| exp / sum).collect();
            let own = p[label as usize];
            total += own;
            for input in 0..INPUTS {
                let mean: f64 = (0..CLASSES).map(|class| p[class] * at(input, class)).sum();
                gradient[input] += own * (mean - at(input, label as usize));
            }
        }
        nll.push(-(total / f64::from(draws)).ln() as f32);
        gradients.extend(gradient.iter().map(|one| (one / total) as f32));
    }
    (nll, gradients)
}

fn agrees_with_closed_form<M: Affine>(
    what: &str,
    bayes: &Bayes<M>,
    images: usize,
    [asked, made]: [u32; 2],
    device: &Device,
) {
    let what = format!("{what}, {images} images");
    let (inputs, labels) = (inputs_of(&pixels(images)), labels(images));
    let found = predictive_gradient(bayes, tensor(&inputs, device), &labels, asked).unwrap();
    let (nll, gradient) = closed_form(bayes, &inputs, &labels, made);
    for (of, found, expected) in [
        ("nll", values(found.nll), nll),
        ("gradient", values(found.gradient), gradient),
    ] {
        let tolerance = Tolerance::of_largest(2e-5, &expected);
        assert_close(&format!("{of} of {what}"), &found, &expected, tolerance);
    }
}

/// Of 100 images two draws fit into a launch. 300 do not fit at all, which is the same arithmetic on every device.
#[test]
fn gradient_of_a_linear_network_is_that_of_the_closed_form() {
    for (name, device) in devices() {
        let ensemble = LowRankEnsemble::fine_tune(100).with_components(4);
        for (posterior, draws) in [
            (Posterior::from(wide()), [7, 7]),
            // No more draws than there are components or points.
            (ensemble.into(), [20, 4]),
            (Point::train(100).into(), [20, 1]),
        ] {
            let what = format!("{posterior:?} on {name}");
            let bayes = ours(posterior, &device);
            let most = if name == "cpu" { 300 } else { 100 };
            for images in [3, most] {
                agrees_with_closed_form(&what, &bayes, images, draws, &device);
            }
        }
    }
}

#[test]
fn layers_that_share_a_draw_get_a_launch_for_each() {
    let device = Device::flex();
    let stock = started(&device, wide(), || Stock {
        layer: burn::nn::LinearConfig::new(INPUTS, CLASSES).init(&device),
    });
    agrees_with_closed_form("Burn's layer", &stock, 5, [6, 6], &device);
    let past = started(&device, wide(), || PastItsLayer {
        layer: LinearConfig::new(INPUTS, CLASSES).init(&device),
    });
    agrees_with_closed_form("past the layer", &past, 5, [6, 6], &device);
}

/// One step as long as the budget ends at a corner of the ball, cut off at valid pixels.
#[test]
fn one_step_follows_the_sign_of_the_closed_form() {
    for (name, device) in devices() {
        let bayes = ours(wide(), &device);
        let (clean, labels) = (pixels(6), labels(6));
        let inputs = inputs_of(&clean);
        let pgd = Pgd {
            epsilon: 0.05,
            step: 0.05,
            steps: 1,
            draws: 7,
            random_start: false,
            seed: 0,
        };
        let found = pgd.attack(&bayes, tensor(&inputs, &device), &labels, &normalisation());
        let found = pixels_of(&values(found.unwrap()));
        let (_, gradient) = closed_form(&bayes, &inputs, &labels, 7);
        assert!(
            gradient.iter().all(|one| one.abs() > 1e-6),
            "no doubtful sign"
        );
        let moved = clean.iter().zip(&gradient);
        let expected: Vec<f32> = moved
            .map(|(pixel, gradient)| (pixel + 0.05 * gradient.signum()).clamp(0.0, 1.0))
            .collect();
        assert!(expected.contains(&0.0) && expected.contains(&1.0));
        let tolerance = Tolerance {
            relative: 0.0,
            absolute: 1e-6,
        };
        assert_close(name, &found, &expected, tolerance);
    }
}

fn convolutional(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Network> {
    let architecture: Architecture = "digits-cnn".parse().unwrap();
    started(device, posterior, || architecture.init(device).unwrap())
}

fn some_digits(count: usize, device: &Device) -> (Tensor<4>, Vec<u32>) {
    let data = digits(Split::Test);
    let preparation = Preparation::new([1, 8, 8], Normalisation::digits(1));
    let images: Vec<f32> = (0..count)
        .flat_map(|index| preparation.prepare(&data.picture(index).unwrap()).unwrap())
        .collect();
    let images = TensorData::new(images, [count, 1, 8, 8]);
    let labels = (0..count).map(|index| data.label(index)).collect();
    (Tensor::from_data(images, device), labels)
}

/// Of every image, from predictions, which share no code with the gradient.
fn nll_of_prediction(bayes: &Bayes<Network>, x: Tensor<4>, labels: &[u32], draws: u32) -> Vec<f64> {
    let prediction = bayes.predict(x, Draws::Fixed(draws)).unwrap();
    let rows = prediction.probabilities().chunks(prediction.classes);
    rows.zip(labels)
        .map(|(row, &label)| -f64::from(row[label as usize]).ln())
        .collect()
}

#[test]
fn gradient_through_the_draws_agrees_with_finite_differences() {
    const STEP: f64 = 0.02;
    for (name, device) in devices() {
        let ensemble = LowRankEnsemble::fine_tune(100).with_components(5);
        for posterior in [Posterior::from(MeanField::fine_tune(100)), ensemble.into()] {
            let bayes = convolutional(posterior, &device);
            let (images, labels) = some_digits(4, &device);
            let found = predictive_gradient(&bayes, images.clone(), &labels, 5).unwrap();
            let nll = values(found.nll);
            let by_prediction = nll_of_prediction(&bayes, images.clone(), &labels, 5);
            for (one, expected) in nll.iter().zip(&by_prediction) {
                assert!(
                    (f64::from(*one) - expected).abs() < 1e-4,
                    "{one} and {expected}"
                );
            }
            let gradient = found.gradient;
            let length = values((gradient.clone() * gradient.clone()).sum())[0].sqrt();
            let mut normals = vec![0.0; 4 * 64];
            fill_normals(&NoiseKey::default(), 1, 0, &mut normals);
            let normals = Tensor::from_data(TensorData::new(normals, [4, 1, 8, 8]), &device);
            for direction in [
                gradient.clone().div_scalar(length),
                normals.div_scalar(16.0),
            ] {
                let exact = f64::from(values((gradient.clone() * direction.clone()).sum())[0]);
                let moved = |by: f64| {
                    let x = images.clone() + direction.clone().mul_scalar(by);
                    nll_of_prediction(&bayes, x, &labels, 5).iter().sum::<f64>()
                };
                let numeric = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                let off = (numeric - exact).abs();
                assert!(
                    off < 0.01 * f64::from(length),
                    "{name}: {exact}, by differences {numeric}, length {length}"
                );
            }
        }
    }
}

#[test]
fn attack_raises_the_loss_within_budget_and_valid_pixels() {
    for (name, device) in devices() {
        let bayes = convolutional(MeanField::fine_tune(100), &device);
        let (images, labels) = some_digits(6, &device);
        let normalisation = Normalisation::digits(1);
        let pgd = Pgd {
            steps: 6,
            step: 0.01,
            draws: 4,
            ..Pgd::cifar()
        };
        let found = pgd
            .attack(&bayes, images.clone(), &labels, &normalisation)
            .unwrap();
        let before = nll_of_prediction(&bayes, images.clone(), &labels, 4);
        let after = nll_of_prediction(&bayes, found.clone(), &labels, 4);
        assert!(
            before
                .iter()
                .zip(&after)
                .all(|(before, after)| after > before),
            "{name}: {before:?} and {after:?}"
        );
        let (mean, std) = (normalisation.mean[0], normalisation.std[0]);
        let pixels = |x: Tensor<4>| values(x.mul_scalar(std).add_scalar(mean));
        let (clean, found) = (pixels(images), pixels(found));
        let mut at_the_bound = 0;
        for (clean, found) in clean.iter().zip(&found) {
            assert!((-1e-6..=1.0 + 1e-6).contains(found), "{name}: {found}");
            let change = (clean - found).abs();
            assert!(change <= 0.031 + 1e-6, "{name}: {change}");
            at_the_bound += usize::from(change > 0.0309);
        }
        assert!(at_the_bound > clean.len() / 4, "{name}: {at_the_bound}");
        // The network is as it was, running statistics among it.
        let again = some_digits(6, &device).0;
        assert_eq!(nll_of_prediction(&bayes, again, &labels, 4), before);
    }
}

#[test]
fn seeds_decide_where_the_attack_starts() {
    let device = Device::flex();
    let bayes = ours(wide(), &device);
    let (inputs, labels) = (inputs_of(&pixels(3)), labels(3));
    let attack = |pgd: Pgd| {
        let found = pgd.attack(&bayes, tensor(&inputs, &device), &labels, &normalisation());
        values(found.unwrap())
    };
    // Too short to come to the bound from everywhere.
    let pgd = Pgd {
        steps: 2,
        ..Pgd::cifar()
    };
    assert_eq!(attack(pgd), attack(pgd));
    assert_ne!(attack(pgd), attack(pgd.with_seed(1)));
    let from_image = Pgd {
        random_start: false,
        ..pgd
    };
    assert_eq!(attack(from_image), attack(from_image.with_seed(1)));
}

#[test]
fn devices_with_and_without_autodiff_serve_alike() {
    let plain = Device::flex();
    let tracked = plain.clone().autodiff();
    let (inputs, labels) = (inputs_of(&pixels(3)), labels(3));
    let pgd = Pgd {
        steps: 2,
        draws: 3,
        ..Pgd::cifar()
    };
    let attack = |of_network: &Device, of_images: &Device| {
        let bayes = ours(wide(), of_network);
        let images = tensor(&inputs, of_images);
        let found = pgd.attack(&bayes, images, &labels, &normalisation());
        found.unwrap()
    };
    let expected = attack(&plain, &plain);
    assert!(!expected.is_autodiff());
    let expected = values(expected);
    for (of_network, of_images) in [(&plain, &tracked), (&tracked, &plain), (&tracked, &tracked)] {
        let found = attack(of_network, of_images);
        assert_eq!(found.is_autodiff(), of_images.is_autodiff());
        assert_eq!(values(found), expected);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = Device::flex();
    let bayes = ours(wide(), &device);
    let images = || tensor(&inputs_of(&pixels(2)), &device);
    let pgd = Pgd {
        steps: 1,
        draws: 2,
        ..Pgd::imagenet()
    };
    let attack = |pgd: Pgd, labels: &[u32], normalisation: &Normalisation| {
        let found = pgd.attack(&bayes, images(), labels, normalisation);
        found.map(|_| ()).unwrap_err()
    };
    assert_eq!(
        attack(pgd, &[0], &normalisation()),
        AttackError::Labels {
            images: 2,
            labels: 1
        }
    );
    assert_eq!(
        attack(pgd, &[0, 5], &normalisation()),
        AttackError::Class {
            label: 5,
            classes: CLASSES
        }
    );
    let error = attack(pgd, &[0, 1], &Normalisation::digits(1));
    assert!(matches!(error, AttackError::Channels { channels: 3, .. }));
    let flat = Normalisation::uniform(3, 0.5, 0.0);
    let error = attack(pgd, &[0, 1], &flat);
    assert!(matches!(error, AttackError::Setting { .. }), "{error}");
    for wrong in [
        Pgd { draws: 0, ..pgd },
        Pgd { steps: 0, ..pgd },
        Pgd { step: 0.0, ..pgd },
        Pgd {
            epsilon: f64::NAN,
            ..pgd
        },
    ] {
        let error = attack(wrong, &[0, 1], &normalisation());
        assert!(matches!(error, AttackError::Setting { .. }), "{error}");
    }
    let detached = started(&device, wide(), || Detached {
        layer: LinearConfig::new(INPUTS, CLASSES).init(&device),
    });
    let found = pgd.attack(&detached, images(), &[0, 1], &normalisation());
    assert_eq!(found.map(|_| ()).unwrap_err(), AttackError::NoGradient);
}
