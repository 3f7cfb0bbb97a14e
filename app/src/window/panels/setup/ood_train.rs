//! OOD images that the network learns to be unsure of.

use super::row::{grid, number};
use bayesadapter::{
    data::OodKind,
    session::{Method, RunSettings},
};
use egui::Ui;

const EXPLAINED: &str = "Uncertainty regularisation: every step also sees images that are none of the classes, each in \
    two draws, which are asked to disagree. These kinds are generated from the training images; a run file can name \
    data of your own. It costs half of a step's time.";

/// Kinds to choose from, and the strength of the regulariser once there are some.
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
    let regularisation = &mut settings.training.regularisation;
    grid(ui, "regularisation", |ui| {
        let explained =
            "Weight of the regulariser beside the negative log-likelihood; 3 in the paper's code.";
        let alpha = &mut regularisation.alpha;
        number(ui, "Alpha", explained, alpha, 0.01..=100.0, 0.02);
        let explained = "Mutual information in nats up to which that of OOD images is raised; two draws have 0.69 at \
            most.";
        let gamma = &mut regularisation.gamma;
        number(ui, "Gamma", explained, gamma, 0.01..=1.0, 0.005);
    });
}
