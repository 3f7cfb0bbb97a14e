//! Projected gradient descent: where it starts, where it goes, and how far.

use crate::{
    digits::{convolutional, nll_of_prediction, some_digits},
    linear::{
        closed_form, inputs_of, labels, normalisation, ours, pixels, pixels_of, tensor, wide,
    },
};
use bayesadapter::{adversarial::Pgd, models::Normalisation, posterior::MeanField};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::tensor::{Device, Tensor};

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
