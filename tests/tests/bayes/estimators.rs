//! How the noise is spread over the rows of a batch.

use crate::subject::{Stock, bayes, filled, images, normals, posteriors, wide};
use bayesadapter::{
    nn,
    ops::{DrawAxis, NoiseKey, sample_gaussian},
    pass::{Estimator, Pass, PassError},
    posterior::{IntoBayes, LowRankEnsemble, MeanField, Posterior, Spread},
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    optim::GradientsParams,
    tensor::{Device, Tensor},
};

/// Mean and variance, over steps, of the outputs of a linear layer for one example.
fn moments(estimator: Estimator) -> [Vec<f32>; 2] {
    let device = Device::flex();
    let layer = filled(nn::LinearConfig::new(4, 3).init(&device));
    let layer = layer.into_bayes(wide(MeanField::fine_tune(10))).unwrap();
    let x = normals([1, 4], 1, &device).repeat_dim(0, 50);
    let steps = 400;
    let mut samples: Vec<f32> = Vec::new();
    for step in 0..steps {
        let pass = Pass::train(estimator, step);
        samples.extend(values(
            layer.run(pass, |layer| layer.forward(x.clone())).unwrap(),
        ));
    }
    let count = (samples.len() / 3) as f32;
    let sum = |of: &dyn Fn(usize, f32) -> f32| -> Vec<f32> {
        let column = |output: usize| samples.iter().skip(output).step_by(3);
        (0..3)
            .map(|o| column(o).map(|&y| of(o, y)).sum::<f32>() / count)
            .collect()
    };
    let mean = sum(&|_, y| y);
    let variance = sum(&|o, y| (y - mean[o]).powi(2));
    [mean, variance]
}

/// All estimators draw the pre-activation of an example from the same Gaussian.
#[test]
fn estimators_have_the_mean_and_variance_of_the_posterior() {
    let device = Device::flex();
    let layer = filled(nn::LinearConfig::new(4, 3).init(&device));
    let bayes = layer
        .clone()
        .into_bayes(wide(MeanField::fine_tune(10)))
        .unwrap();
    let x = normals([1, 4], 1, &device);
    let mean = values(layer.forward(x.clone()));
    let variances: Vec<Tensor<1>> = bayes
        .inventory()
        .entries
        .iter()
        .map(|entry| match &entry.spread {
            Spread::MeanField { psi, .. } => psi.clone().mul_scalar(2.0).exp(),
            other => panic!("{other:?}"),
        })
        .collect();
    let of_weight = (x.clone() * x).matmul(variances[0].clone().reshape([4, 3]));
    let variance = values(of_weight.reshape([3]) + variances[1].clone());
    for estimator in [
        Estimator::Vanilla,
        Estimator::Exemplar,
        Estimator::Local,
        Estimator::Flipout,
    ] {
        let [found_mean, found_variance] = moments(estimator);
        // 20,000 independent samples, or 400 where the examples of a step share their noise; flipout
        // shares its size, and only the sign differs.
        let few = matches!(estimator, Estimator::Vanilla);
        let share = if few { 0.3 } else { 0.06 };
        let variance_share = if few || estimator == Estimator::Flipout {
            0.3
        } else {
            0.06
        };
        for output in 0..3 {
            let std = variance[output].sqrt();
            let off = (found_mean[output] - mean[output]).abs() / std;
            assert!(
                off < share,
                "{estimator}: mean off by {off} standard deviations"
            );
            let ratio = found_variance[output] / variance[output];
            assert!(
                (ratio - 1.0).abs() < variance_share,
                "{estimator}: variance ratio {ratio}"
            );
        }
    }
}

#[test]
fn only_the_vanilla_estimator_shares_noise_among_examples() {
    let device = Device::flex();
    let x = images(1, &device).repeat_dim(0, 2);
    for posterior in posteriors().into_iter().take(3) {
        let ensemble = matches!(posterior, Posterior::LowRankEnsemble(_));
        let bayes = bayes(posterior, &device);
        let rows = |pass: Pass| {
            let pass = pass.with_mode(bayesadapter::pass::Mode::Evaluate);
            let y = values(bayes.run(pass, |net| net.forward(x.clone())).unwrap());
            [y[..3].to_vec(), y[3..].to_vec()]
        };
        let [first, second] = rows(Pass::train(Estimator::Vanilla, 1));
        assert_eq!(first, second);
        let [first, second] = rows(Pass::train(Estimator::Exemplar, 1));
        assert_ne!(first, second);
        assert_eq!(rows(Pass::train(Estimator::Exemplar, 1)), [first, second]);
        if !ensemble {
            for estimator in [Estimator::Local, Estimator::Flipout] {
                let [first, second] = rows(Pass::train(estimator, 1));
                assert_ne!(first, second, "{estimator}");
            }
        }
    }
}

/// A batch in two parts sees the noise of the whole.
#[test]
fn parts_of_a_batch_keep_their_noise() {
    let device = Device::flex();
    let x = images(4, &device);
    let bayes = bayes(wide(MeanField::fine_tune(10)), &device);
    for estimator in [Estimator::Vanilla, Estimator::Exemplar, Estimator::Local] {
        let pass = Pass::train(estimator, 3).with_mode(bayesadapter::pass::Mode::Evaluate);
        let run = |pass: Pass, x: Tensor<4>| values(bayes.run(pass, |net| net.forward(x)).unwrap());
        let whole = run(pass, x.clone());
        let first = run(pass, x.clone().slice(0..1));
        let rest = run(pass.with_first_example(1), x.clone().slice(1..4));
        let parts = [first, rest].concat();
        let tolerance = Tolerance::of_largest(1e-5, &whole);
        assert_close(&format!("{estimator}"), &parts, &whole, tolerance);
    }
}

#[test]
fn exemplar_gradients_are_those_of_a_weight_per_example() {
    for (name, device) in devices() {
        let device = device.autodiff();
        let posterior = wide(MeanField::fine_tune(10));
        let layer = filled(nn::LinearConfig::new(4, 3).with_bias(false).init(&device));
        let bayes = layer.into_bayes(posterior).unwrap();
        let x = normals([6, 4], 2, &device);
        let pass = Pass::train(Estimator::Exemplar, 9);
        let y = bayes.run(pass, |layer| layer.forward(x.clone())).unwrap();
        let gradients = (y.clone() * y.clone()).sum().backward();
        let found = GradientsParams::from_grads(gradients, &bayes);

        let entry = &bayes.inventory().entries[0];
        let Spread::MeanField { psi_id, psi, .. } = &entry.spread else {
            panic!("{entry:?}");
        };
        let leaf = |value: &Tensor<1>| Tensor::from_inner(value.clone()).require_grad();
        let (mu, psi) = (leaf(&entry.value), leaf(psi));
        let key = NoiseKey {
            seed: 0x5bd1_e995_9e37_79b9,
            draw: 9,
            ..Default::default()
        };
        let weights: Tensor<2> =
            sample_gaussian(mu.clone(), psi.clone(), key, DrawAxis::Example, 6).unwrap();
        let expected_y = x.reshape([6, 1, 4]).matmul(weights.reshape([6, 4, 3]));
        let tolerance = Tolerance::of_largest(1e-5, &values(y.clone().inner()));
        assert_close(
            name,
            &values(y.inner()),
            &values(expected_y.clone().inner()),
            tolerance,
        );
        let expected = (expected_y.clone() * expected_y).sum().backward();
        for (what, found, expected) in [
            (
                "mu",
                found.get::<2>(entry.id).map(values),
                mu.grad(&expected),
            ),
            (
                "psi",
                found.get::<1>(*psi_id).map(values),
                psi.grad(&expected),
            ),
        ] {
            let (found, expected) = (found.unwrap(), values(expected.unwrap()));
            let tolerance = Tolerance::of_largest(1e-5, &expected);
            assert_close(&format!("{what} on {name}"), &found, &expected, tolerance);
        }
    }
}

#[test]
fn an_ensemble_refuses_estimators_of_gaussians() {
    let device = Device::flex();
    let ensemble = bayes(LowRankEnsemble::fine_tune(10), &device);
    for estimator in [Estimator::Local, Estimator::Flipout] {
        let result = ensemble.run(Pass::train(estimator, 0), |net| {
            net.forward(images(2, &device))
        });
        let error = result.unwrap_err();
        assert!(matches!(error, PassError::Estimator { .. }));
        assert!(
            error.to_string().contains("exemplar"),
            "says what to use: {error}"
        );
    }
}

#[test]
fn layers_tell_which_estimator_they_used() {
    let device = Device::flex();
    let x = images(2, &device);
    let ours = bayes(MeanField::fine_tune(10), &device);
    let used = ours
        .estimators(Estimator::Local, |net| net.forward(x.clone()))
        .unwrap();
    let of = |path: &str| {
        used.iter()
            .find(|(one, _)| one == path)
            .map(|(_, used)| *used)
    };
    assert_eq!(of("conv.weight"), Some(Estimator::Local));
    assert_eq!(of("head.bias"), Some(Estimator::Exemplar));
    assert_eq!(of("norm.gamma"), Some(Estimator::Exemplar));
    let stock = Stock::new(&device)
        .into_bayes(MeanField::fine_tune(10))
        .unwrap();
    let used = stock
        .estimators(Estimator::Exemplar, |net| net.forward(x.clone()))
        .unwrap();
    assert_eq!(used.len(), 6);
    assert!(
        used.iter().all(|(_, used)| *used == Estimator::Vanilla),
        "{used:?}"
    );
}
