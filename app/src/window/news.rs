//! What panels are told, and what they ask for.

use super::{
    compare::Compared,
    errand::Errand,
    purpose::Purpose,
    sort::Found,
    survey::{Estimated, Survey},
    worker::{Answer, Question, Scrub, Scrubbed, View},
};
use bayesadapter::{
    data::Picture,
    evaluate::LayerPosterior,
    session::{Command, DeviceChoice, Ending, Event, Method, RunSettings},
};
use std::{path::PathBuf, sync::Arc};

/// What happened: in a run, or to what was asked of the worker.
pub enum News {
    /// Runs were asked for; the device, weights and data are opened.
    Starting {
        /// They have nothing to do with those before.
        anew: bool,
    },
    /// A run begins, or goes on.
    Began { method: Method, folder: PathBuf },
    /// The run says something.
    Run(Event),
    /// The run ended; an error says what to do.
    Ended {
        method: Method,
        ending: Result<Ending, String>,
    },
    /// All runs are done, or could not begin.
    Over(Result<(), String>),
    /// A posterior file was opened.
    Opened(Arc<View>),
    /// The layer that was asked for.
    Layer(Box<LayerPosterior>),
    /// The network out of the posterior that was asked for.
    Scrubbed(Scrubbed),
    /// The test pictures that were asked for, under their positions.
    Pictures(Vec<(usize, Picture)>),
    /// What the network says of a picture.
    Answered(Answer),
    /// A path was chosen in a dialog, or is the one to begin with.
    Chosen(Purpose, PathBuf),
    /// What the files of a run are.
    Surveyed(Box<Survey>),
    /// Memory and time of a run.
    Estimated(Box<Estimated>),
    /// What can compute here.
    Devices(Vec<(DeviceChoice, String)>),
    /// What a file or folder is.
    Sorted(Found),
    /// What the networks of runs are worth.
    Compared(Vec<Compared>),
    /// A file was written.
    Saved {
        path: PathBuf,
        /// The user wants to see it at once.
        show: bool,
    },
    /// What was asked for could not be done.
    Refused(String),
}

/// What the user asks for.
pub enum Wish {
    /// The digits demo: ordinary training, then this method.
    Demo(Method),
    /// A run of the user's own.
    Run(Box<RunSettings>),
    /// The run in a folder, where it was stopped.
    GoOn(PathBuf, Box<RunSettings>),
    /// The last runs where they were stopped.
    Continue,
    /// A page, by its name.
    Show(&'static str),
    /// A dialog for a path.
    Choose(Purpose),
    /// Something for the worker.
    Do(Errand),
    /// This posterior file.
    Open(PathBuf),
    /// Something for the run.
    Tell(Command),
    /// What a parameter of the file looks like, by path.
    Layer(String),
    /// What a network out of the posterior looks like, and says.
    Scrub(Scrub),
    /// Test pictures, by position.
    Pictures(Vec<usize>),
    /// What the network says of a picture.
    Ask(Question),
}
