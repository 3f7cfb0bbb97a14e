//! The schedule of a learning rate.

use super::row::{row, within};
use bayesadapter::train::Schedule;
use egui::{ComboBox, Ui};

const EXPLAINED: &str = "How the learning rate changes over the run: not at all, multiplied by a factor at milestones \
    (each quarter, unless a run file says otherwise), or along half a cosine down to a last value, step by step.";

/// A row with the kind of schedule and its number.
pub fn ui(ui: &mut Ui, name: &str, schedule: &mut Schedule) {
    row(ui, name, EXPLAINED, |ui| {
        let inner = ui.horizontal(|ui| {
            let combo = ComboBox::from_id_salt(name).selected_text(kind(schedule));
            let combo = combo.show_ui(ui, |ui| {
                for choice in [Schedule::Constant, Schedule::step(0.2), Schedule::cosine()] {
                    let chosen = kind(schedule) == kind(&choice);
                    if ui.selectable_label(chosen, kind(&choice)).clicked() && !chosen {
                        *schedule = choice;
                    }
                }
            });
            match schedule {
                Schedule::Constant => {}
                Schedule::Step { gamma, .. } => {
                    ui.add(within(gamma, 0.001..=1.0).speed(0.005).prefix("x "))
                        .on_hover_text("The factor at each milestone.");
                }
                Schedule::Cosine { end } => {
                    ui.add(within(end, 0.0..=1.0).speed(0.005).prefix("to x "))
                        .on_hover_text("What it ends at, as a share of the first learning rate.");
                }
            }
            combo.response
        });
        inner.inner
    });
}

fn kind(schedule: &Schedule) -> &'static str {
    match schedule {
        Schedule::Constant => "constant",
        Schedule::Step { .. } => "step",
        Schedule::Cosine { .. } => "cosine",
    }
}
