//! Settings from elsewhere: presets, run files, run folders.

use super::{SetUp, Wish};
use crate::window::{errand::Content, purpose::Purpose, take_away};
use bayesadapter::session::{DataSettings, ModelSettings, PRESETS, RunSettings};
use egui::{Button, ComboBox, RichText, Ui};

impl SetUp {
    /// Run files, presets and run folders.
    pub(super) fn files(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        ui.horizontal(|ui| {
            let mut preset = None;
            let combo = ComboBox::from_id_salt("presets").selected_text("Settings of the paper");
            let combo = combo.width(190.0).show_ui(ui, |ui| {
                for name in PRESETS {
                    ui.selectable_value(&mut preset, Some(*name), *name);
                }
            });
            combo
                .response
                .accessible_name("Settings of the paper")
                .on_hover_text(
                    "Every setting of an experiment of the paper; weights, data and device stay yours.",
                );
            if let Some(Ok(settings)) = preset.map(RunSettings::preset) {
                self.take_preset(settings);
            }
            ui.separator();
            let open = ui.button("Open run file…");
            let explained = "The settings of another run: its run.toml, also of the command line";
            if open.on_hover_text(explained).clicked() {
                wishes.push(Wish::Choose(Purpose::Settings));
            }
            let save = ui.button("Save run file…");
            let explained = "These settings, for another day or for `bayesadapter finetune --config`";
            if save.on_hover_text(explained).clicked() {
                wishes.push(self.save());
            }
            let folder = ui.button("Open run folder…");
            let explained = "A finished run is looked at; a stopped one can go on";
            if folder.on_hover_text(explained).clicked() {
                wishes.push(Wish::Choose(Purpose::Run));
            }
        });
    }

    fn save(&self) -> Wish {
        match self.settings.to_toml() {
            Ok(text) => take_away::keep("run.toml".to_owned(), Content::Text(text)),
            Err(error) => Wish::Complain(format!("These settings cannot be written: {error}")),
        }
    }

    /// Everything of a preset but the files and the device.
    fn take_preset(&mut self, preset: RunSettings) {
        let (model, data) = (&self.settings.model, &self.settings.data);
        let settings = RunSettings {
            model: ModelSettings {
                architecture: preset.model.architecture.clone(),
                ..model.clone()
            },
            data: DataSettings {
                augmentation: preset.data.augmentation.clone(),
                ..data.clone()
            },
            device: self.settings.device,
            seed: self.settings.seed,
            ..preset
        };
        self.replace(&settings);
    }

    /// Offers to go on with a run that was opened.
    pub(super) fn stopped_run(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let Some((folder, settings)) = self.stopped.clone() else {
            return;
        };
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("The run in {} was stopped.", folder.display()));
            let go_on = ui.add_enabled(!self.running, Button::new("Go on"));
            if go_on.on_hover_text("From its last saved state").clicked() {
                self.stopped = None;
                wishes.push(Wish::GoOn(folder, Box::new(settings)));
            }
            ui.label(
                RichText::new("Its settings are below; Start begins a new run with them.").weak(),
            );
        });
    }
}
