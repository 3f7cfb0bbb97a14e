//! Advice on made-up networks, whose bytes are easy to add up.

use super::*;
use crate::posterior::MeanField;

/// 100 bytes of weights, 60 + 40 bytes of spreads, and 10 bytes per example with maps of 2 at most: a step
/// of n examples takes 3 * 200 + (10 + 3 * 2) * n bytes.
fn footprint() -> Footprint {
    Footprint {
        parameters: 200,
        trained: 200,
        spreads: [60, 40],
        kept: 10,
        largest: 2,
        uncounted: Vec::new(),
    }
}

fn advice(posterior: impl Into<Posterior>, bytes: u64, batch: usize) -> Vec<Advice> {
    let budget = Budget {
        bytes: Some(bytes),
        tensor: None,
    };
    let situation = Situation {
        footprint: &footprint(),
        exemplar: None,
        posterior: &posterior.into(),
        budget,
        batch,
        ood_batch: OodBatch::None,
    };
    situation.advice()
}

#[test]
fn what_fits_needs_no_advice() {
    assert_eq!(footprint().memory(100).total(), 600 + 1600);
    assert_eq!(advice(MeanField::fine_tune(10), 2200, 100), []);
    assert_ne!(advice(MeanField::fine_tune(10), 2199, 100), []);
}

#[test]
fn the_largest_power_of_two_and_the_last_layer() {
    let last_layer = Advice::LastLayer {
        bytes: 2200 - 3 * 60,
    };
    let found = advice(MeanField::fine_tune(10), 2100, 100);
    assert_eq!(found, [Advice::SmallerBatch { batch: 64 }, last_layer]);
    let found = advice(MeanField::fine_tune(10), 600 + 16 * 16, 100);
    assert_eq!(found, [Advice::SmallerBatch { batch: 16 }]);
    let last = MeanField::fine_tune(10).with_select(Select::LastLayer);
    assert_eq!(
        advice(last, 2100, 100),
        [Advice::SmallerBatch { batch: 64 }]
    );
}

#[test]
fn an_ensemble_can_have_fewer_components() {
    // 100 bytes of spreads are 20 components of 5, each of which is there three times.
    let ensemble = LowRankEnsemble::fine_tune(10);
    assert_eq!(ensemble.components, 20);
    let found = advice(ensemble.clone(), 2200 - 3 * 5 * 4 + 1, 100);
    assert!(found.contains(&Advice::FewerComponents { components: 16 }));
    // Two components are 600 - 3 * 90; nothing less is an ensemble.
    let found = advice(ensemble, 1600 + 600 - 3 * 90 - 1, 100);
    assert_eq!(found, [Advice::SmallerBatch { batch: 64 }]);
}

#[test]
fn cheaper_estimators_and_nothing_at_all() {
    let mut situation = Situation {
        footprint: &footprint(),
        exemplar: Some(Footprint {
            kept: 5,
            ..footprint()
        }),
        posterior: &MeanField::fine_tune(10).into(),
        budget: Budget {
            bytes: Some(1700),
            tensor: None,
        },
        batch: 100,
        ood_batch: OodBatch::None,
    };
    let exemplar = Advice::Exemplar { bytes: 1700 };
    assert!(situation.advice().contains(&exemplar));
    situation.budget.bytes = Some(400);
    assert_eq!(situation.advice(), [Advice::NothingFits { bytes: 616 }]);
}

#[test]
fn a_tensor_beyond_the_adapter_calls_for_a_smaller_batch() {
    let situation = Situation {
        footprint: &footprint(),
        exemplar: None,
        posterior: &MeanField::fine_tune(10).into(),
        budget: Budget {
            bytes: None,
            tensor: Some(100),
        },
        batch: 51,
        ood_batch: OodBatch::None,
    };
    assert_eq!(situation.advice(), [Advice::SmallerBatch { batch: 32 }]);
}

#[test]
fn a_batch_of_128_with_32_ood_images_takes_the_memory_of_192_rows() {
    let mut situation = Situation {
        footprint: &footprint(),
        exemplar: None,
        posterior: &MeanField::fine_tune(10).into(),
        budget: Budget {
            bytes: Some(600 + 16 * 192),
            tensor: None,
        },
        batch: 128,
        ood_batch: OodBatch::Count(32),
    };
    let memory = situation.memory(&footprint(), 128);
    assert_eq!(memory, footprint().memory(192));
    assert_eq!(memory.activations, 10 * 192);
    assert_eq!(situation.largest(&footprint(), 128), 2 * 192);
    assert_eq!(situation.advice(), []);
    // So many OOD images stay beside a smaller batch; a quarter of it does not.
    situation.budget.bytes = Some(600 + 16 * 128);
    let smaller = |batch| [Advice::SmallerBatch { batch }];
    assert_eq!(situation.advice(), smaller(64));
    situation.budget.bytes = Some(600 + 16 * 24);
    let bytes = 600 + 16 * 65;
    assert_eq!(situation.advice(), [Advice::NothingFits { bytes }]);
    situation.ood_batch = OodBatch::Quarter;
    assert_eq!(situation.advice(), smaller(16));
}
