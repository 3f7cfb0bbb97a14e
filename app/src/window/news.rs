//! What panels are told, and what they ask for.

use super::worker::{Answer, Question, Scrub, Scrubbed, View};
use bayesadapter::{
    data::Picture,
    evaluate::LayerPosterior,
    session::{Command, Ending, Event, Method},
};
use std::{path::PathBuf, sync::Arc};

/// What happened: in a run, or to what was asked of the worker.
pub enum News {
    /// Runs were asked for; the device, weights and data are opened.
    Starting,
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
    /// What was asked for could not be done.
    Refused(String),
}

/// What the user asks for.
pub enum Wish {
    /// The digits demo: ordinary training, then this method.
    Demo(Method),
    /// The demo where it was stopped.
    Continue,
    /// A dialog for a posterior file.
    ChooseFile,
    /// A dialog for the folder of the runs.
    ChooseFolder,
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
