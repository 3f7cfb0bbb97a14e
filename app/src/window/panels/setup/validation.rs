//! Which images settings are chosen and predictions are calibrated on, and the random seed of the splits.

use super::row::within;
use bayesadapter::{
    data::{Share, ValidationSplit},
    session::RunSettings,
};
use egui::{ComboBox, Ui};

const EXPLAINED: &str = "Images to compare epochs and to calibrate on, none of which is trained on or scored. Choose \
    images that the pre-training has not seen: a temperature or prediction sets fitted on others are worthless, and a \
    published checkpoint has usually seen the whole training set.";

const SEED_EXPLAINED: &str = "Random seed of the splits into training, validation and test images. Runs with the same \
    one can be compared, whatever their own seeds are.";

/// A line with the source of the validation set and its size.
pub fn ui(ui: &mut Ui, split: &mut ValidationSplit) {
    ui.horizontal(|ui| {
        let label = ui.label("Validation set").on_hover_text(EXPLAINED);
        let combo = ComboBox::from_id_salt("validation").selected_text(name(split));
        let combo = combo.show_ui(ui, |ui| {
            for choice in [
                ValidationSplit::Auto,
                ValidationSplit::Test(Share::Fraction(0.2)),
                ValidationSplit::Train(Share::Fraction(0.1)),
                ValidationSplit::None,
            ] {
                let chosen = name(split) == name(&choice);
                if ui.selectable_label(chosen, name(&choice)).clicked() && !chosen {
                    *split = choice;
                }
            }
        });
        let combo = combo.response.labelled_by(label.id);
        combo.on_hover_text(EXPLAINED);
        match split {
            ValidationSplit::Train(share) | ValidationSplit::Test(share) => match share {
                Share::Fraction(fraction) => {
                    ui.add(within(fraction, 0.01..=0.9).speed(0.005))
                        .on_hover_text("The share of them.");
                }
                Share::Count(count) => {
                    ui.add(within(count, 1..=10_000_000))
                        .on_hover_text("How many of them.");
                }
            },
            ValidationSplit::Auto | ValidationSplit::None => {}
        }
    });
}

/// A line with the random seed of the splits, which is that of the run in files that do not say.
pub fn seed(ui: &mut Ui, settings: &mut RunSettings) {
    let before = settings.data.split_seed.unwrap_or(settings.seed);
    let mut seed = before;
    ui.horizontal(|ui| {
        let label = ui.label("Split seed").on_hover_text(SEED_EXPLAINED);
        ui.add(within(&mut seed, 0..=u64::MAX).speed(0.2))
            .labelled_by(label.id)
            .on_hover_text(SEED_EXPLAINED);
    });
    if seed != before {
        settings.data.split_seed = Some(seed);
    }
}

fn name(split: &ValidationSplit) -> &'static str {
    match split {
        ValidationSplit::Auto => "automatic",
        ValidationSplit::None => "none",
        ValidationSplit::Train(_) => "of the training set",
        ValidationSplit::Test(_) => "of the test set",
    }
}
