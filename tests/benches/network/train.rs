//! Training steps, forward and backward.

use crate::{
    peer,
    report::Report,
    subject::{Batch, ESTIMATORS, ensemble, mean_field},
};
use bayesadapter::pass::{Estimator, Pass};
use bayesadapter_tests::{Counting, median_seconds};
use burn::tensor::Device;

const BATCH: usize = 128;

pub fn measure(report: &mut Report, quick: bool) {
    let repeats = if quick { 3 } else { 9 };
    let device = Device::flex().autodiff();
    memory(report, &device);
    let batch = Batch::new(BATCH, &device);
    let mean_field = mean_field(&device);
    let seconds = median_seconds(repeats, || {
        drop(batch.step(&mean_field, Pass::train_mean()))
    });
    report.time("deterministic", seconds);
    for (name, estimator) in ESTIMATORS {
        let pass = Pass::train(estimator, 0);
        let seconds = median_seconds(repeats, || drop(batch.step(&mean_field, pass)));
        report.time(format!("mean-field, {name}"), seconds);
    }
    let ensemble = ensemble(&device);
    for (name, estimator) in &ESTIMATORS[..2] {
        let pass = Pass::train(*estimator, 0);
        let seconds = median_seconds(repeats, || drop(batch.step(&ensemble, pass)));
        report.time(format!("ensemble of rank 1, {name}"), seconds);
    }
    if let Some(peer) = peer::measure(BATCH, repeats) {
        report.time("PyTorch, deterministic", peer.deterministic);
        report.time("PyTorch, mean-field, vanilla", peer.vanilla);
        report.time("PyTorch, mean-field, exemplar", peer.exemplar);
    }
    report.compare(
        "deterministic",
        "of_torch_deterministic",
        "PyTorch, deterministic",
    );
    for what in ["vanilla", "exemplar", "local", "flipout"] {
        let what = format!("mean-field, {what}");
        report.compare(&what, "of_deterministic", "deterministic");
        report.compare(&what, "of_torch_exemplar", "PyTorch, mean-field, exemplar");
    }
    for what in ["vanilla", "exemplar"] {
        let what = format!("ensemble of rank 1, {what}");
        report.compare(&what, "of_deterministic", "deterministic");
    }
}

/// Peak bytes of a step as the batch grows, for one draw and for a draw per example.
fn memory(report: &mut Report, device: &Device) {
    let bayes = mean_field(device);
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    for examples in [16, 64] {
        let batch = Batch::new(examples, device);
        let peak = |estimator| {
            let step = || drop(batch.step(&bayes, Pass::train(estimator, 0)));
            // What is kept for later steps is not of this one.
            step();
            mebibytes(Counting::peak_of(step).1)
        };
        let (vanilla, exemplar) = (peak(Estimator::Vanilla), peak(Estimator::Exemplar));
        report.figures(
            format!("memory of a step, batch {examples}"),
            &[
                ("vanilla_mib", vanilla),
                ("exemplar_mib", exemplar),
                ("extra_mib", exemplar - vanilla),
            ],
        );
    }
}
