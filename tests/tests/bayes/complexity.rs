//! The complexity loss and its gradient.

use crate::subject::{Along, Move, bayes, filled, images, posteriors};
use bayesadapter::{
    nn,
    pass::{Estimator, Pass},
    posterior::{
        InitialStd, IntoBayes, Inventory, LowRankEnsemble, LowRankForm, MeanField, Posterior,
    },
};
use bayesadapter_tests::{devices, values};
use burn::{module::Module, optim::GradientsParams, tensor::Device};

/// Ensembles with both layouts of the left factors.
fn of_rank(rank: usize) -> impl Iterator<Item = Posterior> {
    let forms = [LowRankForm::Patches, LowRankForm::Channels].into_iter();
    forms.map(move |form| {
        let ensemble = LowRankEnsemble {
            initial_std: 0.3,
            ..LowRankEnsemble::fine_tune(1_000)
        };
        let ensemble = ensemble.with_components(3).with_rank(rank);
        Posterior::from(ensemble.with_form(form))
    })
}

/// The gradient that is added after the backward pass is that of the loss that is reported.
#[test]
fn complexity_gradients_agree_with_finite_differences() {
    for (name, device) in devices() {
        for posterior in posteriors().into_iter().chain(of_rank(8)) {
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
    posterior.initial_std = InitialStd::LogUniform([-1.0, -1.0]);
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

/// `lambda / 2C * sum_c |w[c]|^2`, with the weights of every network of the ensemble.
#[test]
fn the_complexity_loss_of_an_ensemble_is_the_mean_of_its_networks() {
    let device = Device::flex();
    for posterior in [1, 2, 8].into_iter().flat_map(of_rank) {
        let bayes = bayes(posterior.clone(), &device);
        let squares = |k: u32| -> f64 {
            let entries = Inventory::of(&bayes.draw(k).unwrap()).entries.into_iter();
            let trained = entries.filter(|entry| entry.trained);
            let weights = trained.flat_map(|entry| values(entry.value));
            weights.map(|weight| f64::from(weight).powi(2)).sum()
        };
        let mean = (0..3).map(squares).sum::<f64>() / 3.0;
        let expected = posterior.prior().lambda / 2.0 * mean;
        let found = bayes.complexity_loss().unwrap();
        assert!(
            (found - expected).abs() < 1e-5 * expected,
            "{posterior:?}: {found} and {expected}"
        );
    }
}
