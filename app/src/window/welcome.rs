//! The first page: what can be done here.

use super::{
    keys,
    look::terms,
    news::Wish,
    platform::{ABOUT_DEMO, HAS_FOLDERS},
    purpose::Purpose,
};
use bayesadapter::session::Method;
use egui::{Button, RichText, Ui, Vec2};
use std::path::Path;

/// The page's one choice.
pub struct Welcome {
    pub method: Method,
}

impl Default for Welcome {
    fn default() -> Self {
        Self {
            method: Method::Pse,
        }
    }
}

impl Welcome {
    /// Draws the page; runs go to `folder`.
    pub fn ui(&mut self, ui: &mut Ui, folder: &Path, running: bool, wishes: &mut Vec<Wish>) {
        ui.add_space(0.08 * ui.available_height());
        ui.vertical_centered(|ui| {
            ui.label(RichText::new("BayesAdapter").size(36.0).strong());
            ui.label(
                RichText::new(
                    "Makes a trained network Bayesian by a short fine-tuning,\nso that it knows what it does not know.",
                )
                .size(16.0),
            );
            ui.add_space(30.0);
            match running {
                true => {
                    ui.label("A run goes on. Stop it on the Training page before you start another.");
                }
                false => self.demo(ui, folder, wishes),
            }
            ui.add_space(34.0);
            let open = Button::new(RichText::new("Open posterior file…").size(16.0));
            let open = ui.add(open.min_size(Vec2::new(260.0, 38.0)));
            let keys = ui.ctx().format_shortcut(&keys::OPEN);
            if open.on_hover_text(keys).clicked() {
                wishes.push(Wish::Choose(Purpose::Posterior));
            }
            ui.add_space(8.0);
            let set_up = Button::new(RichText::new("Set up a run of your own…").size(16.0));
            if ui.add(set_up.min_size(Vec2::new(260.0, 38.0))).clicked() {
                wishes.push(Wish::Show("Set up"));
            }
            ui.label(
                RichText::new(
                    "or drop a posterior, a checkpoint, a folder of pictures, a run folder or pictures anywhere",
                )
                .weak(),
            );
            ui.add_space(34.0);
            ui.label(RichText::new(keys_in_words(ui)).weak());
        });
    }

    fn demo(&mut self, ui: &mut Ui, folder: &Path, wishes: &mut Vec<Wish>) {
        let demo = Button::new(RichText::new("Digits demo").size(20.0).strong());
        let demo = ui.add(demo.min_size(Vec2::new(260.0, 52.0)));
        if demo.clicked() {
            wishes.push(Wish::Demo(self.method));
        }
        ui.label(RichText::new(ABOUT_DEMO).weak());
        ui.add_space(8.0);
        for (method, name, explained) in [
            (
                Method::Pse,
                "as an ensemble that shares its weights (PSE)",
                terms::PSE,
            ),
            (
                Method::Mfg,
                "with a Gaussian for every weight (MFG)",
                terms::MFG,
            ),
        ] {
            ui.radio_value(&mut self.method, method, name)
                .on_hover_text(explained);
        }
        if !HAS_FOLDERS {
            return;
        }
        ui.add_space(8.0);
        ui.label(RichText::new(format!("The runs go to {}", folder.display())).weak());
        let choose = ui.button("Another folder…");
        if choose
            .on_hover_text("Where the runs and their posteriors are kept")
            .clicked()
        {
            wishes.push(Wish::Choose(Purpose::RunsFolder));
        }
    }
}

/// What the keys do.
fn keys_in_words(ui: &Ui) -> String {
    let named = [
        (&keys::OPEN, "open a file"),
        (&keys::START, "start the run that is set up"),
        (&keys::STOP, "stop it"),
        (&keys::SAVE_REPORT, "save its report"),
        (&keys::PASTE, "ask about a picture"),
    ];
    let named = named.map(|(keys, what)| format!("{} {what}", ui.ctx().format_shortcut(keys)));
    format!(
        "Keys: 1, 2, … pages, space pause and resume, {}",
        named.join(", ")
    )
}
