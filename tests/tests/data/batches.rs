//! Order, workers, resuming and settings.

use crate::fixtures::{Watched, batches, epoch, examples, numbered, picture, plain, settings};
use bayesadapter::data::{
    Augmentation, BatchSettings, Batches, Corruption, DataError, Dataset, Picture, Preparation,
};
use bayesadapter::models::Normalisation;
use bayesadapter::ops::NoiseKey;
use burn::tensor::Device;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn augmented(batch: usize, workers: usize) -> BatchSettings {
    let augmentation = Augmentation {
        crop_padding: 1,
        flip: true,
        cutout: 2,
        ..Augmentation::default()
    };
    BatchSettings {
        shuffle: true,
        seed: 5,
        workers,
        ..settings(batch, plain([3, 4, 4]).with_augmentation(augmentation))
    }
}

#[test]
fn the_last_batch_is_smaller() {
    let batches = batches(numbered(10), settings(4, plain([3, 4, 4])));
    assert_eq!((batches.len(), batches.examples()), (3, 10));
    let made = epoch(&batches, 0, 0);
    let sizes: Vec<usize> = made.iter().map(|batch| batch.shape[0]).collect();
    assert_eq!(sizes, [4, 4, 2]);
    assert_eq!(examples(&made), (0..10).collect::<Vec<_>>());
    assert_eq!(made[2].labels, [2, 0]);
    assert_eq!(made[2].images.len(), 2 * 48);
    assert_eq!(made[2].images[48], 9.0 / 255.0);
    assert_eq!((made[1].index, made[1].shape), (1, [4, 3, 4, 4]));
}

#[test]
fn an_order_is_a_permutation_that_changes_with_epoch_and_seed() {
    let order = |seed, number| {
        let settings = BatchSettings {
            seed,
            ..augmented(7, 0)
        };
        examples(&epoch(&batches(numbered(100), settings), number, 0))
    };
    let first = order(1, 0);
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    assert_eq!(first, order(1, 0));
    for other in [order(1, 1), order(2, 0), (0..100).collect()] {
        let equal = first.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(equal < 10, "{equal} places are the same");
    }
}

#[test]
fn every_place_is_as_likely() {
    let batches = batches(numbered(10), augmented(10, 0));
    let mut counts = [[0u32; 10]; 10];
    for number in 0..2_000 {
        for (place, example) in examples(&epoch(&batches, number, 0))
            .into_iter()
            .enumerate()
        {
            counts[place][example] += 1;
        }
    }
    // 200 expected; the standard deviation is 13.4.
    let worst = counts
        .as_flattened()
        .iter()
        .map(|count| count.abs_diff(200))
        .max();
    assert!(worst < Some(70), "{worst:?}");
}

#[test]
fn workers_change_nothing() {
    let alone = epoch(&batches(numbered(103), augmented(8, 0)), 3, 0);
    for workers in [1, 2, 3, 20] {
        assert_eq!(
            alone,
            epoch(&batches(numbered(103), augmented(8, workers)), 3, 0)
        );
    }
}

#[test]
fn an_epoch_can_be_entered_at_any_batch() {
    for workers in [0, 3] {
        let batches = batches(numbered(50), augmented(8, workers));
        let whole = epoch(&batches, 2, 0);
        for first in 0..=whole.len() + 1 {
            assert_eq!(
                epoch(&batches, 2, first),
                whole.get(first..).unwrap_or_default()
            );
        }
    }
}

#[test]
fn tensors_hold_the_batch() {
    let device = Device::flex();
    let made = epoch(&batches(numbered(5), settings(5, plain([3, 4, 4]))), 0, 0);
    let (images, labels) = made[0].to_tensors(&device);
    assert_eq!(images.dims(), [5, 3, 4, 4]);
    assert_eq!(
        images.into_data().try_to_vec::<f32>().expect("floats"),
        made[0].images
    );
    let labels: Vec<i64> = labels.into_data().iter::<i64>().collect();
    assert_eq!(labels, [0, 1, 2, 0, 1]);
}

#[test]
fn workers_stay_a_few_batches_ahead_and_end_with_the_iterator() {
    let dataset = Watched::new(|_| false);
    let batches = batches(
        dataset.clone(),
        BatchSettings {
            workers: 2,
            ..settings(10, plain([3, 4, 4]))
        },
    );
    let mut running = batches.epoch(0, 0);
    assert!(running.next().is_some());
    std::thread::sleep(std::time::Duration::from_millis(200));
    // Per worker: two that wait, one in hand; and the one that was taken.
    let ahead = dataset.asked.load(Ordering::Relaxed);
    assert!(
        ahead <= 10 * (2 * 3 + 1),
        "{ahead} pictures were decoded ahead"
    );
    drop(running);
    let after = dataset.asked.load(Ordering::Relaxed);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(dataset.asked.load(Ordering::Relaxed), after);
    // The data set is held by the test and by `batches`: no worker is left.
    drop(batches);
    assert_eq!(Arc::strong_count(&dataset), 1);
}

fn refused(settings: BatchSettings) -> String {
    match Batches::new(numbered(3), settings) {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = || settings(2, plain([3, 4, 4]));
    let shaped = |shape| settings(2, plain(shape));
    let normalised = |mean: f32, std: f32, channels| {
        let normalisation = Normalisation::uniform(channels, mean, std);
        settings(2, Preparation::new([3, 4, 4], normalisation))
    };
    let sides = "1 or 3 channels and sides of 1 to 16384 are needed";
    let cases = [
        (
            BatchSettings { batch: 0, ..good() },
            "batch is 0, but 1 to 11184810 pictures of this size make a batch".to_owned(),
        ),
        (
            BatchSettings {
                workers: 5000,
                ..good()
            },
            "workers is 5000, but at most 1024 threads are started".to_owned(),
        ),
        (
            shaped([2, 4, 4]),
            format!("the shape of inputs is 2 x 4 x 4, but {sides}"),
        ),
        (
            shaped([3, 0, 4]),
            format!("the shape of inputs is 3 x 0 x 4, but {sides}"),
        ),
        (
            normalised(0.0, 1.0, 1),
            "normalisation.mean is [0.0], but 3 values are needed, one per channel".to_owned(),
        ),
        (
            normalised(f32::NAN, 1.0, 3),
            "normalisation.mean is NaN, but a number is needed".to_owned(),
        ),
        (
            normalised(0.0, 0.0, 3),
            "normalisation.std is 0, but it must be positive".to_owned(),
        ),
    ];
    for (settings, message) in cases {
        assert_eq!(refused(settings), message);
    }
}

#[test]
fn augmentation_out_of_range_is_refused() {
    let none = Augmentation::default;
    let cases = [
        (
            Augmentation {
                crop_padding: 5,
                ..none()
            },
            "crop_padding is 5, but the input's shorter side is 4",
        ),
        (
            Augmentation {
                cutout: 9,
                ..none()
            },
            "cutout is 9, but more than 8 would leave nothing",
        ),
        (
            Augmentation {
                crop_padding: 1,
                resized_crop: Some([0.1, 1.0]),
                ..none()
            },
            "crop_padding is 1, but resized_crop is set too; choose one of them",
        ),
        (
            Augmentation {
                resized_crop: Some([0.5, 0.2]),
                ..none()
            },
            "resized_crop is [0.5, 0.2], but two shares of the area are needed, above 0, rising, at most 1",
        ),
    ];
    for (augmentation, message) in cases {
        let preparation = plain([3, 4, 4]).with_augmentation(augmentation);
        assert_eq!(refused(settings(2, preparation)), message);
    }
}

/// Labels without a class, and pictures that contradict themselves.
struct Careless;

impl Dataset for Careless {
    fn len(&self) -> usize {
        3
    }
    fn class_names(&self) -> &[String] {
        &[]
    }
    fn label(&self, _: usize) -> u32 {
        4
    }
    fn picture(&self, _: usize) -> Result<Picture, DataError> {
        Ok(Picture {
            pixels: vec![0; 5],
            ..picture(3, 4, 4, 0)
        })
    }
    fn name(&self, index: usize) -> String {
        format!("careless {index}")
    }
}

#[test]
fn careless_data_sets_and_pictures_are_refused() {
    let error = Batches::new(Arc::new(Careless), settings(2, plain([3, 4, 4]))).err();
    assert_eq!(
        error.expect("labels without a class").to_string(),
        "careless 0: the label of picture 0 is 4, but there are only 0 classes (0..0)"
    );
    let careless = Careless.picture(0).expect("not checked yet");
    let message =
        "a picture of 3 x 4 x 4 with 5 pixel values: height * width * channels values are needed";
    let prepared = plain([3, 4, 4]).prepare(&careless).expect_err("refused");
    let corrupted = Corruption::Fog
        .apply(&careless, 1, NoiseKey::default())
        .expect_err("refused");
    assert_eq!([prepared.to_string(), corrupted.to_string()], [message; 2]);
}
