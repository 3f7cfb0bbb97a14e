//! The settings of a run file that most runs leave as they are.

use super::{
    row::{grid, number, row, whole, within},
    schedule,
};
use bayesadapter::{
    posterior::LowRankForm,
    session::{Method, RunSettings},
    train::{FineTuning, RunningStatistics},
};
use egui::{CollapsingHeader, ComboBox, Ui};

pub fn ui(ui: &mut Ui, settings: &mut RunSettings) {
    CollapsingHeader::new("More settings").show(ui, |ui| {
        bound(ui, &mut settings.training.clip_norm);
        statistics(ui, &mut settings.training.running_statistics);
        if settings.posterior.method == Method::Mfg {
            natural_gradient(ui, &mut settings.training.rates);
        }
        grid(ui, "more", |ui| {
            rates(ui, settings);
            match settings.posterior.method {
                Method::Pse => ensemble(ui, settings),
                Method::Mfg => gaussian(ui, settings),
                Method::Map => {}
            }
            rest(ui, settings);
        });
    });
}

/// A bound on the gradients, if there is to be one.
fn bound(ui: &mut Ui, bound: &mut Option<f64>) {
    ui.horizontal(|ui| {
        let mut bounded = bound.is_some();
        let explained =
            "A bound on the norm of all gradients together: 1 tames a run that diverges.";
        let check = ui.checkbox(&mut bounded, "Bound the gradients");
        if check.on_hover_text(explained).changed() {
            *bound = bounded.then_some(1.0);
        }
        if let Some(bound) = bound {
            ui.add(within(bound, 1e-6..=1e6).speed(0.01))
                .accessible_name("Bound on the gradients")
                .on_hover_text(explained);
        }
    });
}

fn statistics(ui: &mut Ui, statistics: &mut RunningStatistics) {
    let mut kept = *statistics == RunningStatistics::Freeze;
    let check = ui.checkbox(&mut kept, "Keep the statistics as they are");
    let explained = "Normalisation layers go on with the means and variances of the pre-training. Otherwise these \
        follow the mini-batches, as in the paper's code.";
    if check.on_hover_text(explained).changed() {
        *statistics = match kept {
            true => RunningStatistics::Freeze,
            false => RunningStatistics::Update,
        };
    }
}

/// How the standard deviations of a Gaussian learn.
fn natural_gradient(ui: &mut Ui, rates: &mut FineTuning) {
    let explained = "Standard deviations follow the natural gradient, which moves them within a few epochs. The plain \
        gradient, as in the paper, hardly does, and wants a larger variational learning rate.";
    ui.checkbox(&mut rates.natural_gradient, "Natural gradient")
        .on_hover_text(explained);
}

fn rates(ui: &mut Ui, settings: &mut RunSettings) {
    let with_spread = settings.posterior.method != Method::Map;
    let rates = &mut settings.training.rates;
    let explained = "How much of a step goes on in the next one; below 1.";
    let momentum = &mut rates.momentum;
    number(ui, "Momentum", explained, momentum, 0.0..=0.999, 0.002);
    let explained = "Momentum in Nesterov's form, which looks one step ahead.";
    row(ui, "Nesterov", explained, |ui| {
        ui.checkbox(&mut rates.nesterov, "")
    });
    schedule::ui(ui, "Schedule", &mut rates.schedule);
    if with_spread {
        schedule::ui(ui, "Variational schedule", &mut rates.variational_schedule);
    }
    let explained = "Share of all steps in which the learning rates rise to their first values.";
    number(
        ui,
        "Warm-up",
        explained,
        &mut rates.warmup,
        0.0..=0.9,
        0.002,
    );
}

fn ensemble(ui: &mut Ui, settings: &mut RunSettings) {
    let posterior = &mut settings.posterior;
    let explained = "Which inputs of a convolution have a factor of their own: every weight of a kernel, as in the \
        paper, or every channel, which takes fewer parameters.";
    let form = &mut posterior.form;
    row(ui, "Factors of a kernel", explained, |ui| {
        let name = |form: &LowRankForm| match form {
            LowRankForm::Patches => "for every weight",
            LowRankForm::Channels => "for every channel",
        };
        let combo = ComboBox::from_id_salt("form").selected_text(name(form));
        let combo = combo.show_ui(ui, |ui| {
            for choice in [LowRankForm::Patches, LowRankForm::Channels] {
                ui.selectable_value(form, choice, name(&choice));
            }
        });
        combo.response
    });
    let explained = "How far the networks of the ensemble are from the shared weights at the start, as a fraction of \
        them: the standard deviation of the product of their factors.";
    initial_std(ui, explained, &mut posterior.initial_std);
}

fn gaussian(ui: &mut Ui, settings: &mut RunSettings) {
    let posterior = &mut settings.posterior;
    let Some([least, most]) = &mut posterior.initial_log_std else {
        let explained = "Standard deviations at the start, as a fraction of the root mean square of each layer's weights.";
        return initial_std(ui, explained, &mut posterior.initial_std);
    };
    let explained = "Standard deviations start between these two, given by their natural logarithms, in all layers.";
    for (name, value) in [
        ("Least log deviation", least),
        ("Largest log deviation", most),
    ] {
        number(ui, name, explained, value, -20.0..=2.0, 0.02);
    }
}

/// The start of the standard deviations: what suits the network, or what the user chooses.
fn initial_std(ui: &mut Ui, explained: &str, setting: &mut Option<f32>) {
    row(ui, "Initial std", explained, |ui| {
        let choice = ui.horizontal(|ui| {
            let mut automatic = setting.is_none();
            let check = ui.checkbox(&mut automatic, "what suits the network");
            if check.changed() {
                *setting = (!automatic).then_some(0.2);
            }
            check.on_hover_text(
                "The more overconfident the network is on the validation images, the wider its posterior starts.",
            );
            if let Some(value) = setting {
                ui.add(within(value, 0.0..=1.0).speed(0.002))
                    .accessible_name("Chosen initial std");
            }
        });
        choice.response
    });
}

fn rest(ui: &mut Ui, settings: &mut RunSettings) {
    let explained = "Share of the activations that is dropped in training, at the places of the paper; networks \
        without such a place refuse it.";
    let dropout = &mut settings.model.dropout;
    number(ui, "Dropout", explained, dropout, 0.0..=0.95, 0.005);
    let explained = "A state is saved after so many steps, and after every epoch: little is lost if the program ends.";
    let steps = &mut settings.training.checkpoint_steps;
    whole(ui, "Steps between saves", explained, steps, 1..=1_000_000);
    let explained = "Fewer take less memory when the result is judged; they change no result.";
    let batch = &mut settings.evaluation.batch;
    whole(ui, "Pictures judged at once", explained, batch, 1..=8192);
    let explained = "Share of images whose prediction set shall hold their class. A larger share makes larger sets; \
        they are calibrated on the validation set.";
    let name = "Coverage of prediction sets";
    let coverage = &mut settings.evaluation.coverage;
    number(ui, name, explained, coverage, 0.01..=0.999, 0.002);
    let explained = "They read pictures ahead, and change no result: more for large photographs.";
    let workers = &mut settings.data.workers;
    whole(ui, "Threads that read", explained, workers, 0..=64);
}
