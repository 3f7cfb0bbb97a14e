//! What a run came to: a table for the terminal, and a report.

use super::Voice;
pub use crate::outcome::{first_layer, now, pictures, training};
use crate::{
    outcome::{self, preflight},
    report,
};
use anyhow::Result;
use bayesadapter::{
    evaluate::{ComparisonRow, Evaluation, Measure},
    session::{HistoryRow, Job, OwnThread, RunFolder},
};
use burn::tensor::read_sync;
use std::{path::Path, process::ExitCode};

/// Writes the report of a run and tells what it came to.
pub fn finish(path: &Path, voice: &Voice) -> Result<ExitCode> {
    let report = outcome::report(path)?;
    table(&report.evaluations, voice);
    let page = report::write(&report, path)?;
    let (folder, _) = RunFolder::open(path)?;
    let posterior = folder.posterior_path();
    let seconds_per_epoch = seconds_per_epoch(&folder.history_rows()?);
    if let Some(seconds) = seconds_per_epoch {
        voice.say(format_args!("Training: {seconds:.2} s per epoch"));
    }
    voice.say(format_args!("Posterior: {}", posterior.display()));
    voice.say(format_args!("Report: {}", page.display()));
    voice.json(&serde_json::json!({
        "event": "finished",
        "posterior": posterior,
        "report": page,
        "seconds_per_epoch": seconds_per_epoch,
    }));
    Ok(ExitCode::SUCCESS)
}

/// Seconds of training per epoch, in all processes that worked on the run.
fn seconds_per_epoch(history: &[HistoryRow]) -> Option<f64> {
    let last = history.last().filter(|row| row.epoch > 0.0)?;
    Some(last.seconds / last.epoch)
}

/// The methods in a table, each without and with its temperature.
pub fn table(evaluations: &[Evaluation], voice: &Voice) {
    let Some(first) = evaluations.first() else {
        return;
    };
    voice.say(format_args!(
        "\nTest set, {} images:\n{:32} {:>9} {:>8} {:>8} {:>8} {:>9}",
        first.scores.examples, "", "accuracy", "NLL", "Brier", "ECE", "errors"
    ));
    voice.say(format_args!(
        "{:32} {:>9} {:>8} {:>8} {:>8} {:>9}",
        "", "%", "nats", "", "", "AUROC"
    ));
    for row in evaluations.iter().flat_map(Evaluation::comparison_rows) {
        voice.say(format_args!(
            "{:32} {:>9.2} {:>8.4} {:>8.4} {:>8.4} {:>9}",
            title(&row),
            100.0 * row.scores.accuracy,
            row.scores.nll,
            row.scores.brier,
            row.scores.ece,
            cell(row.errors_found().map(|found| found.auroc))
        ));
    }
    voice.say("");
    ood_table(evaluations, voice);
    prediction_sets(evaluations, voice);
}

/// What a network is called in a table, with its temperature where that is applied.
fn title(row: &ComparisonRow<'_>) -> String {
    match row.temperature {
        Some(temperature) => format!("{} (T = {temperature:.2})", row.name()),
        None => row.name(),
    }
}

fn cell(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.4}"))
}

/// How well OOD images are told from test images, by mutual information and by entropy.
fn ood_table(evaluations: &[Evaluation], voice: &Voice) {
    let mut ood = evaluations
        .iter()
        .filter_map(|one| one.out_of_distribution.as_ref());
    let Some(first) = ood.next() else {
        return;
    };
    voice.say(format_args!(
        "OOD images ({}, {}): AUROC, AP, FPR at 95 % TPR\n{:32} {:^26} {:^26}",
        first.name,
        first.examples.len(),
        "",
        "by mutual information",
        "by entropy"
    ));
    let heads = "   AUROC       AP    FPR95";
    voice.say(format_args!("{:32} {heads:>26} {heads:>26}", ""));
    for row in evaluations.iter().flat_map(Evaluation::comparison_rows) {
        let by = |measure| {
            let found = row.ood_by(measure);
            let scores: [Option<f64>; 3] = [
                found.map(|found| found.auroc),
                found.map(|found| found.aupr),
                found.map(|found| found.false_alarms_at_95),
            ];
            scores.map(|score| format!("{:>8}", cell(score))).join(" ")
        };
        voice.say(format_args!(
            "{:32} {} {}",
            title(&row),
            by(Measure::MutualInformation),
            by(Measure::Entropy)
        ));
    }
    voice.say("");
}

/// Coverage and size of the prediction sets.
fn prediction_sets(evaluations: &[Evaluation], voice: &Voice) {
    for evaluation in evaluations {
        let Some(calibrated) = &evaluation.calibrated else {
            continue;
        };
        let calibration = &calibrated.calibration;
        let sets = calibration.sets.iter().zip(&calibrated.sets);
        let each: Vec<String> = sets
            .map(|(sets, scores)| {
                format!(
                    "{} covers {:.1} % with {:.2} classes",
                    sets.method(),
                    100.0 * scores.coverage,
                    scores.mean_size
                )
            })
            .collect();
        let asked = calibration.sets.first().map_or(0.0, |sets| sets.coverage());
        voice.say(format_args!(
            "{}: prediction sets for {:.0} %, from {}: {}",
            evaluation.method,
            100.0 * asked,
            calibration.source,
            each.join(", ")
        ));
    }
}

/// Tells what a run would do.
pub fn plan(job: &Job, device: &str, voice: &Voice) -> Result<ExitCode> {
    let settings = &job.settings;
    voice.say(format_args!("# device: {device}\n{}", settings.to_toml()?));
    if let Some(load) = &job.load {
        voice.say(format_args!("Weights: {load}"));
    }
    let preflight = read_sync(preflight(job, &OwnThread))?;
    let estimate = &preflight.estimate;
    voice.say(format_args!("Posterior: {}", preflight.conversion));
    voice.say(format_args!("Estimate: {estimate}"));
    if let Some(seconds) = preflight.seconds() {
        let whole = std::time::Duration::from_secs(seconds.round() as u64);
        voice.say(format_args!(
            "{} epochs of {} pictures: about {}",
            preflight.epochs,
            preflight.examples,
            indicatif::HumanDuration(whole)
        ));
    }
    voice.json(&serde_json::json!({ "event": "plan", "settings": settings, "estimate": estimate }));
    Ok(ExitCode::SUCCESS)
}
