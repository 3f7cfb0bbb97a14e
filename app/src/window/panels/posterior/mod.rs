//! What a posterior looks like: of a file, or of a run while it learns.

mod live;
mod portrait;
mod scrubber;
mod table;

use super::{News, Panel, Wish};
use crate::window::{look, worker::View};
use bayesadapter::{evaluate::LayerPosterior, session::Scrub};
use egui::{RichText, ScrollArea, Ui};
use live::Live;
use portrait::Portrait;
use scrubber::Scrubber;
use std::sync::Arc;

/// Points that a page is high on a small display; on a higher one everything is larger, up to a scale.
const SMALL: f32 = 720.0;
const LARGEST_SCALE: f32 = 2.5;

/// Which test pictures draws are shown with, where nobody knows what the posterior is least sure of.
const A_FEW: &str = "a few test pictures";

/// The panel.
#[derive(Default)]
pub struct Posterior {
    view: Option<Arc<View>>,
    /// The run that goes on, if one does; it is shown rather than the file, unless the user asks for that.
    live: Option<Live>,
    prefers_file: bool,
    /// Path of the layer that is looked at.
    chosen: Option<String>,
    portrait: Option<Portrait>,
    /// Of the file, and what was asked for last; a run has its own.
    scrubber: Scrubber,
    scrubbed: Option<Scrub>,
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
                (self.scrubber, self.scrubbed) = (Scrubber::default(), None);
                if self.shows_file() {
                    self.show_file();
                }
            }
            News::FileWanted => self.prefer_file(true),
            News::Layer(layer) if self.shows_file() && self.looks_at(layer) => {
                self.portrait = Some(Portrait::new(Arc::clone(layer)));
            }
            News::Scrubbed(scrubbed) => self.scrubber.take(Arc::clone(scrubbed)),
            _ => {}
        }
        if let Some(live) = Live::beginning(news) {
            (self.portrait, self.chosen) = (None, live.first());
            (self.live, self.prefers_file) = (Some(live), false);
        }
        if let Some(live) = &mut self.live
            && let Some(layer) = live.on_news(news)
            && !self.shows_file()
            && self.looks_at(layer)
        {
            self.portrait = Some(Portrait::new(Arc::new(layer.clone())));
        }
    }

    #[cfg(not(target_family = "wasm"))]
    fn has_opened(&self) -> bool {
        let of_run = self.live.as_ref().filter(|_| !self.shows_file());
        let shown = of_run.map_or(&self.scrubber, |live| &live.scrubber);
        shown.shows_draw()
    }

    #[cfg(not(target_family = "wasm"))]
    fn waits(&self) -> bool {
        self.live.is_some() && self.portrait.is_none()
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
            .default_size(384.0)
            .show(ui, |ui| self.layers(ui, wishes));
        egui::CentralPanel::default().show(ui, |ui| {
            let scale = (ui.available_height() / SMALL).clamp(1.0, LARGEST_SCALE);
            if let Some(portrait) = &mut self.portrait {
                portrait.scale = scale;
            }
            ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| self.layer(ui, wishes));
        });
    }
}

impl Posterior {
    fn shows_file(&self) -> bool {
        self.view.is_some() && (self.live.is_none() || self.prefers_file)
    }

    /// Turns to the file, or to the run.
    fn prefer_file(&mut self, prefers_file: bool) {
        let before = self.shows_file();
        self.prefers_file = prefers_file;
        match self.shows_file() {
            now if now == before => {}
            true => self.show_file(),
            false => {
                self.chosen = self.live.as_ref().and_then(Live::first);
                self.portrait = None;
            }
        }
    }

    /// Begins with the first layer of the file.
    fn show_file(&mut self) {
        let layer = self.view.as_ref().and_then(|view| view.layer.clone());
        self.chosen = layer.as_ref().map(|layer| layer.path.clone());
        self.portrait = layer.map(Portrait::new);
        (self.scrubber, self.scrubbed) = (Scrubber::default(), None);
    }

    /// Where there is a run and a file, lets the user choose between them.
    fn source(&mut self, ui: &mut Ui) {
        if self.live.is_none() || self.view.is_none() {
            return;
        }
        let mut prefers_file = self.prefers_file;
        ui.horizontal(|ui| {
            ui.selectable_value(&mut prefers_file, false, "The run")
                .on_hover_text("What the run learns, as it is now.");
            ui.selectable_value(&mut prefers_file, true, "The file")
                .on_hover_text("The posterior that is open.");
        });
        self.prefer_file(prefers_file);
    }

    fn looks_at(&self, layer: &LayerPosterior) -> bool {
        self.chosen.as_ref() == Some(&layer.path)
    }

    fn layers(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        self.source(ui);
        let (before, shows_file) = (self.chosen.clone(), self.shows_file());
        let live = self.live.as_mut().filter(|_| !shows_file);
        match (live, &self.view) {
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
                for remark in &view.remarks {
                    ui.label(
                        RichText::new(remark)
                            .small()
                            .color(ui.visuals().warn_fg_color),
                    );
                }
                table::of_file(ui, view, &mut self.chosen);
            }
            (None, None) => {}
        }
        if let Some(path) = self.chosen.clone()
            && self.chosen != before
            && shows_file
        {
            wishes.push(Wish::Layer(path));
        }
    }

    fn layer(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let shows_file = self.shows_file();
        let Some(portrait) = &mut self.portrait else {
            look::nothing_yet(ui, "The first look at the weights is on its way.");
            return;
        };
        let (scrubber, which) = match (&mut self.live, &self.view) {
            (Some(live), _) if !shows_file => {
                live.scrub(ui, portrait.path(), wishes);
                (&mut live.scrubber, A_FEW)
            }
            (_, Some(view)) => {
                let draws = view.different_draws;
                let scrub = self.scrubber.slider(ui, draws, portrait.path());
                if self.scrubbed.as_ref() != Some(&scrub) {
                    self.scrubbed = Some(scrub.clone());
                    wishes.push(Wish::Scrub(scrub));
                }
                let which = match view.evaluations.is_empty() {
                    true => A_FEW,
                    false => "the test pictures that the posterior is least sure of",
                };
                (&mut self.scrubber, which)
            }
            (_, None) => return,
        };
        portrait.kernels(ui, scrubber.kernels(portrait.path()), wishes);
        scrubber.answers(ui, which);
        portrait.histograms(ui, wishes);
        portrait.factors(ui, wishes);
    }
}
