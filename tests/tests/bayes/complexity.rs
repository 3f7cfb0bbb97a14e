//! The complexity loss and its gradient.

use crate::subject::{Along, Move, bayes, filled, images, posteriors};
use bayesadapter::{
    nn,
    pass::{Estimator, Pass},
    posterior::{IntoBayes, MeanField, Posterior},
};
use bayesadapter_tests::{devices, values};
use burn::{module::Module, optim::GradientsParams, tensor::Device};

/// The gradient that is added after the backward pass is that of the loss that is reported.
#[test]
fn complexity_gradients_agree_with_finite_differences() {
    for (name, device) in devices() {
        for posterior in posteriors() {
            complexity_gradients_agree(&posterior, name, &device.clone().autodiff());
        }
    }
}

fn complexity_gradients_agree(posterior: &Posterior, name: &str, device: &Device) {
    let bayes = bayes(posterior.clone(), device);
    let moved = bayes.clone().map(&mut Move {
        by: 0.05,
        seed: 500,
    });
    // A pass through everything, with a gradient of zero.
    let y = moved
        .run(Pass::train(Estimator::Exemplar, 0), |net| {
            net.forward(images(2, device))
        })
        .unwrap();
    let gradients = GradientsParams::from_grads(y.mul_scalar(0.0).sum().backward(), &moved);
    let gradients = moved.with_complexity(gradients).unwrap();
    let mut along = Along {
        gradients,
        seed: 900,
        total: 0.0,
    };
    moved.visit(&mut along);

    let step = 0.01;
    let loss = |by: f32| {
        let bayes = moved.clone().map(&mut Move { by, seed: 900 });
        bayes.complexity_loss().unwrap()
    };
    let expected = (loss(step) - loss(-step)) / (2.0 * f64::from(step));
    let off = (along.total - expected).abs();
    assert!(
        off < 2e-3 * expected.abs().max(1e-3),
        "{posterior:?} on {name}: {} along the direction, expected {expected}",
        along.total
    );
}

/// `KL / n` of one weight by the textbook formula.
#[test]
fn the_complexity_loss_of_a_gaussian_is_its_divergence() {
    let device = Device::flex();
    let layer = nn::LinearConfig::new(1, 1).with_bias(false).init(&device);
    let mut posterior = MeanField::fine_tune(50).with_lambda(0.1);
    posterior.initial_log_std = [-1.0, -1.0];
    let bayes = filled(layer).into_bayes(posterior).unwrap();
    let mean = f64::from(values(bayes.network().weight.base())[0]);
    let (std, prior_std) = ((-1.0f64).exp(), (1.0 / (0.1 * 50.0f64)).sqrt());
    let divergence =
        (prior_std / std).ln() + (std * std + mean * mean) / (2.0 * prior_std * prior_std) - 0.5;
    let found = bayes.complexity_loss().unwrap();
    assert!(
        (found - divergence / 50.0).abs() < 1e-7,
        "{found} and {divergence} / 50"
    );
}
