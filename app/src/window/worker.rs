//! One thread for what takes longer than a frame: files, layers, pictures, predictions.
//!
//! Of each kind of request the latest counts: a newer one takes the place of one that waits.

use super::{computer::Computer, desk::Desk, errand::Errand, news::News};
use crate::cli::exit::in_words;
use bayesadapter::{
    data::Picture,
    evaluate::{Evaluation, KernelPosterior, LayerPosterior},
    posterior::Summary,
    session::{HistoryRow, Method},
};
use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, sync_channel},
    },
};

/// A posterior file, as panels show it.
#[derive(Clone)]
pub struct View {
    pub path: PathBuf,
    pub method: Method,
    /// The network, the posterior and its prior in one sentence.
    pub about: String,
    /// Channels, height and width of the pictures that the network takes, if the file says so.
    pub input_shape: Option<[usize; 3]>,
    /// Every parameter in a few numbers.
    pub summaries: Vec<Summary>,
    /// How far each parameter is from the start of the run, by path; empty if the start is not there any more.
    pub movements: BTreeMap<String, f64>,
    /// Of the first parameter.
    pub layer: Option<LayerPosterior>,
    /// Of the run that the file lies in, if it does.
    pub evaluations: Vec<Evaluation>,
    /// Of the same run.
    pub history: Vec<HistoryRow>,
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
}

/// A network out of the posterior to look at: a draw, or the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Scrub {
    pub draw: Option<u32>,
    /// Path of the layer that is shown.
    pub layer: String,
}

/// What that network looks like, and says.
#[derive(Clone)]
pub struct Scrubbed {
    pub scrub: Scrub,
    /// Of the layer, if it is a convolution.
    pub kernels: Option<KernelPosterior>,
    /// What it says of a few test pictures.
    pub answers: Vec<Glimpse>,
}

/// What one network says of a test picture.
#[derive(Clone)]
pub struct Glimpse {
    pub picture: Picture,
    pub truth: String,
    pub said: String,
    pub probability: f32,
}

/// Requests that wait, one of a kind.
#[derive(Default)]
pub struct Mail {
    pub open: Option<PathBuf>,
    pub layer: Option<String>,
    pub scrub: Option<Scrub>,
    pub pictures: Option<Vec<usize>>,
    pub question: Option<Question>,
    errands: VecDeque<Errand>,
    busy: bool,
    closed: bool,
}

impl Mail {
    fn is_empty(&self) -> bool {
        self.open.is_none()
            && self.layer.is_none()
            && self.scrub.is_none()
            && self.pictures.is_none()
            && self.question.is_none()
            && self.errands.is_empty()
    }

    /// Adds an errand, in the place of those that it replaces.
    pub fn add(&mut self, errand: Errand) {
        self.errands.retain(|waiting| !errand.replaces(waiting));
        self.errands.push_back(errand);
    }

    /// The next request; a new file comes first, since the others are about it.
    fn take(&mut self) -> Option<Request> {
        let open = self.open.take().map(Request::Open);
        let layer = |mail: &mut Self| mail.layer.take().map(Request::Layer);
        let scrub = |mail: &mut Self| mail.scrub.take().map(Request::Scrub);
        let pictures = |mail: &mut Self| mail.pictures.take().map(Request::Pictures);
        open.or_else(|| layer(self))
            .or_else(|| scrub(self))
            .or_else(|| pictures(self))
            .or_else(|| self.question.take().map(Request::Ask))
            .or_else(|| self.errands.pop_front().map(Request::Do))
    }
}

/// One thing to do.
pub enum Request {
    Open(PathBuf),
    Layer(String),
    Scrub(Scrub),
    Pictures(Vec<usize>),
    Ask(Question),
    Do(Errand),
}

#[derive(Default)]
struct Shared {
    mail: Mutex<Mail>,
    changed: Condvar,
}

impl Shared {
    /// A panic of the thread leaves no letter half-written.
    fn lock(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a request; nothing when the window is closed.
    fn next(&self) -> Option<Request> {
        let mut mail = self.lock();
        mail.busy = false;
        loop {
            if mail.closed {
                return None;
            }
            if let Some(request) = mail.take() {
                mail.busy = true;
                return Some(request);
            }
            let waited = self.changed.wait(mail);
            mail = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The window's end.
pub struct Worker {
    shared: Arc<Shared>,
    news: Receiver<News>,
}

impl Worker {
    pub fn new(computer: Computer) -> Self {
        let shared = Arc::new(Shared::default());
        let (tell, news) = sync_channel(8);
        let mail = Arc::clone(&shared);
        std::thread::spawn(move || {
            let mut desk = Desk::new(computer);
            while let Some(request) = mail.next() {
                let found = desk.handle(request);
                let found = found.unwrap_or_else(|error| News::Refused(in_words(&error)));
                if tell.send(found).is_err() {
                    return;
                }
            }
        });
        Self { shared, news }
    }

    /// Puts requests in the place of those of the same kind that wait.
    pub fn ask(&self, write: impl FnOnce(&mut Mail)) {
        write(&mut self.shared.lock());
        self.shared.changed.notify_all();
    }

    /// Opens a file. What waits is about the one before, and is dropped.
    pub fn open(&self, path: PathBuf) {
        self.ask(|mail| {
            (mail.layer, mail.scrub) = (None, None);
            (mail.pictures, mail.question) = (None, None);
            mail.open = Some(path);
        });
    }

    /// Whether something is to come.
    pub fn is_busy(&self) -> bool {
        let mail = self.shared.lock();
        mail.busy || !mail.is_empty()
    }

    /// What came since the last call.
    pub fn poll(&self) -> Vec<News> {
        self.news.try_iter().collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }
}
