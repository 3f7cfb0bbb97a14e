//! A run that goes on, asked for one layer at a time.

use super::super::{News, Wish};
use bayesadapter::{
    evaluate::LayerPosterior,
    session::{Command, Event, Phase},
};
use egui::Ui;

/// Seconds between two looks: often enough to see it move, seldom enough not to hold up the run.
const BETWEEN_LOOKS: f64 = 0.6;

/// What is known of the run.
pub struct Live {
    /// Paths and shapes of its parameters; of a point, the shape is not told.
    layers: Vec<(String, Vec<usize>)>,
    step: usize,
    phase: Phase,
    over: bool,
    /// When a layer was last asked for, and which.
    asked: Option<(f64, String)>,
    waiting: bool,
}

impl Live {
    /// The run that these news tell the beginning of.
    pub fn beginning(news: &News) -> Option<Self> {
        let News::Run(Event::Prepared(prepared)) = news else {
            return None;
        };
        let account = &prepared.conversion;
        let converted = account.converted.iter();
        let converted = converted.map(|one| (one.path.clone(), one.shape.clone()));
        let points = account.left_alone.iter();
        let points = points.map(|(path, _)| (path.clone(), Vec::new()));
        Some(Self {
            layers: converted.chain(points).collect(),
            step: prepared.position.step,
            phase: Phase::Preparing,
            over: false,
            asked: None,
            waiting: false,
        })
    }

    /// Follows the run; returns the layer that it was asked for.
    pub fn on_news(&mut self, news: &News) -> Option<LayerPosterior> {
        match news {
            News::Run(Event::Phase { phase }) => {
                // What was asked during another phase may never be answered.
                (self.phase, self.waiting) = (*phase, false);
            }
            News::Run(Event::Progress(progress)) => self.step = progress.position.step,
            News::Ended { .. } => self.over = true,
            News::Run(Event::Layer(layer)) => {
                self.waiting = false;
                return Some((**layer).clone());
            }
            _ => {}
        }
        None
    }

    /// Whether there is more to come than the file of the result.
    pub fn goes_on(&self) -> bool {
        !self.over
    }

    pub fn first(&self) -> Option<String> {
        self.layers.first().map(|(path, _)| path.clone())
    }

    pub fn layers(&self) -> &[(String, Vec<usize>)] {
        &self.layers
    }

    pub fn in_words(&self) -> String {
        match self.phase {
            Phase::Training => format!("The run as it is now, after step {}", self.step),
            Phase::Paused => format!("The run, paused after step {}", self.step),
            _ if self.over => "The run as it ended".to_owned(),
            _ => "The run that goes on".to_owned(),
        }
    }

    /// Asks for a layer when it is time; only while it learns does the run answer.
    pub fn ask(&mut self, ui: &Ui, path: Option<&str>, wishes: &mut Vec<Wish>) {
        let (Some(path), Phase::Training | Phase::Paused) = (path, self.phase) else {
            return;
        };
        let now = ui.input(|input| input.time);
        let due = match &self.asked {
            Some((when, asked)) => asked != path || (!self.waiting && now - when > BETWEEN_LOOKS),
            None => true,
        };
        if due {
            self.asked = Some((now, path.to_owned()));
            self.waiting = true;
            wishes.push(Wish::Tell(Command::ShowLayer(path.to_owned())));
        }
    }
}
