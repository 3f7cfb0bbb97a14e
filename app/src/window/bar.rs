//! The bar over every page.

use super::{Window, keys, news::Wish, purpose::Purpose, take_away, view_menu};
use egui::RichText;

impl Window {
    /// The pages, and what can be done on all of them.
    pub(super) fn bar(&mut self, ui: &mut egui::Ui, wishes: &mut Vec<Wish>) {
        ui.horizontal(|ui| {
            let start =
                ui.selectable_label(self.shown.is_none(), RichText::new("Start").size(15.0));
            if start.on_hover_text("The demo, and files").clicked() {
                self.shown = None;
            }
            ui.separator();
            for (at, panel) in self.panels.iter().enumerate() {
                let name = RichText::new(panel.name()).size(15.0);
                let tab = ui.selectable_label(self.shown == Some(at), name);
                let about = format!("{} (key {})", panel.about(), at + 1);
                if tab.on_hover_text(about).clicked() {
                    self.shown = Some(at);
                }
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                view_menu::show(ui);
                let keys = ui.ctx().format_shortcut(&keys::OPEN);
                let open = ui.button("Open…");
                if open
                    .on_hover_text(format!("A posterior file ({keys})"))
                    .clicked()
                {
                    wishes.push(Wish::Choose(Purpose::Posterior));
                }
                if let Some(folder) = self.reported.clone() {
                    take_away::report_menu(ui, folder, wishes);
                }
                if self.worker.is_busy() {
                    // Not a wheel that turns: it would ask for frames as fast as they can be drawn.
                    ui.label(RichText::new("Computing…").weak());
                }
            });
        });
    }

    /// What went wrong, until the user has read it.
    pub(super) fn notice(&mut self, ui: &mut egui::Ui) {
        let Some(text) = &self.notice else {
            return;
        };
        let mut read = false;
        ui.horizontal_wrapped(|ui| {
            read = ui.button("Dismiss").clicked();
            ui.colored_label(ui.visuals().error_fg_color, text);
        });
        if read {
            self.notice = None;
        }
    }

    /// That a run left a posterior, while the user looks at a file of their own.
    pub(super) fn finished(&mut self, ui: &mut egui::Ui, wishes: &mut Vec<Wish>) {
        let Some(posterior) = self.finished.clone() else {
            return;
        };
        ui.horizontal_wrapped(|ui| {
            if ui.button("Dismiss").clicked() {
                self.finished = None;
            }
            if ui.button("Open its posterior").clicked() {
                wishes.push(Wish::Open(posterior.clone()));
            }
            let folder = posterior.parent().unwrap_or(&posterior);
            ui.label(format!("The run in {} is finished", folder.display()));
        });
    }
}
