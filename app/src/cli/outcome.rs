//! What a run came to: a table for the terminal, and a report.

use super::Voice;
pub use crate::outcome::{first_layer, now, pictures, training};
use crate::{
    outcome::{self, preflight},
    report,
};
use anyhow::Result;
use bayesadapter::{
    evaluate::Evaluation,
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

/// The methods in a table, the first being what the others are compared with.
pub fn table(evaluations: &[Evaluation], voice: &Voice) {
    voice.say(format_args!(
        "\n{:8} {:>10} {:>9} {:>9} {:>9} {:>11} {:>10}",
        "", "accuracy", "NLL", "Brier", "ECE", "errors", "OOD"
    ));
    voice.say(format_args!(
        "{:8} {:>10} {:>9} {:>9} {:>9} {:>11} {:>10}",
        "", "%", "nats", "", "", "AUROC", "AUROC"
    ));
    for evaluation in evaluations {
        let scores = &evaluation.scores;
        let auroc = |detection: Option<bayesadapter::evaluate::Detection>| {
            detection.map_or("-".to_owned(), |detection| {
                format!("{:.4}", detection.auroc)
            })
        };
        let errors = scores
            .error_detection
            .as_ref()
            .and_then(|all| all.by(evaluation.ranked_by));
        let other = evaluation.out_of_distribution.as_ref();
        let other = other.and_then(|other| other.detection.by(evaluation.ranked_by));
        voice.say(format_args!(
            "{:8} {:>10.2} {:>9.4} {:>9.4} {:>9.4} {:>11} {:>10}",
            evaluation.method,
            100.0 * scores.accuracy,
            scores.nll,
            scores.brier,
            scores.ece,
            auroc(errors),
            auroc(other)
        ));
    }
    voice.say("");
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
