//! OOD images that the network learns to be unsure of.

use super::row::{grid, number, row, within};
use bayesadapter::{
    data::OodKind,
    session::{Method, RunSettings, TrainingSettings},
};
use egui::{RichText, Ui};

const EXPLAINED: &str = "Uncertainty regularisation: every step also sees images that are none of the classes, each in \
    two draws, which are asked to disagree. These kinds are generated from the training images; a run file can name \
    data of your own. It costs half of a step's time.";

/// Kinds to choose from, and how many of them with which weight once there are some.
pub fn ui(ui: &mut Ui, settings: &mut RunSettings) {
    if settings.posterior.method == Method::Map {
        return;
    }
    ui.label("Learn uncertainty from OOD images")
        .on_hover_text(EXPLAINED);
    let names = &mut settings.data.ood_train;
    ui.horizontal_wrapped(|ui| {
        for kind in OodKind::ALL {
            let name = kind.to_string();
            let mut chosen = names.contains(&name);
            if ui.checkbox(&mut chosen, &name).changed() {
                match chosen {
                    true => names.push(name),
                    false => names.retain(|other| *other != name),
                }
            }
        }
    });
    if names.is_empty() {
        return;
    }
    let training = &mut settings.training;
    grid(ui, "regularisation", |ui| {
        let explained =
            "Weight of the regulariser beside the negative log-likelihood; 3 in the paper's code.";
        let alpha = &mut training.regularisation.alpha;
        number(ui, "Alpha", explained, alpha, 0.01..=100.0, 0.02);
        let explained = "Mutual information in nats up to which that of OOD images is raised; two draws have 0.69 at \
            most.";
        let gamma = &mut training.regularisation.gamma;
        number(ui, "Gamma", explained, gamma, 0.01..=1.0, 0.005);
        batch(ui, training);
    });
}

/// OOD images beside a mini-batch: a quarter of it until the user changes that.
fn batch(ui: &mut Ui, training: &mut TrainingSettings) {
    let explained = "OOD images beside each mini-batch. Each goes through the network twice, which takes memory and \
        time.";
    let usual = (training.batch / 4).max(1);
    row(ui, "OOD batch", explained, |ui| {
        let inner = ui.horizontal(|ui| {
            let before = training.ood_batch.unwrap_or(usual);
            let mut images = before;
            let drag = ui.add(within(&mut images, 1..=8192).speed(0.2));
            if images != before {
                training.ood_batch = Some(images);
            }
            if training.ood_batch.is_none() {
                ui.label(RichText::new("a quarter of the batch").weak());
            } else if ui.small_button("A quarter of the batch").clicked() {
                training.ood_batch = None;
            }
            drag
        });
        inner.inner
    });
}
