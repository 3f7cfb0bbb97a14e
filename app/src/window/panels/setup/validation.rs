//! Which images settings are chosen and predictions are calibrated on.

use super::row::within;
use bayesadapter::data::{Share, ValidationSplit};
use egui::{ComboBox, Ui};

const EXPLAINED: &str = "Images to compare epochs and to calibrate on, none of which is trained on or scored. Choose \
    images that the pre-training has not seen: a temperature or prediction sets fitted on others are worthless, and a \
    published checkpoint has usually seen the whole training set.";

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

fn name(split: &ValidationSplit) -> &'static str {
    match split {
        ValidationSplit::Auto => "automatic",
        ValidationSplit::None => "none",
        ValidationSplit::Train(_) => "of the training set",
        ValidationSplit::Test(_) => "of the test set",
    }
}
