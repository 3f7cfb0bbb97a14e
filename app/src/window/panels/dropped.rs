//! Pictures that were dropped, which are asked about one at a time.

use super::Wish;
use crate::window::worker::Question;
use egui::{Button, Ui};
use std::path::{Path, PathBuf};

/// The pictures, and the one that is asked about.
#[derive(Default)]
pub struct Dropped {
    paths: Vec<PathBuf>,
    at: usize,
    /// Nobody has asked about it yet.
    due: bool,
}

impl Dropped {
    /// Takes up a picture that is being asked about: of several that are dropped together, the last one.
    pub fn add(&mut self, path: &Path) {
        let known = self.paths.iter().position(|one| one == path);
        self.at = known.unwrap_or_else(|| {
            self.paths.push(path.to_owned());
            self.paths.len() - 1
        });
    }

    /// Begins with the first of these.
    pub fn begin(&mut self, paths: &[PathBuf]) {
        *self = Self {
            paths: paths.to_vec(),
            at: 0,
            due: true,
        };
    }

    /// Draws the way from one to the other, and asks about the one that is chosen.
    pub fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let count = self.paths.len();
        if count > 1 {
            ui.horizontal(|ui| {
                let before = self.at;
                let (back, more) = (self.at > 0, self.at + 1 < count);
                if ui.add_enabled(back, Button::new("Back")).clicked() {
                    self.at -= 1;
                }
                if ui.add_enabled(more, Button::new("Next")).clicked() {
                    self.at += 1;
                }
                self.due |= self.at != before;
                ui.label(format!("Picture {} of {count}", self.at + 1));
            });
        }
        if std::mem::take(&mut self.due)
            && let Some(path) = self.paths.get(self.at)
        {
            wishes.push(Wish::Ask(Question::File(path.clone())));
        }
    }
}
