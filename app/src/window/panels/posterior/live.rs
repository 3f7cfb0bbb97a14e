//! A run that goes on, asked for one layer and one draw at a time.

use super::{
    super::{News, Wish},
    scrubber::Scrubber,
};
use bayesadapter::{
    evaluate::LayerPosterior,
    session::{Command, Event, Phase, Scrub},
};
use egui::Ui;
use std::sync::Arc;

/// Seconds between two looks: often enough to see it move, seldom enough not to hold up the run.
const BETWEEN_LOOKS: f64 = 0.6;

/// What is known of the run.
pub struct Live {
    /// Paths and shapes of its parameters; of a point, the shape is not told.
    layers: Vec<(String, Vec<usize>)>,
    /// How many networks there are to draw, if there is an end to them.
    different_draws: Option<u32>,
    step: usize,
    phase: Phase,
    over: bool,
    layer: Asked<String>,
    draw: Asked<Scrub>,
    pub scrubber: Scrubber,
}

/// What the run is asked for again and again.
struct Asked<T> {
    /// When it was last asked, after which step, and for which.
    last: Option<(f64, usize, T)>,
    waiting: bool,
}

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Self {
            last: None,
            waiting: false,
        }
    }
}

impl<T: PartialEq> Asked<T> {
    /// Whether it is time to ask for this one: another than before, or an answer that is old by now.
    fn is_due(&self, now: f64, step: usize, which: &T) -> bool {
        let Some((when, after, last)) = &self.last else {
            return true;
        };
        let old = *after != step && now - when > BETWEEN_LOOKS;
        last != which || (old && !self.waiting)
    }
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
            different_draws: prepared.different_draws,
            step: prepared.position.step,
            phase: Phase::Preparing,
            over: false,
            layer: Asked::default(),
            draw: Asked::default(),
            scrubber: Scrubber::default(),
        })
    }

    /// Follows the run; returns the layer that it was asked for.
    pub fn on_news<'a>(&mut self, news: &'a News) -> Option<&'a LayerPosterior> {
        match news {
            News::Run(Event::Phase { phase }) => {
                self.phase = *phase;
                // What was asked during another phase may never be answered.
                (self.layer, self.draw) = (Asked::default(), Asked::default());
            }
            News::Run(Event::Progress(progress)) => self.step = progress.position.step,
            News::Ended { .. } => self.over = true,
            News::Run(Event::Layer(layer)) => {
                self.layer.waiting = false;
                return Some(layer);
            }
            News::Run(Event::Draw(drawn)) => {
                self.draw.waiting = false;
                self.scrubber.take(Arc::new((**drawn).clone()));
            }
            _ => {}
        }
        None
    }

    /// Whether there is more to come than the file of the result.
    pub fn goes_on(&self) -> bool {
        !self.over
    }

    /// Only while it learns, or could, does the run answer.
    fn answers(&self) -> bool {
        matches!(self.phase, Phase::Training | Phase::Paused)
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

    /// Asks for a layer when it is time.
    pub fn ask(&mut self, ui: &Ui, path: Option<&str>, wishes: &mut Vec<Wish>) {
        let Some(path) = path.filter(|_| self.answers()).map(str::to_owned) else {
            return;
        };
        let now = ui.input(|input| input.time);
        if self.layer.is_due(now, self.step, &path) {
            wishes.push(Wish::Tell(Command::ShowLayer(path.clone())));
            self.layer = Asked {
                last: Some((now, self.step, path)),
                waiting: true,
            };
        }
    }

    /// A slider from draw to draw; asks for the one that it stands at when it is time.
    pub fn scrub(&mut self, ui: &mut Ui, layer: &str, wishes: &mut Vec<Wish>) {
        let answers = self.answers();
        let slider = |ui: &mut Ui| self.scrubber.slider(ui, self.different_draws, layer);
        let scrub = ui.add_enabled_ui(answers, slider).inner;
        let now = ui.input(|input| input.time);
        if answers && self.draw.is_due(now, self.step, &scrub) {
            wishes.push(Wish::Tell(Command::ShowDraw(scrub.clone())));
            self.draw = Asked {
                last: Some((now, self.step, scrub)),
                waiting: true,
            };
        }
    }
}
