//! What happened so far, for scripts that look at the page from outside.

use super::{
    super::{Window, news::News},
    gpu::Gpu,
};
use bayesadapter::session::{DeviceChoice, Event};
use egui::{Context, RawInput};
use serde::Serialize;
use std::{cell::Cell, rc::Rc};
use wasm_bindgen_futures::spawn_local;

/// What happened so far.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// What the posterior that is open is.
    opened: Option<String>,
    /// Posteriors that were opened.
    files: usize,
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
    /// Something failed, perhaps the GPU.
    #[serde(skip)]
    doubtful: bool,
    /// The GPU was found to be lost.
    #[serde(skip)]
    lost: Rc<Cell<bool>>,
}

impl Host {
    /// Before a frame is drawn: what was open on a GPU that is lost moves to one that is opened anew, or to the CPU.
    pub fn frame(window: &mut Window, ctx: &Context, _: &eframe::Frame) {
        if std::mem::take(&mut window.host.doubtful) {
            let (lost, ctx) = (Rc::clone(&window.host.lost), ctx.clone());
            spawn_local(async move {
                lost.set(Gpu::is_lost().await || lost.get());
                ctx.request_repaint();
            });
        }
        if window.host.lost.take() {
            if let Gpu::Missing(_) = Gpu::now() {
                window.computer.choose(DeviceChoice::Auto);
            }
            if let Some(file) = window.worker.opened() {
                window.worker.ask(|mail| mail.open(file));
            }
        }
    }

    /// Nothing is added to the input of a frame.
    pub fn input(&mut self, _: &mut RawInput) {}

    pub fn on_news(&mut self, news: &News) {
        match news {
            News::Began { .. } => self.losses.clear(),
            News::Run(Event::Progress(progress)) => {
                (self.step, self.steps) = (progress.position.step, progress.steps);
                self.losses.push(progress.likelihood_loss);
            }
            News::Run(Event::Evaluated(evaluation)) => {
                let accuracy = evaluation.scores.accuracy;
                self.evaluations.push((evaluation.method.clone(), accuracy));
            }
            News::Over(Ok(())) => self.finished += 1,
            News::Ended { ending: Err(_), .. } | News::Over(Err(_)) | News::Refused(_) => {
                self.doubtful = true;
            }
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
