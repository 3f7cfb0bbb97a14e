//! Memory and time of the run, before it starts.

use super::row::{heading, problem};
use crate::{
    outcome::Preflight,
    window::{errand::Errand, look, news::Wish, survey::Estimated},
};
use bayesadapter::session::RunSettings;
use egui::{RichText, Ui};

pub fn ui(
    ui: &mut Ui,
    estimated: Option<&Estimated>,
    running: bool,
    wishes: &mut Vec<Wish>,
    settings: &RunSettings,
) {
    heading(ui, "What it will take");
    match estimated.map(|estimated| &estimated.found) {
        Some(Ok((device, preflight))) => told(ui, device, preflight),
        Some(Err(error)) => {
            problem(ui, error);
            // A device may have been busy, or a file may be there now.
            if ui.button("Try again").clicked() {
                wishes.push(Wish::Do(Errand::Estimate(Box::new(settings.clone()))));
            }
        }
        None => {
            ui.label(match running {
                true => "No estimate yet: it waits for the end of the run that goes on.",
                false => "No estimate yet. It comes once network, weights and data are known.",
            });
        }
    }
}

fn told(ui: &mut Ui, device: &str, preflight: &Preflight) {
    let estimate = &preflight.estimate;
    ui.horizontal_wrapped(|ui| {
        let memory = &estimate.memory;
        let parts = format!(
            "Parameters {}, gradients {}, optimiser {}, activations {}, workspace {}",
            bytes(memory.parameters),
            bytes(memory.gradients),
            bytes(memory.optimizer),
            bytes(memory.activations),
            bytes(memory.workspace)
        );
        look::number(ui, "Memory of a step", bytes(memory.total()), &parts);
        let (left, explained) = match estimate.memory_limit {
            Some(limit) => (bytes(limit), "Memory that the machine has left."),
            None => (
                "unknown".to_owned(),
                "Nobody tells how much memory is left here, so that a run may still not fit.",
            ),
        };
        look::number(ui, "There is", left, explained);
        if let Some(seconds) = preflight.seconds() {
            let time = match seconds < 10.0 {
                true => format!("{seconds:.1} s"),
                false => look::duration(seconds),
            };
            let explained = format!(
                "{} epochs of {} pictures, measured on small batches; reading of pictures and the judging at the \
                 end are not in it.",
                preflight.epochs, preflight.examples
            );
            look::number(ui, "Time of training", time, &explained);
        }
    });
    let conversion = &preflight.conversion;
    ui.label(format!(
        "{} weights become {} parameters; {} of {} tensors get a posterior",
        conversion.parameters_before,
        conversion.parameters_after,
        conversion.converted.len(),
        conversion.converted.len() + conversion.left_alone.len()
    ));
    ui.label(RichText::new(format!("Measured on {device}")).weak());
    if estimate.fits() == Some(false) {
        problem(ui, "This does not fit into memory.");
    }
    for advice in &estimate.advice {
        ui.label(RichText::new(format!("Advice: {advice}")).color(ui.visuals().warn_fg_color));
    }
}

fn bytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    match mebibytes < 1024.0 {
        true => format!("{mebibytes:.1} MiB"),
        false => format!("{:.1} GiB", mebibytes / 1024.0),
    }
}
