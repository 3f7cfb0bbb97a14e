//! How a run does, while it does it.

use super::{News, Panel, Wish, course::Course};
use crate::window::{
    keys,
    look::{self, terms},
    worker::View,
};
use bayesadapter::session::{Command, Ending, Event, Method, Phase, Progress};
use egui::{Button, ProgressBar, RichText, ScrollArea, Ui};
use std::path::{Path, PathBuf};

/// Lines of the log that are kept.
const MOST_LINES: usize = 500;

enum Tone {
    Plain,
    Warning,
    Error,
}

/// The panel.
#[derive(Default)]
pub struct Training {
    courses: Vec<Course>,
    /// The course that is looked at; the last one if none was chosen.
    chosen: Option<usize>,
    phase: Phase,
    running: bool,
    /// The run has not told of a step yet.
    first_step: bool,
    /// The user asked to stop.
    stopping: bool,
    stopped: bool,
    evaluating: Option<(String, f32)>,
    log: Vec<(Tone, String)>,
    /// The file that is open.
    opened: Option<PathBuf>,
}

impl Panel for Training {
    fn name(&self) -> &'static str {
        "Training"
    }

    fn about(&self) -> &'static str {
        "How the run does: losses, accuracy, learning rates, and what it has to say."
    }

    fn on_news(&mut self, news: &News) {
        match news {
            News::Starting { anew } => {
                if *anew {
                    self.courses.clear();
                    self.log.clear();
                }
                (self.running, self.stopping, self.stopped) = (true, false, false);
                self.phase = Phase::Preparing;
                self.say(Tone::Plain, "Opening the device and the data".to_owned());
            }
            News::Stopping => self.stopping = true,
            News::Began { method, folder, .. } => self.begin(*method, folder),
            News::Run(event) => self.on_event(event),
            News::Ended { method, ending } => self.end(*method, ending),
            News::Over(done) => {
                self.running = false;
                // Before the first step there is no run that could tell of its end.
                self.stopped |= self.stopping;
                if let Err(error) = done {
                    self.say(Tone::Error, error.clone());
                }
            }
            News::Opened(view) => {
                // A file that moves to another device is opened again, and tells nothing new of runs.
                let before = self.opened.replace(view.path.clone());
                if !self.running && before.as_ref() != Some(&view.path) {
                    self.show_history(view);
                }
            }
            _ => {}
        }
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        if self.courses.is_empty() && self.log.is_empty() {
            look::nothing_yet(
                ui,
                "No run yet. Start the digits demo, or open the posterior of a run.",
            );
            return;
        }
        self.controls(ui, wishes);
        ui.add_space(6.0);
        let shown = self.chosen.unwrap_or(self.courses.len().saturating_sub(1));
        if let Some(course) = self.courses.get(shown) {
            if let Some(last) = &course.last {
                numbers(ui, last);
            }
            ui.add_space(6.0);
            course.curves(ui, 0.36 * ui.available_height(), wishes);
        }
        ui.add_space(6.0);
        self.log(ui);
    }
}

impl Training {
    fn begin(&mut self, method: Method, folder: &Path) {
        (self.running, self.first_step) = (true, true);
        self.stopped = false;
        self.chosen = None;
        self.phase = Phase::Preparing;
        let goes_on = self.courses.last().is_some_and(|one| one.folder == folder);
        let place = folder.display();
        self.say(
            Tone::Plain,
            match goes_on {
                true => format!("{method} goes on in {place}"),
                false => format!("{method} begins in {place}"),
            },
        );
        if !goes_on {
            if method == Method::Map {
                self.courses.clear();
            }
            self.courses.push(Course::new(method, folder));
        }
    }

    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Phase { phase } => self.phase = *phase,
            Event::Prepared(prepared) => self.say(
                Tone::Plain,
                format!(
                    "{} training images, validation: {}, {} test images, {} classes, {} steps",
                    prepared.examples,
                    prepared.validation.as_deref().unwrap_or("none"),
                    prepared.test_examples,
                    prepared.class_names.len(),
                    prepared.steps
                ),
            ),
            Event::Progress(progress) => {
                self.first_step = false;
                if let Some(course) = self.courses.last_mut() {
                    course.add(progress);
                }
            }
            Event::Warning { message } => self.say(Tone::Warning, message.clone()),
            Event::InitialStd {
                initial_std,
                temperature,
            } => self.say(
                Tone::Plain,
                format!("Initial std {initial_std}, which suits a temperature of {temperature:.2}"),
            ),
            Event::Evaluating {
                method, done, of, ..
            } => {
                let share = *done as f32 / (*of).max(1) as f32;
                self.evaluating = Some((method.clone(), share));
            }
            Event::Evaluated(evaluation) => {
                let scores = &evaluation.scores;
                self.say(
                    Tone::Plain,
                    format!(
                        "{}: {:.2} % of {} {} images right, NLL {:.4} nats, ECE {:.4}",
                        evaluation.method,
                        100.0 * scores.accuracy,
                        scores.examples,
                        evaluation.set,
                        scores.nll,
                        scores.ece
                    ),
                );
            }
            // Other pages show these.
            Event::Layer(_) | Event::Draw(_) | Event::Interim(_) => {}
            Event::Validated { position, scores } => {
                if let Some(course) = self.courses.last_mut() {
                    course.add_validation(position.step, scores);
                }
                self.say(
                    Tone::Plain,
                    format!(
                        "Epoch {}: validation accuracy {:.2} %, NLL {:.4} nats, ECE {:.4}, on {} images",
                        position.epoch,
                        100.0 * scores.accuracy,
                        scores.nll,
                        scores.ece,
                        scores.images
                    ),
                );
            }
            Event::Saved { .. } => {}
        }
    }

    fn end(&mut self, method: Method, ending: &Result<Ending, String>) {
        self.phase = Phase::Ended;
        match ending {
            Ok(Ending::Finished) => self.say(Tone::Plain, format!("{method} is finished")),
            Ok(Ending::Stopped) => {
                self.stopped = true;
                self.say(
                    Tone::Plain,
                    format!("{method} is stopped and saved; Continue goes on from there"),
                );
            }
            Err(error) => {
                // What was saved last is whole: the user may mend the cause, or choose another device.
                self.stopped = true;
                self.say(Tone::Error, error.clone());
            }
        }
    }

    /// The history of another run than those that were followed live.
    fn show_history(&mut self, view: &View) {
        let folder = view.path.parent().unwrap_or(Path::new(""));
        if view.history.is_empty() || self.courses.iter().any(|one| one.folder == folder) {
            return;
        }
        self.courses = vec![Course::of_history(view, folder)];
        self.chosen = None;
        self.stopped = false;
        self.log.clear();
        self.say(
            Tone::Plain,
            format!("History of the run of {}", view.path.display()),
        );
    }

    fn say(&mut self, tone: Tone, text: String) {
        if self.log.len() >= MOST_LINES {
            self.log.remove(0);
        }
        self.log.push((tone, text));
    }

    fn controls(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        ui.horizontal(|ui| {
            for (at, course) in self.courses.iter().enumerate() {
                let shown = self.chosen.unwrap_or(self.courses.len() - 1) == at;
                let name = course.method.to_string();
                let label = ui.selectable_label(shown, RichText::new(name).strong());
                if label.on_hover_text(explained(course.method)).clicked() {
                    self.chosen = Some(at);
                }
            }
            ui.separator();
            ui.label(self.phase_in_words());
            ui.separator();
            if self.running && self.phase == Phase::Paused {
                if ui.button("Resume").on_hover_text("Space").clicked() {
                    wishes.push(Wish::Tell(Command::Resume));
                }
            } else if self.running && self.phase == Phase::Training {
                let pause = ui.button("Pause");
                if pause
                    .on_hover_text("Wait after this step (space)")
                    .clicked()
                {
                    wishes.push(Wish::Tell(Command::Pause));
                }
            }
            if self.running {
                let stop = ui.button("Stop");
                let keys = ui.ctx().format_shortcut(&keys::STOP);
                let explained = format!("Save and end after this step ({keys})");
                if stop.on_hover_text(explained).clicked() {
                    wishes.push(Wish::Tell(Command::Stop));
                }
            } else if self.stopped && ui.add(Button::new("Continue")).clicked() {
                wishes.push(Wish::Continue);
            }
            self.progress(ui);
        });
    }

    fn progress(&self, ui: &mut Ui) {
        let share = match (&self.phase, &self.evaluating) {
            (Phase::Evaluating, Some((_, share))) => *share,
            (Phase::Training | Phase::Paused, _) => {
                let last = self.courses.last().and_then(|course| course.last.as_ref());
                last.map_or(0.0, |last| {
                    last.position.step as f32 / last.steps.max(1) as f32
                })
            }
            _ => return,
        };
        if self.running {
            ui.add(ProgressBar::new(share).show_percentage());
        }
    }

    fn phase_in_words(&self) -> String {
        match (self.running, self.phase, &self.evaluating) {
            (true, Phase::Preparing, _) => "Preparing".to_owned(),
            (true, Phase::Training, _) if self.first_step => {
                "Learning (a GPU compiles its kernels first)".to_owned()
            }
            (true, Phase::Training, _) => "Learning".to_owned(),
            (true, Phase::Paused, _) => "Paused".to_owned(),
            (true, Phase::Evaluating, Some((method, _))) => format!("Judging {method}"),
            (true, Phase::Evaluating, None) => "Judging".to_owned(),
            (true, Phase::Ended, _) => "Preparing the next run".to_owned(),
            (false, _, _) if self.stopped => "Stopped".to_owned(),
            (false, _, _) => "Done".to_owned(),
        }
    }

    fn log(&self, ui: &mut Ui) {
        look::title(
            ui,
            "What the run says",
            "Warnings and errors say what to do.",
        );
        ScrollArea::vertical()
            .auto_shrink(false)
            .stick_to_bottom(true)
            .show(ui, |ui| {
                for (tone, line) in &self.log {
                    match tone {
                        Tone::Plain => ui.label(line),
                        Tone::Warning => {
                            ui.colored_label(ui.visuals().warn_fg_color, format!("Warning: {line}"))
                        }
                        Tone::Error => {
                            ui.colored_label(ui.visuals().error_fg_color, format!("Error: {line}"))
                        }
                    };
                }
            });
    }
}

/// What a method is.
pub fn explained(method: Method) -> &'static str {
    match method {
        Method::Map => terms::MAP,
        Method::Mfg => terms::MFG,
        Method::Pse => terms::PSE,
    }
}

fn numbers(ui: &mut Ui, last: &Progress) {
    ui.horizontal(|ui| {
        let epoch = format!("{} of {}", last.position.epoch, last.epochs);
        let step = format!("{} of {}", last.position.step, last.steps);
        look::number(ui, "Epochs done", epoch, "Passes over the training data.");
        look::number(ui, "Steps", step, "Changes of the weights.");
        let speed = format!("{:.0} / s", last.examples_per_second);
        look::number(ui, "Pictures", speed, "Pictures learnt from in a second.");
        let left = look::duration(last.seconds_left);
        look::number(ui, "Left", left, "Until the training ends, at this speed.");
        let accuracy = format!("{:.1} %", 100.0 * last.accuracy);
        look::number(ui, "Training accuracy", accuracy, terms::ACCURACY);
        let loss = format!("{:.4}", last.likelihood_loss);
        look::number(ui, "Likelihood loss", loss, terms::LIKELIHOOD_LOSS);
        let loss = format!("{:.4}", last.complexity_loss);
        look::number(ui, "Complexity loss", loss, terms::COMPLEXITY_LOSS);
    });
}
