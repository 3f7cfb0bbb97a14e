//! The networks that were judged, which three panels look at.

use super::News;
use bayesadapter::{evaluate::Evaluation, session::Event};
use egui::Ui;

/// What each network is worth, the one that the others started from first.
#[derive(Default)]
pub struct Judged {
    pub evaluations: Vec<Evaluation>,
    chosen: Option<usize>,
}

impl Judged {
    /// Takes up evaluations; returns whether something changed.
    pub fn on_news(&mut self, news: &News) -> bool {
        match news {
            News::Starting { anew: true } => self.evaluations.clear(),
            News::Run(Event::Evaluated(evaluation)) => {
                let same = |one: &Evaluation| one.method != evaluation.method;
                self.evaluations.retain(same);
                self.evaluations.push(evaluation.as_ref().clone());
            }
            News::Opened(view) => self.evaluations.clone_from(&view.evaluations),
            _ => return false,
        }
        self.chosen = None;
        true
    }

    /// The network that is looked at; the last one if none was chosen.
    pub fn shown(&self) -> Option<&Evaluation> {
        let last = self.evaluations.len().checked_sub(1)?;
        self.evaluations.get(self.chosen.unwrap_or(last))
    }

    /// Lets the user choose a network; returns whether another one was chosen.
    pub fn choice(&mut self, ui: &mut Ui) -> bool {
        let last = self.evaluations.len().saturating_sub(1);
        let before = self.chosen.unwrap_or(last);
        let mut now = before;
        ui.horizontal(|ui| {
            for (at, evaluation) in self.evaluations.iter().enumerate() {
                ui.selectable_value(&mut now, at, &evaluation.method);
            }
        });
        self.chosen = Some(now);
        now != before
    }
}

/// What the pages say before there is something to judge.
pub const NOTHING: &str = "Nothing was judged yet. A run does it when it ends; a posterior file brings it along if it \
    lies in the folder of its run.";
