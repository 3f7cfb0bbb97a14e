//! What a posterior looks like: of a file, or of a run while it learns.

mod live;
mod portrait;
mod scrubber;
mod table;

use super::{News, Panel, Wish};
use crate::window::{look, worker::View};
use egui::{RichText, ScrollArea, Ui};
use live::Live;
use portrait::Portrait;
use scrubber::Scrubber;
use std::sync::Arc;

/// The panel.
#[derive(Default)]
pub struct Posterior {
    view: Option<Arc<View>>,
    /// The run that goes on, if one does; it is shown rather than the file.
    live: Option<Live>,
    /// Path of the layer that is looked at.
    chosen: Option<String>,
    portrait: Option<Portrait>,
    scrubber: Scrubber,
}

impl Panel for Posterior {
    fn name(&self) -> &'static str {
        "Posterior"
    }

    fn about(&self) -> &'static str {
        "What the posterior looks like: kernels, how sure each weight is, and how far it moved."
    }

    fn on_news(&mut self, news: &News) {
        match news {
            News::Opened(view) => {
                self.live = self.live.take().filter(Live::goes_on);
                self.view = Some(Arc::clone(view));
                self.scrubber = Scrubber::default();
                if self.live.is_none() {
                    self.portrait = view.layer.clone().map(Portrait::new);
                    self.chosen = view.layer.as_ref().map(|layer| layer.path.clone());
                }
            }
            News::Layer(layer) if self.live.is_none() => {
                self.show(Portrait::new((**layer).clone()))
            }
            News::Scrubbed(scrubbed) => self.scrubber.take(scrubbed),
            _ => {}
        }
        if let Some(live) = Live::beginning(news) {
            (self.portrait, self.chosen) = (None, live.first());
            self.live = Some(live);
        }
        if let Some(live) = &mut self.live
            && let Some(layer) = live.on_news(news)
        {
            self.show(Portrait::new(layer));
        }
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        if self.view.is_none() && self.live.is_none() {
            look::nothing_yet(
                ui,
                "No posterior yet. It appears here when a run begins to learn, or when you open a file.",
            );
            return;
        }
        egui::Panel::left("layers")
            .default_size(370.0)
            .show(ui, |ui| self.layers(ui, wishes));
        egui::CentralPanel::default().show(ui, |ui| {
            ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| self.layer(ui, wishes));
        });
    }
}

impl Posterior {
    /// Shows a layer, if it is the one that is looked at.
    fn show(&mut self, portrait: Portrait) {
        if self.chosen.as_deref() == Some(portrait.path()) {
            self.portrait = Some(portrait);
        }
    }

    fn layers(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let before = self.chosen.clone();
        match (&mut self.live, &self.view) {
            (Some(live), _) => {
                ui.label(RichText::new(live.in_words()).strong());
                table::live(ui, live.layers(), &mut self.chosen);
                live.ask(ui, self.chosen.as_deref(), wishes);
            }
            (None, Some(view)) => {
                ui.label(RichText::new(&view.about).strong())
                    .on_hover_text(super::training::explained(view.method));
                ui.label(
                    RichText::new(view.path.display().to_string())
                        .small()
                        .weak(),
                );
                table::of_file(ui, view, &mut self.chosen);
            }
            (None, None) => {}
        }
        if let Some(path) = self.chosen.clone()
            && self.chosen != before
            && self.live.is_none()
        {
            wishes.push(Wish::Layer(path));
        }
    }

    fn layer(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let Some(portrait) = &mut self.portrait else {
            look::nothing_yet(ui, "The first look at the weights is on its way.");
            return;
        };
        let of_file = self.view.as_ref().filter(|_| self.live.is_none());
        let drawn = match of_file {
            Some(view) => {
                self.scrubber
                    .slider(ui, view.method, portrait.path(), wishes);
                self.scrubber.kernels(portrait.path())
            }
            None => None,
        };
        portrait.kernels(ui, drawn);
        if of_file.is_some() {
            self.scrubber.answers(ui);
        }
        portrait.histograms(ui, wishes);
        portrait.factors(ui);
    }
}
