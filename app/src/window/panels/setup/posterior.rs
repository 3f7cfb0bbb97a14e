//! What the weights become.

use super::row::{heading, row, whole};
use crate::window::look::terms;
use bayesadapter::{
    pass::Estimator,
    posterior::PriorMean,
    session::{Method, RunSettings},
    train::FineTuning,
};
use egui::{ComboBox, Ui};

pub fn ui(ui: &mut Ui, settings: &mut RunSettings) {
    heading(ui, "Posterior");
    let before = settings.posterior.method;
    for (method, name, explained) in [
        (
            Method::Pse,
            "Ensemble that shares its weights (PSE)",
            terms::PSE,
        ),
        (Method::Mfg, "Gaussian for every weight (MFG)", terms::MFG),
        (Method::Map, "None: ordinary training (MAP)", terms::MAP),
    ] {
        ui.radio_value(&mut settings.posterior.method, method, name)
            .on_hover_text(explained);
    }
    if settings.posterior.method != before {
        suit_rates(settings, before);
    }
    ui.add_space(6.0);
    super::row::grid(ui, "posterior", |ui| {
        match settings.posterior.method {
            Method::Pse => ensemble(ui, settings),
            Method::Mfg => gaussian(ui, settings),
            Method::Map => {}
        }
        if settings.posterior.method != Method::Map {
            estimator(ui, settings);
        }
        let draws = &mut settings.evaluation.draws;
        whole(ui, "Draws to judge by", terms::DRAWS, draws, 1..=1000);
    });
}

/// Ordinary training wants other rates than fine-tuning; rates of the user's own stay.
fn suit_rates(settings: &mut RunSettings, before: Method) {
    let from_scratch = settings.model.weights.is_none();
    let usual = |method| match method {
        Method::Map if from_scratch => FineTuning::from_scratch(),
        _ => FineTuning::default(),
    };
    if settings.posterior.method == Method::Map {
        // Point weights have no draws that could disagree.
        settings.data.ood_train.clear();
    }
    if settings.training.rates == usual(before) {
        settings.training.rates = usual(settings.posterior.method);
    }
    // Only Gaussians have these estimators.
    let special = matches!(
        settings.training.estimator,
        Estimator::Local | Estimator::Flipout
    );
    if special && settings.posterior.method != Method::Mfg {
        settings.training.estimator = Estimator::Exemplar;
    }
}

fn ensemble(ui: &mut Ui, settings: &mut RunSettings) {
    let posterior = &mut settings.posterior;
    let explained = "Networks in the ensemble; the paper has 20.";
    whole(
        ui,
        "Components",
        explained,
        &mut posterior.components,
        2..=200,
    );
    let explained = "Rank of the factors; in the paper more than 1 gains nothing.";
    whole(ui, "Rank", explained, &mut posterior.rank, 1..=16);
}

fn gaussian(ui: &mut Ui, settings: &mut RunSettings) {
    let explained = "Where the prior is centred: at zero, or at the pre-trained weights (MOPED).";
    let prior = &mut settings.posterior.prior;
    row(ui, "Prior centred at", explained, |ui| {
        let name = |prior: &PriorMean| match prior {
            PriorMean::Zero => "zero",
            PriorMean::Pretrained => "the weights",
        };
        let combo = ComboBox::from_id_salt("prior").selected_text(name(prior));
        let combo = combo.show_ui(ui, |ui| {
            for choice in [PriorMean::Zero, PriorMean::Pretrained] {
                ui.selectable_value(prior, choice, name(&choice));
            }
        });
        combo.response
    });
}

fn estimator(ui: &mut Ui, settings: &mut RunSettings) {
    let explained = "How the likelihood is estimated in a step: with a weight per picture (exemplar), whose gradients \
        are the calmest, one per mini-batch (vanilla), drawn activations (local), or random signs (flipout).";
    let gaussian = settings.posterior.method == Method::Mfg;
    let estimator = &mut settings.training.estimator;
    row(ui, "Estimator", explained, |ui| {
        let combo = ComboBox::from_id_salt("estimator").selected_text(estimator.to_string());
        let combo = combo.show_ui(ui, |ui| {
            use Estimator::{Exemplar, Flipout, Local, Vanilla};
            let all = [Exemplar, Vanilla, Local, Flipout];
            // An ensemble has no others than the first two.
            for choice in &all[..if gaussian { 4 } else { 2 }] {
                ui.selectable_value(estimator, *choice, choice.to_string());
            }
        });
        combo.response
    });
}
