//! How the program speaks: text with progress bars, JSON lines, or not at all.

use bayesadapter::session::{Control, Event, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::{fmt::Display, io::Write, time::Duration};

/// What goes to the standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Sentences, tables and bars for a person.
    Text,
    /// One JSON object per line, for a script.
    Json,
    /// Nothing.
    Quiet,
}

/// Speaks for every command.
pub struct Voice {
    output: Output,
}

impl Voice {
    pub fn new(output: Output) -> Self {
        Self { output }
    }

    /// A line for a person.
    pub fn say(&self, text: impl Display) {
        if self.output == Output::Text {
            // A pipe that was closed, as by `head`, is no failure of ours.
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }

    /// An object for a script.
    pub fn json(&self, value: &impl Serialize) {
        if self.output == Output::Json
            && let Ok(line) = serde_json::to_string(value)
        {
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    }

    /// What went wrong, with its causes.
    pub fn error(&self, error: &anyhow::Error) {
        let text = format!("{error:#}");
        match self.output {
            Output::Json => {
                self.json(&serde_json::json!({ "event": "error", "message": text }));
            }
            Output::Text | Output::Quiet => {
                let _ = writeln!(std::io::stderr(), "error: {text}");
            }
        }
    }

    /// A bar of `length`, which draws itself on terminals only.
    pub fn bar(&self, length: u64, template: &str) -> ProgressBar {
        let target = match self.output {
            Output::Text => ProgressDrawTarget::stderr(),
            Output::Json | Output::Quiet => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        bar
    }

    /// Tells the events of a run until it is over.
    pub fn follow(&self, control: &Control) {
        let mut bar: Option<ProgressBar> = None;
        while let Some(event) = control.next_event() {
            if !matches!(event, Event::Warning { .. }) {
                self.json(&Told(&event));
            }
            match event {
                Event::Phase { .. } => clear(&mut bar),
                Event::Prepared(prepared) => {
                    if let Some(load) = &prepared.load {
                        self.say(format_args!("Weights: {load}"));
                    }
                    let conversion = prepared.conversion.to_string();
                    let summary = conversion.lines().next().unwrap_or_default();
                    self.say(format_args!("Posterior: {summary}"));
                    self.say(format_args!(
                        "Data: {} training images, validation: {}, {} test images, {} classes",
                        prepared.examples,
                        prepared.validation.as_deref().unwrap_or("none"),
                        prepared.test_examples,
                        prepared.class_names.len()
                    ));
                    if prepared.position.step > 0 {
                        self.say(format_args!(
                            "Goes on after step {}",
                            prepared.position.step
                        ));
                    }
                }
                Event::InitialStd {
                    initial_std,
                    temperature,
                } => self.say(format_args!(
                    "Initial std {initial_std}, which suits a temperature of {temperature:.2} (--initial-std chooses another)"
                )),
                Event::Progress(progress) => {
                    let bar = bar.get_or_insert_with(|| self.bar(progress.steps as u64, TRAINING));
                    bar.set_position(progress.position.step as u64);
                    bar.set_message(told(&progress));
                }
                Event::Evaluating {
                    method, done, of, ..
                } => {
                    let bar = bar.get_or_insert_with(|| self.bar(of as u64, EVALUATING));
                    bar.set_position(done as u64);
                    bar.set_message(method);
                }
                Event::Warning { message } => match &bar {
                    Some(bar) => bar.suspend(|| self.warn(&message)),
                    None => self.warn(&message),
                },
                Event::Evaluated(evaluation) => {
                    clear(&mut bar);
                    let scores = &evaluation.scores;
                    self.say(format_args!(
                        "{}: accuracy {:.2} %, NLL {:.4}, ECE {:.4}",
                        evaluation.method,
                        100.0 * scores.accuracy,
                        scores.nll,
                        scores.ece
                    ));
                }
                // What only a window asks for.
                Event::Layer(_) | Event::Draw(_) | Event::Interim(_) => {}
                Event::Validated { position, scores } => {
                    let line = format!(
                        "epoch {}: validation accuracy {:.2} %, NLL {:.4}, ECE {:.4} ({} images)",
                        position.epoch,
                        100.0 * scores.accuracy,
                        scores.nll,
                        scores.ece,
                        scores.images
                    );
                    match &bar {
                        Some(bar) => bar.suspend(|| self.say(line)),
                        None => self.say(line),
                    }
                }
                Event::Saved { .. } => {}
            }
        }
        clear(&mut bar);
    }

    /// Something that the user should know.
    pub fn warn(&self, message: &str) {
        match self.output {
            Output::Json => {
                self.json(&serde_json::json!({ "event": "warning", "message": message }))
            }
            Output::Text | Output::Quiet => {
                let _ = writeln!(std::io::stderr(), "warning: {message}");
            }
        }
    }
}

const TRAINING: &str = "{bar:24} {pos}/{len} steps  {msg}";
const EVALUATING: &str = "{bar:24} {pos}/{len} images  evaluating {msg}  {per_sec}, {eta} left";

fn clear(bar: &mut Option<ProgressBar>) {
    if let Some(bar) = bar.take() {
        bar.finish_and_clear();
    }
}

fn told(progress: &Progress) -> String {
    let left = Duration::from_secs_f64(progress.seconds_left.clamp(0.0, 1e9).round());
    format!(
        "epoch {}/{}  L_ell {:.4}  L_c {:.3}  acc {:.1} %  lr {:.1e} {:.1e}  {:.0}/s  {} left",
        (progress.position.epoch + 1).min(progress.epochs),
        progress.epochs,
        -progress.likelihood_loss,
        -progress.complexity_loss,
        100.0 * progress.accuracy,
        progress.rates.lr,
        progress.rates.variational_lr,
        progress.examples_per_second,
        indicatif::HumanDuration(left)
    )
}

/// An event without what would make its line very long.
struct Told<'a>(&'a Event);

impl Serialize for Told<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Event::Evaluated(evaluation) => serde_json::json!({
                "event": "evaluated",
                "method": evaluation.method,
                "draws": evaluation.draws,
                "scores": evaluation.scores,
                "calibrated": evaluation.calibrated,
            })
            .serialize(serializer),
            event => event.serialize(serializer),
        }
    }
}
