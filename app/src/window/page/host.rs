//! What happened so far, for scripts that look at the page from outside.

use super::super::{Window, news::News};
use bayesadapter::session::{Event, Phase};
use egui::{Context, RawInput};
use serde::Serialize;

/// What happened so far.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// What the posterior that is open is.
    opened: Option<String>,
    /// Posteriors that were opened.
    files: usize,
    phase: Phase,
    step: usize,
    steps: usize,
    /// The likelihood loss, every time it was told in the run.
    losses: Vec<f64>,
    /// Accuracies of the networks that were judged, with their names.
    evaluations: Vec<(String, f64)>,
    /// Runs that came to their end.
    finished: usize,
    /// The class, its probability and the mutual information of the last answer.
    answer: Option<(String, f64, f64)>,
    /// Answers so far.
    answers: usize,
}

impl Host {
    /// Nothing is done before a frame.
    pub fn frame(_: &mut Window, _: &Context, _: &eframe::Frame) {}

    /// Nothing is added to the input of a frame.
    pub fn input(&mut self, _: &mut RawInput) {}

    pub fn on_news(&mut self, news: &News) {
        match news {
            News::Began { .. } => self.losses.clear(),
            News::Run(Event::Phase { phase }) => self.phase = *phase,
            News::Run(Event::Progress(progress)) => {
                (self.step, self.steps) = (progress.position.step, progress.steps);
                self.losses.push(progress.likelihood_loss);
            }
            News::Run(Event::Evaluated(evaluation)) => {
                let accuracy = evaluation.scores.accuracy;
                self.evaluations.push((evaluation.method.clone(), accuracy));
            }
            News::Over(Ok(())) => self.finished += 1,
            News::Opened(view) => {
                self.opened = Some(view.about.clone());
                self.files += 1;
            }
            News::Answered(answer) => {
                let likeliest = answer.classes.iter().max_by(|a, b| a.1.total_cmp(&b.1));
                let information = answer.mutual_information;
                self.answer = likeliest.map(|(name, share, _)| (name.clone(), *share, information));
                self.answers += 1;
            }
            _ => {}
        }
    }
}
