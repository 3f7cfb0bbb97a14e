//! The bar over every page.

use super::{LEAST_WIDTH, Window, keys, news::Wish, purpose::Purpose, take_away, view_menu};
use egui::{RichText, ScrollArea};

/// The share of the window's height that notices take at most; longer ones are scrolled.
const MOST_OF_WINDOW: f32 = 0.3;

impl Window {
    /// The pages, and what can be done on all of them.
    pub(super) fn bar(&mut self, ui: &mut egui::Ui, wishes: &mut Vec<Wish>) {
        let narrow = ui.available_width() < LEAST_WIDTH;
        ui.horizontal_wrapped(|ui| {
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
            // Where the bar takes several lines, there is no right end.
            if narrow {
                return self.tools(ui, wishes);
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                self.tools(ui, wishes);
            });
        });
    }

    fn tools(&self, ui: &mut egui::Ui, wishes: &mut Vec<Wish>) {
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
    }

    /// What went wrong, until the user has read it.
    pub(super) fn notices(&mut self, ui: &mut egui::Ui) {
        if self.notices.is_empty() {
            return;
        }
        let most = MOST_OF_WINDOW * ui.ctx().content_rect().height();
        let mut read = false;
        ui.horizontal_top(|ui| {
            read = ui.button("Dismiss").clicked();
            // As high as they need: the bar itself has no height of its own that they could fill.
            let area = ScrollArea::vertical().min_scrolled_height(most);
            area.max_height(most).show(ui, |ui| {
                ui.vertical(|ui| {
                    for text in &self.notices {
                        ui.colored_label(ui.visuals().error_fg_color, text);
                    }
                });
            });
        });
        if read {
            self.notices.clear();
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
