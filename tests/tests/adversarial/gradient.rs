//! The gradient of the predictive's loss with respect to images.

use crate::{
    digits::{convolutional, nll_of_prediction, some_digits},
    linear::{
        Affine, CLASSES, INPUTS, PastItsLayer, Stock, closed_form, inputs_of, labels, ours, pixels,
        started, tensor, wide,
    },
};
use bayesadapter::{
    adversarial::predictive_gradient,
    nn::LinearConfig,
    ops::{NoiseKey, fill_normals},
    posterior::{Bayes, LowRankEnsemble, MeanField, Point, Posterior},
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::tensor::{Device, Tensor, TensorData};

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
