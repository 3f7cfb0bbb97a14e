//! How long, with which rates, and on what the run computes.

use super::row::{grid, heading, rate, row, whole, within};
use crate::window::{look::terms, survey::Survey};
use bayesadapter::{
    data::Augmentation,
    models::{Architecture, ModelConfig},
    session::{DeviceChoice, Method, RunSettings},
};
use egui::{ComboBox, Ui};

pub fn ui(
    ui: &mut Ui,
    settings: &mut RunSettings,
    survey: Option<&Survey>,
    devices: &[(DeviceChoice, String)],
) {
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
    augmentation(ui, settings, survey);
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

/// What is done to training images: what suits them, or what the user chooses.
fn augmentation(ui: &mut Ui, settings: &mut RunSettings, survey: Option<&Survey>) {
    let architecture: Result<Architecture, _> = settings.model.architecture.parse();
    let shape = architecture.map_or([3, 32, 32], |architecture| architecture.input_shape());
    let setting = &mut settings.data.augmentation;
    ui.horizontal_wrapped(|ui| {
        ui.label("Augment by")
            .on_hover_text("What is done to images in training.");
        let mut automatic = setting.is_none();
        let explained = "Crops, resized ones for photographs, and flips where no class is a number or a letter; \
            nothing where a pixel is much.";
        let check = ui.checkbox(&mut automatic, "what suits the images");
        if check.on_hover_text(explained).changed() {
            *setting = (!automatic).then(|| suited(shape, survey));
        }
        if let Some(augmentation) = setting {
            choices(ui, augmentation, shape[1]);
        }
    });
}

/// What suits the images, if it is known what they are.
fn suited(shape: [usize; 3], survey: Option<&Survey>) -> Augmentation {
    let Some(Ok(data)) = survey.map(|survey| &survey.data) else {
        return Augmentation::default();
    };
    let classes = data.classes.iter();
    let names: Vec<String> = classes.map(|(name, _)| name.clone()).collect();
    Augmentation::suited_to(shape, &names)
}

/// The paper's changes to training images, in proportion to the network's input.
fn choices(ui: &mut Ui, augmentation: &mut Augmentation, side: usize) {
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
    let explained = "Hide a square of half the side, or of another size.";
    if ui
        .checkbox(&mut cutout, "cutout")
        .on_hover_text(explained)
        .changed()
    {
        augmentation.cutout = if cutout { side / 2 } else { 0 };
    }
    let explained = "Side of the CutOut square in pixels; 0 for none.";
    let size = within(&mut augmentation.cutout, 0..=2 * side).speed(0.1);
    ui.add(size.suffix(" px"))
        .accessible_name("CutOut size")
        .on_hover_text(explained);
    let mut resized = augmentation.resized_crop.is_some();
    let explained = "Random part of a photograph, as for ImageNet.";
    let check = ui.checkbox(&mut resized, "resized crop");
    if check.on_hover_text(explained).changed() {
        let imagenet = Augmentation::imagenet().resized_crop;
        augmentation.resized_crop = imagenet.filter(|_| resized);
    }
}
