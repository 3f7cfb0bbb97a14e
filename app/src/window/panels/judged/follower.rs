//! A run that goes on, asked what it is worth.

use super::{News, Wish};
use bayesadapter::{
    evaluate::ImageSet,
    session::{Command, Event, Interim, Phase},
};
use egui::{RichText, Ui};

/// What is known of the run.
#[derive(Default)]
pub struct Follower {
    phase: Phase,
    step: usize,
    /// The step after which it was asked last.
    asked: Option<usize>,
    waiting: bool,
    /// The answer that is shown, until the run is judged on all test pictures.
    shown: Option<Seen>,
    /// The user looks at pictures of what is shown: it stays as it is.
    pub held: bool,
}

/// What an answer is of.
struct Seen {
    method: String,
    step: usize,
    steps: usize,
    pictures: usize,
    of: usize,
    set: ImageSet,
    draws: usize,
}

impl Seen {
    fn new(interim: &Interim) -> Self {
        let evaluation = &interim.evaluation;
        Self {
            method: evaluation.method.clone(),
            step: interim.position.step,
            steps: interim.steps,
            pictures: evaluation.scores.examples,
            of: evaluation.test_pictures(),
            set: evaluation.set,
            draws: evaluation.draws,
        }
    }
}

impl Follower {
    pub fn on_news(&mut self, news: &News) {
        match news {
            News::Run(Event::Phase { phase }) => {
                self.phase = *phase;
                // What was asked during another phase may never be answered, and may be old.
                (self.asked, self.waiting) = (None, false);
            }
            News::Run(Event::Progress(progress)) => self.step = progress.position.step,
            News::Run(Event::Interim(interim)) => {
                self.waiting = false;
                if !self.held {
                    self.shown = Some(Seen::new(interim));
                }
            }
            News::Run(Event::Evaluated(evaluation)) => {
                let other = |seen: &Seen| seen.method != evaluation.method;
                self.shown = self.shown.take().filter(other);
            }
            News::Ended { .. } | News::Over(_) => self.phase = Phase::Ended,
            _ => {}
        }
    }

    /// Whether the run can be asked: while it learns, or could.
    fn answers(&self) -> bool {
        matches!(self.phase, Phase::Training | Phase::Paused)
    }

    /// Whether the run has an answer to come, and none yet.
    pub fn is_awaited(&self) -> bool {
        self.answers() && self.shown.is_none()
    }

    /// Whether there is an answer of a run that is not at its end.
    #[cfg(not(target_family = "wasm"))]
    pub fn has_seen(&self) -> bool {
        self.shown.is_some()
    }

    /// Asks what the run is worth now, if it went on since the last time. The run itself sees to it that this takes
    /// little of its time.
    pub fn ask(&mut self, wishes: &mut Vec<Wish>) {
        let new = self.asked != Some(self.step);
        if self.answers() && new && !self.waiting && !self.held {
            (self.asked, self.waiting) = (Some(self.step), true);
            wishes.push(Wish::Tell(Command::JudgeNow));
        }
    }

    /// Tells what is shown, if that is not the end of the run; returns whether the user wants to see it go on.
    pub fn ui(&self, ui: &mut Ui) -> bool {
        let Some(text) = self.in_words() else {
            return false;
        };
        let explained = "A look at the run, by some of the validation images, or of the test images where there are \
            none: looking takes at most a fifth of its time. When it has learnt, it is evaluated on all test images.";
        let mut follow = false;
        ui.horizontal(|ui| {
            ui.label(RichText::new(text).italics())
                .on_hover_text(explained);
            follow = self.held && self.answers() && ui.button("Follow the run").clicked();
        });
        follow
    }

    fn in_words(&self) -> Option<String> {
        let seen = self.shown.as_ref()?;
        let draws = match seen.draws {
            0 => "at the mean".to_owned(),
            1 => "1 draw".to_owned(),
            draws => format!("{draws} draws"),
        };
        let now = match self.phase {
            Phase::Training if self.held => "it stays while you look at its pictures",
            Phase::Training => "the run goes on",
            Phase::Paused => "the run is paused",
            Phase::Evaluating => "now it is evaluated on all test images",
            Phase::Preparing | Phase::Ended => "the run has not come to its end",
        };
        Some(format!(
            "{} at step {} of {}: {} of {} {} images, {draws}; {now}",
            seen.method, seen.step, seen.steps, seen.pictures, seen.of, seen.set
        ))
    }
}
