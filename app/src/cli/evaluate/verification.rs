//! `--pairs`: how often networks know whether two faces are of one person.

use super::Flags;
use crate::{
    cli::{Voice, faces},
    network,
};
use anyhow::Result;
use bayesadapter::{data::FacePairs, session::EvaluationSettings};
use burn::tensor::Device;
use std::{path::Path, process::ExitCode};

/// Evaluates every network on the pairs of a list.
pub fn run(flags: &Flags, pairs: &Path, device: &Device, voice: &Voice) -> Result<ExitCode> {
    let faces = faces::open(&flags.data, pairs)?;
    for path in &flags.posteriors {
        verify(path, flags, &faces, device, voice)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells how often a network is right on pairs of faces.
fn verify(
    path: &Path,
    flags: &Flags,
    faces: &FacePairs,
    device: &Device,
    voice: &Voice,
) -> Result<()> {
    let opened = network::open(path, device)?;
    let how = EvaluationSettings {
        draws: flags.draws,
        batch: flags.batch,
        ..EvaluationSettings::default()
    };
    let features = faces::features(&opened, faces, &how, flags.workers, device, voice)?;
    let verification = faces.verify(&features)?;
    let method = flags.label(path, &opened.name());
    voice.say(format_args!(
        "{method}: {} pairs of {} faces in {} folds, accuracy {:.2} %, standard error {:.2} %",
        faces.pairs().len(),
        faces.pictures().len(),
        verification.folds.len(),
        100.0 * verification.mean_accuracy,
        100.0 * verification.standard_error
    ));
    voice.json(&serde_json::json!({
        "event": "verified",
        "file": path,
        "method": method,
        "verification": verification,
    }));
    Ok(())
}
