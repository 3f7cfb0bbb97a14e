//! What is asked of the worker, which does what takes longer than a frame.
//!
//! Requests about the posterior that is open are answered while errands are run, and errands that take moments while
//! one goes on that takes minutes. Of each kind of request the latest counts: a newer one takes the place of one that
//! waits.

use super::{
    album::{TestData, Wanted},
    errand::Errand,
};
use bayesadapter::{
    data::Picture,
    evaluate::{Evaluation, LayerPosterior},
    posterior::Summary,
    session::{HistoryRow, Method, Scrub},
};
use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::Arc,
};

/// A posterior file, as panels show it.
#[derive(Clone, Default)]
pub struct View {
    pub path: PathBuf,
    pub method: Method,
    /// What the network is called in its evaluations.
    pub name: String,
    /// The network, the posterior and its prior in one sentence.
    pub about: String,
    /// Channels, height and width of the pictures that the network takes, if the file says so.
    pub input_shape: Option<[usize; 3]>,
    /// How many networks there are to draw, if there is an end to them.
    pub different_draws: Option<u32>,
    /// Every parameter in a few numbers.
    pub summaries: Vec<Summary>,
    /// How far each parameter is from the start of the run, by path; empty if the start is not there any more.
    pub movements: BTreeMap<String, f64>,
    /// Of the first parameter.
    pub layer: Option<Arc<LayerPosterior>>,
    /// Of the run that the file lies in, if it does.
    pub evaluations: Vec<Evaluation>,
    /// Of the same run.
    pub history: Vec<HistoryRow>,
    /// Pictures that a step of the run learnt from, if the file says so.
    pub pictures_per_step: Option<usize>,
    /// What the network is judged on, if the file says so.
    pub data: Option<TestData>,
    /// What belongs to the file and cannot be read, and why.
    pub remarks: Vec<String>,
}

/// A picture to predict.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    Drawn(Picture),
    Pasted(Picture),
    File(PathBuf),
}

/// What a network says of a picture.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Where the picture comes from.
    pub question: Question,
    pub picture: Picture,
    /// Name, mean probability and standard deviation over the draws, of each class.
    pub classes: Vec<(String, f64, f64)>,
    /// The probabilities of every draw, `[draws, classes]`.
    pub draw_probabilities: Vec<f32>,
    pub draws: usize,
    /// In nats, as the two below.
    pub mutual_information: f64,
    pub entropy: f64,
    pub aleatoric_entropy: f64,
    /// What the pre-trained network that the posterior started from says, and its confidence, if it is still there.
    pub start: Option<(String, f64)>,
    /// Classes that it may be with the coverage in front, from the most probable on, if the file has a calibration.
    pub prediction_set: Option<(f64, Vec<String>)>,
}

/// Requests that wait, one of a kind.
#[derive(Default)]
pub struct Mail {
    pub open: Option<PathBuf>,
    pub layer: Option<String>,
    pub scrub: Option<Scrub>,
    pub pictures: Option<Wanted>,
    pub question: Option<Question>,
    errands: VecDeque<Errand>,
}

impl Mail {
    pub fn is_empty(&self) -> bool {
        self.open.is_none()
            && self.layer.is_none()
            && self.scrub.is_none()
            && self.pictures.is_none()
            && self.question.is_none()
            && self.errands.is_empty()
    }

    /// Asks for a file. What waits is about the one before, and is dropped.
    pub fn open(&mut self, path: PathBuf) {
        (self.layer, self.scrub) = (None, None);
        (self.pictures, self.question) = (None, None);
        self.open = Some(path);
    }

    /// Adds an errand, in the place of those that it replaces.
    pub fn add(&mut self, errand: Errand) {
        self.errands.retain(|waiting| !errand.replaces(waiting));
        self.errands.push_back(errand);
    }

    /// The next request about the posterior; a new file comes first, since the others are about it.
    pub fn take_request(&mut self) -> Option<Request> {
        let open = self.open.take().map(Request::Open);
        let layer = |mail: &mut Self| mail.layer.take().map(Request::Layer);
        let scrub = |mail: &mut Self| mail.scrub.take().map(Request::Scrub);
        let pictures = |mail: &mut Self| mail.pictures.take().map(Request::Pictures);
        open.or_else(|| layer(self))
            .or_else(|| scrub(self))
            .or_else(|| pictures(self))
            .or_else(|| self.question.take().map(Request::Ask))
    }

    /// The next errand; one that takes long waits for the others.
    #[cfg(target_family = "wasm")]
    pub fn take_errand(&mut self) -> Option<Errand> {
        self.take_quick().or_else(|| self.take_long())
    }

    /// The next errand that takes moments.
    pub fn take_quick(&mut self) -> Option<Errand> {
        self.take_where(|errand| !errand.takes_long())
    }

    /// The next errand that may take minutes.
    pub fn take_long(&mut self) -> Option<Errand> {
        self.take_where(Errand::takes_long)
    }

    fn take_where(&mut self, suits: impl Fn(&Errand) -> bool) -> Option<Errand> {
        let at = self.errands.iter().position(suits)?;
        self.errands.remove(at)
    }
}

/// One thing to answer.
pub enum Request {
    Open(PathBuf),
    Layer(String),
    Scrub(Scrub),
    Pictures(Wanted),
    Ask(Question),
}
