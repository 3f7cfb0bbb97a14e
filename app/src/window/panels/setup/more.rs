//! The settings of a run file that most runs leave as they are.

use super::row::{grid, number, row, whole, within};
use bayesadapter::{
    posterior::LowRankForm,
    session::{Method, RunSettings},
    train::RunningStatistics,
};
use egui::{CollapsingHeader, ComboBox, Ui};

pub fn ui(ui: &mut Ui, settings: &mut RunSettings) {
    CollapsingHeader::new("More settings").show(ui, |ui| {
        bound(ui, &mut settings.training.clip_norm);
        statistics(ui, &mut settings.training.running_statistics);
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

fn rates(ui: &mut Ui, settings: &mut RunSettings) {
    let with_spread = settings.posterior.method != Method::Map;
    let rates = &mut settings.training.rates;
    let explained = "How much of a step goes on in the next one; below 1.";
    let momentum = &mut rates.momentum;
    number(ui, "Momentum", explained, momentum, 0.0..=0.999, 0.002);
    let explained = "What the mean rate is multiplied with at a quarter, a half and three quarters of the run; 1 keeps \
        it.";
    let drop = &mut rates.mean_drop;
    number(
        ui,
        "Mean rate drops by",
        explained,
        drop,
        0.001..=1.0,
        0.005,
    );
    if with_spread {
        let explained = "The same for the spread rate.";
        let drop = &mut rates.spread_drop;
        number(
            ui,
            "Spread rate drops by",
            explained,
            drop,
            0.001..=1.0,
            0.005,
        );
    }
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
    let explained =
        "How far the factors are from 1 at the start: the standard deviation of their noise.";
    let std = &mut posterior.initial_std;
    number(
        ui,
        "Spread of the factors",
        explained,
        std,
        0.0..=1.0,
        0.001,
    );
}

fn gaussian(ui: &mut Ui, settings: &mut RunSettings) {
    let [least, most] = &mut settings.posterior.initial_log_std;
    let explained =
        "Standard deviations start between these two, given by their natural logarithms.";
    number(
        ui,
        "Least log deviation",
        explained,
        least,
        -20.0..=2.0,
        0.02,
    );
    number(
        ui,
        "Largest log deviation",
        explained,
        most,
        -20.0..=2.0,
        0.02,
    );
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
    let explained = "They read pictures ahead, and change no result: more for large photographs.";
    let workers = &mut settings.data.workers;
    whole(ui, "Threads that read", explained, workers, 0..=64);
}
