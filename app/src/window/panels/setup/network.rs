//! The network, its weights, and what became of them.

use super::row::{heading, problem, text};
use crate::window::{
    news::Wish,
    purpose::Purpose,
    survey::{Survey, Weights},
};
use bayesadapter::{
    checkpoint::LoadAccount,
    session::{Method, RunSettings},
};
use egui::{ComboBox, RichText, Ui};

/// Networks to choose from; others with other numbers can be typed.
const NAMES: [&str; 20] = [
    "digits-cnn",
    "mlp",
    "resnet20-cifar",
    "resnet32-cifar",
    "resnet44-cifar",
    "resnet56-cifar",
    "resnet110-cifar",
    "wrn-16-4",
    "wrn-28-10",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "densenet121",
    "densenet169",
    "densenet201",
    "mobilenet_v2",
    "efficientnet_lite0",
    "mobilefacenet",
];

/// Names of each kind that an account shows.
const SHOWN: usize = 6;

pub fn ui(
    ui: &mut Ui,
    settings: &mut RunSettings,
    survey: Option<&Survey>,
    wishes: &mut Vec<Wish>,
) {
    heading(ui, "Network");
    ui.horizontal(|ui| {
        let name = &mut settings.model.architecture;
        let combo = ComboBox::from_id_salt("network").selected_text(name.as_str());
        let combo = combo.width(150.0).show_ui(ui, |ui| {
            for known in NAMES {
                ui.selectable_value(name, known.to_owned(), known);
            }
        });
        combo
            .response
            .accessible_name("Network")
            .on_hover_text("The network whose weights become Bayesian.");
        text(ui, "Name of the network", "such as wrn-40-2", name).on_hover_text(
            "The name can be typed, with other numbers than in the list: wrn-DEPTH-WIDTH, resnetDEPTH-cifar.",
        );
    });
    if let Some(Err(error)) = survey.map(|survey| &survey.parameters) {
        problem(ui, error);
    }
    ui.add_space(6.0);
    weights_file(ui, settings, wishes);
    match survey.and_then(|survey| survey.weights.as_ref()) {
        Some(Weights::Fit(account)) => told(ui, account, true),
        Some(Weights::Misfit(account)) => {
            told(ui, account, false);
            replace_head(ui, settings, account);
        }
        Some(Weights::Unreadable(error)) => problem(ui, error),
        None => {
            if settings.model.weights.is_none() && settings.posterior.method != Method::Map {
                ui.label(
                    RichText::new(
                        "Without weights the network starts from random ones: train it in the ordinary way (MAP) \
                         first, or choose weights.",
                    )
                    .weak(),
                );
            }
        }
    }
}

fn weights_file(ui: &mut Ui, settings: &mut RunSettings, wishes: &mut Vec<Wish>) {
    let mut path = settings.model.weights.clone().unwrap_or_default();
    ui.label("Pre-trained weights").on_hover_text(
        "A checkpoint of PyTorch (.pt, .pth, .th, .ckpt), safetensors, or a Burn record. Nothing in it is executed.",
    );
    text(ui, "Weights file", "none: random weights", &mut path);
    settings.model.weights = Some(path).filter(|path| !path.is_empty());
    ui.horizontal(|ui| {
        if ui.button("Choose weights…").clicked() {
            wishes.push(Wish::Choose(Purpose::Weights));
        }
        if settings.model.weights.is_some() && ui.button("None").clicked() {
            settings.model.weights = None;
        }
        let explained =
            "Keep a fresh last layer where the weights are for another number of classes.";
        ui.checkbox(&mut settings.model.replace_head, "Replace the last layer")
            .on_hover_text(explained);
    });
}

/// What went where.
fn told(ui: &mut Ui, account: &LoadAccount, fits: bool) {
    let applied = format!(
        "{}: {} parameters fit",
        account.format,
        account.applied.len()
    );
    match fits {
        true => ui.label(applied),
        false => ui.colored_label(
            ui.visuals().error_fg_color,
            format!(
                "{applied}, others do not: choose other weights, or the network that they are of"
            ),
        ),
    };
    let missing = account
        .missing
        .iter()
        .map(|missing| match &missing.nearest {
            Some(nearest) => format!("{} (nearest: {nearest})", missing.tensor),
            None => missing.tensor.clone(),
        });
    list(ui, "missing", missing);
    let shapes = |one: &bayesadapter::checkpoint::WrongShape| {
        format!(
            "{}: {:?} instead of {:?}",
            one.tensor, one.found, one.expected
        )
    };
    list(
        ui,
        "of the wrong shape",
        account.wrong_shape.iter().map(shapes),
    );
    list(ui, "kept fresh", account.replaced_head.iter().map(shapes));
    list(ui, "unused", account.unused.iter().cloned());
}

fn list(ui: &mut Ui, kind: &str, names: impl ExactSizeIterator<Item = String>) {
    let count = names.len();
    if count == 0 {
        return;
    }
    let opened = egui::CollapsingHeader::new(format!("{count} {kind}"));
    opened.show(ui, |ui| {
        for name in names.take(SHOWN) {
            ui.label(RichText::new(name).small());
        }
        if count > SHOWN {
            ui.label(
                RichText::new(format!("and {} more", count - SHOWN))
                    .small()
                    .weak(),
            );
        }
    });
}

/// Offers what would help if only the classes differ.
fn replace_head(ui: &mut Ui, settings: &mut RunSettings, account: &LoadAccount) {
    let only_shapes = account.missing.is_empty() && account.wrong_shape.len() <= 2;
    if only_shapes
        && !settings.model.replace_head
        && ui.button("Replace the last layer and try again").clicked()
    {
        settings.model.replace_head = true;
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use bayesadapter::models::Architecture;

    #[test]
    fn every_network_of_the_list_is_there() {
        for name in NAMES {
            assert!(name.parse::<Architecture>().is_ok(), "{name}");
        }
    }
}
