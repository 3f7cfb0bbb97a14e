//! Where things go that were chosen or dropped.

use super::{
    Window, errand::Errand, judging::Case, news::Wish, purpose::Purpose, sort::Found,
    worker::Question,
};
use bayesadapter::disk;
use egui::{Align2, Frame, Order, RichText, Vec2};
use std::path::PathBuf;

impl Window {
    pub(super) fn chosen(&mut self, purpose: &Purpose, path: PathBuf) {
        match purpose {
            Purpose::Posterior => self.fulfil(Wish::Open(path)),
            Purpose::RunsFolder => self.out = path,
            Purpose::Run | Purpose::Settings => self.fulfil(Wish::Do(Errand::Sort(path))),
            Purpose::CompareRun | Purpose::ComparePosterior => {
                self.fulfil(Wish::Do(Errand::Compare(path)));
            }
            Purpose::JudgeOn(case) => {
                let data = Some(path);
                let case = case.clone();
                self.fulfil(Wish::Judge(Case { data, ..case }));
            }
            Purpose::JudgeWith(case) => {
                let strangers = Some(path);
                let case = case.clone();
                self.fulfil(Wish::Judge(Case { strangers, ..case }));
            }
            Purpose::Save(parcel) => self.fulfil(Wish::Do(Errand::Save(parcel.clone(), path))),
            // The page that asked takes it.
            Purpose::Weights | Purpose::DataFolder | Purpose::DataArchive | Purpose::Strangers => {}
        }
    }

    /// Goes where something is used.
    pub(super) fn found(&mut self, found: &Found) {
        match found {
            Found::Posterior(path) | Found::FinishedRun { posterior: path } => {
                self.fulfil(Wish::Open(path.clone()));
            }
            Found::Picture(path) => {
                self.show_panel("Predict");
                self.fulfil(Wish::Ask(Question::File(path.clone())));
            }
            Found::Pictures { refusal, .. } => match self.has_network {
                true => self.show_panel("Predict"),
                false => self.complain(&format!(
                    "{refusal}. A network that is open can be asked about them: open one, and drop them again"
                )),
            },
            Found::Networks(path) => {
                self.show_panel("Compare");
                self.fulfil(Wish::Do(Errand::Compare(path.clone())));
            }
            Found::Weights(_) | Found::Data(_) | Found::Settings(_) | Found::StoppedRun { .. } => {
                self.show_panel("Set up")
            }
        }
    }

    /// A folder for a run that is not there yet.
    pub(super) fn free_folder(&self, name: &str) -> PathBuf {
        let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let free = names.find(|name| !disk::exists(&self.out.join(name)));
        self.out.join(free.as_deref().unwrap_or(name))
    }
}

/// Says that a file can be let go of, while one is held over the window.
pub(super) fn drop_hint(ctx: &egui::Context) {
    if ctx.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    egui::Area::new(egui::Id::unique("drop hint"))
        .anchor(Align2::CENTER_CENTER, Vec2::ZERO)
        .order(Order::Tooltip)
        .show(ctx, |ui| {
            Frame::popup(ui.style()).inner_margin(24.0).show(ui, |ui| {
                ui.label(RichText::new("Drop it: the window finds out what it is").size(20.0));
            });
        });
}
