//! Predicting leaves nothing behind, also on a network that is in training.

use bayesadapter::{
    models::Architecture,
    posterior::{IntoBayes, MeanField},
    predict::Draws,
};
use bayesadapter_tests::Counting;
use burn::tensor::{Device, Tensor};
use std::{
    thread,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One of the maps that a launch makes: 64 examples of 16 channels of 8 x 8.
const MAP: usize = 64 * 16 * 64 * 4;
const ROUNDS: usize = 32;

#[test]
fn predictions_of_a_network_in_training_do_not_pile_up() {
    let device = Device::flex().autodiff();
    let network = "digits-cnn".parse::<Architecture>().unwrap();
    let network = network.init(&device).unwrap();
    let bayes = network.into_bayes(MeanField::fine_tune(100)).unwrap();
    let predict = || {
        for draws in [Draws::Mean, Draws::Fixed(3)] {
            let images = Tensor::<4>::ones([64, 1, 8, 8], &device);
            bayes.predict(images, draws).unwrap();
        }
    };
    predict();
    let before = Counting::live();
    for _ in 0..ROUNDS {
        predict();
    }
    // A thread of the pool may make its workspace in any round, and keeps it. Those of the last predictions give theirs
    // back when they end, for which nobody waits.
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let grown = Counting::live().saturating_sub(before);
        if grown < ROUNDS * MAP / 2 {
            break;
        }
        assert!(Instant::now() < patience, "{grown} bytes are still there");
        thread::sleep(Duration::from_millis(10));
    }
}
