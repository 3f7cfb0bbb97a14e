//! How long, with which rates, and on what the run computes.

use super::row::{grid, heading, rate, row, whole};
use crate::window::look::terms;
use bayesadapter::{
    data::Augmentation,
    models::{Architecture, ModelConfig},
    session::{DeviceChoice, Method, RunSettings},
};
use egui::{ComboBox, Ui};

pub fn ui(ui: &mut Ui, settings: &mut RunSettings, devices: &[(DeviceChoice, String)]) {
    heading(ui, "Training");
    let with_spread = settings.posterior.method != Method::Map;
    let training = &mut settings.training;
    grid(ui, "training", |ui| {
        let explained = "Passes over the data; the paper has 12 for CIFAR-10 and 4 for ImageNet.";
        whole(ui, "Epochs", explained, &mut training.epochs, 1..=1000);
        let explained = "Pictures in a mini-batch.";
        whole(ui, "Batch", explained, &mut training.batch, 1..=8192);
        let explained = "Mini-batches per step: more for a large batch in little memory.";
        whole(
            ui,
            "Batches per step",
            explained,
            &mut training.accumulate,
            1..=1024,
        );
        let explained = "The weight decay of the pre-training, which is the prior: keep its value.";
        rate(ui, "Lambda", explained, &mut training.lambda);
        rate(ui, "Learning rate", terms::LR, &mut training.rates.lr);
        if with_spread {
            let posterior = settings.posterior.posterior(1, 1.0, 0);
            let usual = training.rates.variational_lr_of(&posterior);
            let mut value = usual;
            let name = "Variational lr";
            rate(ui, name, terms::VARIATIONAL_LR, &mut value);
            if value != usual {
                training.rates.variational_lr = Some(value);
            }
        }
        let explained = "Start of all chance: the same seed gives the same run.";
        whole(ui, "Seed", explained, &mut settings.seed, 0..=u64::MAX);
        device(ui, &mut settings.device, devices);
    });
    augmentation(ui, settings);
}

fn device(ui: &mut Ui, chosen: &mut DeviceChoice, devices: &[(DeviceChoice, String)]) {
    let explained = "What computes. Automatic is a GPU if there is one, else the CPU.";
    row(ui, "Device", explained, |ui| {
        let name = |choice: DeviceChoice| {
            let found = devices.iter().find(|(one, _)| *one == choice);
            match found {
                Some((_, name)) => format!("{choice}: {name}"),
                None => choice.to_string(),
            }
        };
        let combo = ComboBox::from_id_salt("device").selected_text(name(*chosen));
        let combo = combo.width(230.0).truncate().show_ui(ui, |ui| {
            for (choice, _) in devices {
                ui.selectable_value(chosen, *choice, name(*choice));
            }
        });
        combo.response
    });
}

/// The paper's changes to training pictures, in proportion to the network's input.
fn augmentation(ui: &mut Ui, settings: &mut RunSettings) {
    let architecture: Result<Architecture, _> = settings.model.architecture.parse();
    let side = architecture.map_or(32, |architecture| architecture.input_shape()[1]);
    let augmentation = &mut settings.data.augmentation;
    ui.horizontal_wrapped(|ui| {
        ui.label("Augment by")
            .on_hover_text("What is done to pictures in training.");
        let mut crop = augmentation.crop_padding > 0;
        let explained = "Shift by up to an eighth of the side.";
        if ui
            .checkbox(&mut crop, "crop")
            .on_hover_text(explained)
            .changed()
        {
            augmentation.crop_padding = if crop { side / 8 } else { 0 };
        }
        ui.checkbox(&mut augmentation.flip, "flip")
            .on_hover_text("Mirror left and right.");
        let mut cutout = augmentation.cutout > 0;
        let explained = "Hide a square of half the side.";
        if ui
            .checkbox(&mut cutout, "cutout")
            .on_hover_text(explained)
            .changed()
        {
            augmentation.cutout = if cutout { side / 2 } else { 0 };
        }
        let mut resized = augmentation.resized_crop.is_some();
        let explained = "Random part of a photograph, as for ImageNet.";
        let check = ui.checkbox(&mut resized, "resized crop");
        if check.on_hover_text(explained).changed() {
            let imagenet = Augmentation::imagenet().resized_crop;
            augmentation.resized_crop = imagenet.filter(|_| resized);
        }
    });
}
