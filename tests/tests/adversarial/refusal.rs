//! Settings, labels and networks that an attack refuses.

use crate::linear::{
    CLASSES, Detached, INPUTS, inputs_of, normalisation, ours, pixels, started, tensor, wide,
};
use bayesadapter::{
    adversarial::{AttackError, Pgd},
    models::Normalisation,
    nn::LinearConfig,
};
use burn::tensor::Device;

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
