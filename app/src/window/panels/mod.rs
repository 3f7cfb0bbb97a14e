//! The panels. Each is told the news and draws itself; none computes or waits.

mod calibration;
mod canvas;
mod compare;
mod course;
mod drawings;
mod dropped;
mod ensemble;
pub(super) mod gallery;
mod judged;
mod posterior;
mod predict;
mod scores;
mod setup;
mod training;
mod uncertainty;

#[cfg(not(target_family = "wasm"))]
pub use canvas::id as canvas_id;

use super::{
    LEAST_WIDTH,
    news::{News, Wish},
};
use egui::Ui;

/// A page of the window.
pub trait Panel {
    fn name(&self) -> &'static str;

    /// What it shows, in one sentence.
    fn about(&self) -> &'static str;

    fn on_news(&mut self, news: &News);

    /// What is kept of it until the program is started again, in its own words.
    #[cfg(not(target_family = "wasm"))]
    fn kept(&self) -> Option<String> {
        None
    }

    /// Whether something is shown on it that has to be asked for: a draw, the pictures behind a bar, a look at a run.
    #[cfg(not(target_family = "wasm"))]
    fn has_opened(&self) -> bool {
        false
    }

    /// Whether what it shows first has not come yet.
    #[cfg(not(target_family = "wasm"))]
    fn waits(&self) -> bool {
        false
    }

    /// Points that it needs across; where there are fewer, it is scrolled.
    fn least_width(&self) -> f32 {
        LEAST_WIDTH
    }

    /// Draws the page. What the user asks for goes to `wishes`.
    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>);
}

/// All panels, in the order of their tabs and number keys.
pub fn all() -> Vec<Box<dyn Panel>> {
    vec![
        Box::<setup::SetUp>::default(),
        Box::<training::Training>::default(),
        Box::<posterior::Posterior>::default(),
        Box::<ensemble::Ensemble>::default(),
        Box::<uncertainty::Uncertainty>::default(),
        Box::<calibration::Calibration>::default(),
        Box::<predict::Predict>::default(),
        Box::<compare::Compare>::default(),
    ]
}
