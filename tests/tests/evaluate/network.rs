//! A real network, evaluated batch by batch, and its kernels.

use bayesadapter::{
    evaluate::{Collector, KernelPosterior, LayerPosterior, movements},
    metrics::{DrawCurve, Histogram},
    models::{Architecture, Network},
    ops::{NoiseKey, fill_normals},
    posterior::{
        Bayes, InitialStd, IntoBayes, Inventory, LowRankEnsemble, LowRankForm, MeanField, Posterior,
    },
    predict::{Draws, PredictOptions},
};
use bayesadapter_tests::values;
use burn::tensor::{Device, Tensor, TensorData, read_sync};
use std::cell::Cell;

fn network() -> Network {
    let architecture: Architecture = "digits-cnn".parse().unwrap();
    architecture.init(&Device::flex()).unwrap()
}

fn bayes(posterior: impl Into<Posterior>) -> Bayes<Network> {
    network().into_bayes(posterior).unwrap()
}

fn images(rows: usize, seed: u64) -> Tensor<4> {
    let mut pixels = vec![0.0; rows * 64];
    let key = NoiseKey {
        seed,
        ..NoiseKey::default()
    };
    fill_normals(&key, 0, 0, &mut pixels);
    Tensor::from_data(TensorData::new(pixels, [rows, 1, 8, 8]), &Device::flex())
}

#[test]
fn a_network_is_evaluated_batch_by_batch() {
    let bayes = bayes(MeanField::fine_tune(1_797));
    let options = PredictOptions::new(Draws::Fixed(4)).with_draws_kept();
    let batch = |seed: u64| Ok::<_, String>((images(5, seed), vec![seed as u32; 5]));
    let mut collector = Collector::new((0..10).map(|digit| digit.to_string()));
    let mut told = Vec::new();
    let progress = async |done: usize, curve: Option<&DrawCurve>| {
        told.push((done, curve.map(|curve| curve.ensemble.len())));
    };
    let added = collector.add_batches(&bayes, (0..3).map(batch), &options, progress);
    read_sync(added).unwrap();
    let strangers = (7..9).map(batch);
    let added = collector.add_out_of_distribution_batches(
        "noise",
        &bayes,
        strangers,
        &options,
        async |_| {},
    );
    read_sync(added).unwrap();
    let found = collector.finish("MFG").unwrap();
    assert_eq!(told, [5, 10, 15].map(|done| (done, Some(4))));
    let by_hand = bayes.predict(images(5, 1), Draws::Fixed(4)).unwrap();
    assert_eq!(
        found.examples.mutual_information[5..10],
        *by_hand.mutual_information()
    );
    let curve = found.curve.unwrap();
    assert_eq!(
        (curve.ensemble.len(), curve.mean_network.is_some()),
        (4, true)
    );
    assert_eq!(found.out_of_distribution.unwrap().examples.len(), 10);
}

#[test]
fn a_batch_that_cannot_be_read_is_an_error() {
    let bayes = bayes(MeanField::fine_tune(1_797));
    let mut collector = Collector::new((0..10).map(|digit| digit.to_string()));
    let batches = [Ok((images(2, 0), vec![0, 1])), Err("the disk is gone")];
    let options = PredictOptions::new(Draws::Mean);
    let added = collector.add_batches(&bayes, batches, &options, async |_, _| {});
    assert!(
        read_sync(added)
            .unwrap_err()
            .to_string()
            .ends_with("the disk is gone")
    );
    assert_eq!(collector.finish("MAP").unwrap().scores.examples, 2);
}

#[test]
fn others_have_turns_between_launches() {
    let bayes = bayes(MeanField::fine_tune(1_797));
    // A draw of a batch at a time.
    let options = PredictOptions {
        rows_at_once: 5,
        ..PredictOptions::new(Draws::Fixed(4)).with_draws_kept()
    };
    let batch = |seed: u64| Ok::<_, String>((images(5, seed), vec![seed as u32; 5]));
    let mut collector = Collector::new((0..10).map(|digit| digit.to_string()));
    let turns = Cell::new(0);
    let give_way = async || turns.set(turns.get() + 1);
    let batches = (0..3).map(batch);
    let untold = async |_: usize, _: Option<&DrawCurve>| {};
    let added = collector.add_batches_giving_way(&bayes, batches, &options, untold, &give_way);
    read_sync(added).unwrap();
    // Four draws, and the network at its mean; more often where threads share out less than the five rows.
    let had = turns.take();
    assert!(had >= 3 * (4 + 1), "{had}");
    let strangers = (7..9).map(batch);
    let added = collector.add_out_of_distribution_batches_giving_way(
        "noise",
        &bayes,
        strangers,
        &options,
        async |_| {},
        &give_way,
    );
    read_sync(added).unwrap();
    let had = turns.take();
    assert!(had >= 2 * 4, "{had}");
}

/// Mean and standard deviation over networks that were drawn one by one.
fn moments(networks: &[Vec<f32>]) -> (Vec<f64>, Vec<f64>) {
    let count = networks.len() as f64;
    (0..networks[0].len())
        .map(|at| {
            let values = networks.iter().map(|network| f64::from(network[at]));
            let mean = values.clone().sum::<f64>() / count;
            let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            (mean, variance.sqrt())
        })
        .unzip()
}

#[test]
fn kernels_of_an_ensemble_are_those_of_its_components() {
    for form in [LowRankForm::Patches, LowRankForm::Channels] {
        let ensemble = LowRankEnsemble::fine_tune(100)
            .with_components(3)
            .with_rank(2)
            .with_form(form);
        let bayes = bayes(ensemble);
        for (number, layer) in ["conv1", "conv2"].into_iter().enumerate() {
            let path = format!("DigitsCnn.{layer}.weight");
            let found = read_sync(KernelPosterior::of_path(&bayes.inventory(), &path)).unwrap();
            let components: Vec<Vec<f32>> = (0..3)
                .map(|component| {
                    let inventory = Inventory::of(&bayes.draw(component).unwrap());
                    let mut kernels = inventory.entries.iter().filter(|one| one.shape.len() == 4);
                    values(kernels.nth(number).unwrap().value.clone())
                })
                .collect();
            let (mean, std) = moments(&components);
            assert_eq!(found.mean.len(), found.shape.iter().product::<usize>());
            for at in 0..mean.len() {
                assert!((f64::from(found.mean[at]) - mean[at]).abs() < 1e-6);
                assert!((f64::from(found.std[at]) - std[at]).abs() < 1e-6);
            }
            assert!(found.std.iter().any(|&std| std > 0.0));
        }
    }
}

#[test]
fn a_layer_tells_how_far_its_components_are_from_the_start_and_from_each_other() {
    let network = network();
    let start = Inventory::of(&network);
    let ensemble = LowRankEnsemble::fine_tune(100).with_components(3);
    let bayes = network.into_bayes(ensemble).unwrap();
    let inventory = bayes.inventory();
    let mut shapes = inventory.entries.iter().map(|entry| entry.shape.len());
    let position = shapes.position(|axes| axes == 2).unwrap();
    let path = &inventory.entries[position].path;
    let found = LayerPosterior::of_path(&inventory, path, Some(&start));
    let found = read_sync(found).unwrap();
    let components: Vec<Vec<f32>> = (0..3)
        .map(|component| {
            let drawn = Inventory::of(&bayes.draw(component).unwrap());
            values(drawn.entries[position].value.clone())
        })
        .collect();
    let (mean, std) = moments(&components);
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN, f64::max);
    let upper =
        |histogram: &Histogram| histogram.lower + histogram.width * histogram.counts.len() as f64;
    let spread = found.spread.unwrap();
    assert!((upper(&found.mean) - most(&mut mean.iter().copied())).abs() < 1e-6);
    assert!((upper(&spread.std) - most(&mut std.iter().copied()).log10()).abs() < 1e-4);
    // Where all components agree the ratio has no bound, but it has a least value.
    let ratios = mean.iter().zip(&std).map(|(mean, std)| mean.abs() / std);
    let least = ratios.fold(f64::MAX, f64::min).log10();
    assert!((spread.signal_to_noise.lower - least).abs() < 1e-3);
    // The shared weight starts as that of the network that was converted.
    assert!(found.movement.unwrap().share < 1e-6);
    assert_eq!(found.factors.unwrap().components, 3);
    let moved = read_sync(movements(
        &inventory,
        &Inventory::of(&bayes.draw(1).unwrap()),
    ))
    .unwrap();
    assert!(moved[path] > 1e-3);
    let error = read_sync(LayerPosterior::of_path(&inventory, "conv9.weight", None));
    assert!(error.unwrap_err().to_string().contains("conv9.weight"));
}

#[test]
fn draws_of_kernels_are_those_of_the_drawn_network() {
    let bayes = bayes(MeanField::fine_tune(100));
    let first = read_sync(KernelPosterior::of_first_convolution(&bayes.inventory()));
    let first = first.unwrap().unwrap();
    let drawn = read_sync(KernelPosterior::of_draw(&bayes, &first.path, 7)).unwrap();
    let whole = Inventory::of(&bayes.draw(7).unwrap());
    assert_eq!(drawn.mean, values(whole.entries[0].value.clone()));
    assert_ne!(drawn.mean, first.mean);
}

#[test]
fn kernels_of_a_gaussian_have_its_mean_and_deviation() {
    let bayes = bayes(MeanField {
        initial_std: InitialStd::LogUniform([-3.0, -3.0]),
        ..MeanField::fine_tune(100)
    });
    let first = read_sync(KernelPosterior::of_first_convolution(&bayes.inventory()));
    let first = first.unwrap().unwrap();
    let at_mean = Inventory::of(&bayes.at_mean().unwrap());
    assert_eq!(first.mean, values(at_mean.entries[0].value.clone()));
    assert!(
        first
            .std
            .iter()
            .all(|std| (std - (-3.0f32).exp()).abs() < 1e-6)
    );
    let error = read_sync(KernelPosterior::of_path(&bayes.inventory(), "conv9.weight"));
    assert!(error.unwrap_err().to_string().contains(&first.path));
}
