//! Steps of training against Burn's own optimiser and schedule, and against arithmetic.

use bayesadapter::{
    data::{Dataset, Preparation, Split, digits},
    models::{Architecture, Network, Normalisation},
    pass::{Estimator, Mode, Pass},
    posterior::{Bayes, IntoBayes, LowRankEnsemble, MeanField, Point, Posterior, Spread},
    train::{
        FineTuning, RunningStatistics, Schedule, Trainer, TrainerSettings,
        UncertaintyRegularisation,
    },
};
use bayesadapter_tests::values;
use burn::{
    nn::loss::CrossEntropyLossConfig,
    optim::GradientsParams,
    tensor::{Device, Int, Tensor, TensorData},
};
use std::collections::BTreeMap;

fn device() -> Device {
    Device::flex().autodiff()
}

fn network() -> Network {
    let architecture: Architecture = "digits-cnn".parse().unwrap();
    architecture.init(&device()).unwrap()
}

/// Digits `from..to`.
fn batch(from: usize, to: usize) -> (Tensor<4>, Tensor<1, Int>) {
    let data = digits(Split::Train);
    let preparation = Preparation::new([1, 8, 8], Normalisation::digits(1));
    let images: Vec<f32> = (from..to)
        .flat_map(|index| preparation.prepare(&data.picture(index).unwrap()).unwrap())
        .collect();
    let labels: Vec<i32> = (from..to).map(|index| data.label(index) as i32).collect();
    let (images, labels) = (
        TensorData::new(images, [to - from, 1, 8, 8]),
        TensorData::new(labels, [to - from]),
    );
    (
        Tensor::from_data(images, &device()),
        Tensor::from_data(labels, &device()),
    )
}

fn settings(steps: usize) -> TrainerSettings {
    TrainerSettings {
        epochs: 1,
        batches_per_epoch: steps,
        accumulate: 1,
        estimator: Estimator::Exemplar,
        rates: FineTuning {
            lr: 0.05,
            schedule: Schedule::step(0.5),
            ..FineTuning::default()
        },
        clip_norm: None,
        // So that rows do not depend on one another, and clones share nothing that changes.
        running_statistics: RunningStatistics::Freeze,
        regularisation: UncertaintyRegularisation::default(),
        seed: 3,
    }
}

fn trainer(bayes: Bayes<Network>, settings: TrainerSettings) -> Trainer<Network> {
    Trainer::new(bayes, settings, &device()).unwrap()
}

/// Every number of a network, by the path of its parameter.
fn numbers(bayes: &Bayes<Network>) -> BTreeMap<String, Vec<f32>> {
    let mut all = BTreeMap::new();
    for entry in bayes.inventory().entries {
        match entry.spread {
            Spread::Point => {}
            Spread::MeanField { psi, .. } => {
                all.insert(format!("{} psi", entry.path), values(psi));
            }
            Spread::LowRank { left, right, .. } => {
                all.insert(format!("{} left", entry.path), values(left));
                all.insert(format!("{} right", entry.path), values(right));
            }
        }
        all.insert(entry.path, values(entry.value));
    }
    all
}

/// How far two networks are apart at most, as a share of how far the first went from its start.
fn apart(start: &Bayes<Network>, one: &Bayes<Network>, other: &Bayes<Network>) -> f32 {
    let (start, one, other) = (numbers(start), numbers(one), numbers(other));
    let mut worst = 0.0_f32;
    for (path, from) in &start {
        let most = |a: &[f32], b: &[f32]| {
            let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f32::max)
        };
        let (moved, apart) = (most(from, &one[path]), most(&one[path], &other[path]));
        assert!(moved > 0.0 || apart == 0.0, "{path} stayed in one of them");
        worst = worst.max(apart / moved.max(1e-12));
    }
    worst
}

fn posteriors() -> [Posterior; 3] {
    [
        Point::train(100).into(),
        MeanField::fine_tune(100).into(),
        LowRankEnsemble::fine_tune(100).with_components(3).into(),
    ]
}

#[test]
fn burns_optimisers_see_the_learning_rates_of_both_groups() {
    let bayes = network().into_bayes(MeanField::fine_tune(100)).unwrap();
    let settings = FineTuning::from_scratch();
    let entries = bayes.inventory().entries;
    let (mean, psi) = entries
        .iter()
        .find_map(|entry| match entry.spread {
            Spread::MeanField { psi_id, .. } => Some((entry.id, psi_id)),
            _ => None,
        })
        .unwrap();
    for steps in [1, 2, 3, 4, 7, 8, 100, 401] {
        let mut schedule = settings.rates(&bayes, steps).unwrap();
        let mut seen = Vec::new();
        for step in 0..steps {
            let (theirs, ours) = (
                schedule.step(),
                settings.rates_at(bayes.posterior(), step, steps),
            );
            assert_eq!(theirs.lr_from_param(mean, None), ours.lr, "{step}/{steps}");
            assert_eq!(
                theirs.lr_from_param(psi, None),
                // The natural gradient, for 100 examples.
                50.0 * ours.variational_lr,
                "{step}/{steps}"
            );
            seen.push(ours.lr);
        }
        seen.dedup();
        if steps >= 100 {
            assert_eq!(seen.len(), 4, "{steps} steps: {seen:?}");
        }
    }
}

#[test]
fn steps_are_those_of_burns_optimiser() {
    let steps = 8;
    for posterior in posteriors() {
        let start = network().into_bayes(posterior).unwrap();
        let settings = settings(steps);
        let mut trainer = trainer(start.clone(), settings.clone());
        let mut theirs = start.clone();
        let mut optimizer = settings.rates.optimizer();
        let mut rates = settings.rates.rates(&start, steps).unwrap();
        for step in 0..steps {
            let (images, labels) = batch(5 * step, 5 * step + 5);
            trainer.learn(images.clone(), labels.clone()).unwrap();
            let pass = match start.posterior() {
                Posterior::Point(_) => Pass::train_mean(),
                _ => Pass::train(Estimator::Exemplar, step as u32),
            };
            let loss = CrossEntropyLossConfig::new().init(&device());
            let pass = pass.with_mode(Mode::EvaluateWithDropout);
            let gradients = theirs.run(pass, |network| {
                loss.forward(network.forward(images), labels).backward()
            });
            let gradients = GradientsParams::from_grads(gradients.unwrap(), &theirs);
            let gradients = theirs.with_complexity(gradients).unwrap();
            theirs = optimizer.step(rates.step(), theirs, gradients);
        }
        let apart = apart(&start, &theirs, trainer.bayes());
        assert!(apart < 5e-3, "{:?}: {apart}", start.posterior());
    }
}

#[test]
fn parts_of_any_size_make_the_step_of_one_large_batch() {
    for posterior in posteriors() {
        let start = network().into_bayes(posterior).unwrap();
        let mut at_once = trainer(start.clone(), settings(1));
        let (images, labels) = batch(0, 9);
        at_once.learn(images, labels).unwrap();
        // The noise of an example depends on its place in the step, and not on the part that it is in.
        let in_parts = TrainerSettings {
            accumulate: 4,
            ..settings(4)
        };
        let mut in_parts = trainer(start.clone(), in_parts);
        for (from, to) in [(0, 4), (4, 7), (7, 9)] {
            let (images, labels) = batch(from, to);
            in_parts.learn(images, labels).unwrap();
        }
        assert!(!in_parts.is_between_steps());
        // Nothing of the last part could be read.
        in_parts.pass_over().unwrap();
        assert!(in_parts.is_finished());
        assert_eq!(in_parts.position().step, at_once.position().step);
        let apart = apart(&start, at_once.bayes(), in_parts.bayes());
        assert!(apart < 5e-3, "{:?}: {apart}", start.posterior());
    }
}

#[test]
fn a_bound_shortens_gradients_and_keeps_their_direction() {
    let start = network().into_bayes(Point::train(100)).unwrap();
    let from = numbers(&start);
    let change = |clip_norm| -> Vec<f64> {
        let settings = TrainerSettings {
            clip_norm,
            ..settings(1)
        };
        let mut trainer = trainer(start.clone(), settings);
        let (images, labels) = batch(0, 16);
        trainer.learn(images, labels).unwrap();
        let to = numbers(trainer.bayes());
        let both = from
            .iter()
            .flat_map(|(path, from)| from.iter().zip(&to[path]));
        both.map(|(from, to)| f64::from(to - from)).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let free = change(None);
    // Nesterov's first step is 1 + momentum gradients long.
    let per_gradient = 0.05 * 1.9;
    let norm = dot(&free, &free).sqrt() / per_gradient;
    assert!(norm > 0.5, "{norm}");
    let bound = norm / 3.0;
    let bounded = change(Some(bound));
    let length = dot(&bounded, &bounded).sqrt() / per_gradient;
    assert!((length / bound - 1.0).abs() < 1e-3, "{length} for {bound}");
    let cosine = dot(&free, &bounded) / (length * norm * per_gradient * per_gradient);
    assert!(cosine > 0.9999, "{cosine}");
    assert_eq!(
        change(Some(2.0 * norm)),
        free,
        "a bound that is not reached"
    );
}

#[test]
fn running_statistics_follow_or_stay() {
    for (running_statistics, stay) in [
        (RunningStatistics::Freeze, true),
        (RunningStatistics::Update, false),
    ] {
        let start = network().into_bayes(MeanField::fine_tune(100)).unwrap();
        let before = numbers(&start);
        let settings = TrainerSettings {
            running_statistics,
            ..settings(2)
        };
        let mut trainer = trainer(start, settings);
        for step in 0..2 {
            let (images, labels) = batch(8 * step, 8 * step + 8);
            trainer.learn(images, labels).unwrap();
        }
        let after = numbers(trainer.bayes());
        let statistics = before.iter().filter(|(path, _)| path.contains("running"));
        let mut found = 0;
        for (path, values) in statistics {
            found += 1;
            assert_eq!(
                *values == after[path],
                stay,
                "{path}, {running_statistics:?}"
            );
        }
        assert_eq!(found, 4, "mean and variance of two layers");
        assert!(before["DigitsCnn.fc2.weight"] != after["DigitsCnn.fc2.weight"]);
    }
}
