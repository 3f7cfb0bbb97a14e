//! What panels are told, and what they ask for.

use super::{
    album::{Album, TestData, Wanted},
    compare::Comparison,
    errand::Errand,
    judging::{Case, Judgement},
    purpose::Purpose,
    sort::Found,
    survey::{Estimated, Survey},
    worker::{Answer, Question, View},
};
use bayesadapter::{
    evaluate::LayerPosterior,
    session::{Command, DeviceChoice, Ending, Event, Method, RunSettings, Scrub, Scrubbed},
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
    Began {
        method: Method,
        folder: PathBuf,
        /// What it is judged on.
        data: TestData,
    },
    /// The run says something.
    Run(Event),
    /// The run ended; an error says what to do.
    Ended {
        method: Method,
        ending: Result<Ending, String>,
    },
    /// The user told the runs to stop.
    Stopping,
    /// All runs are done, or could not begin.
    Over(Result<(), String>),
    /// A posterior file was opened.
    Opened(Arc<View>),
    /// The user asked for the file that was opened last, and wants to see it rather than a run.
    FileWanted,
    /// The layer that was asked for.
    Layer(Arc<LayerPosterior>),
    /// The network out of the posterior that was asked for.
    Scrubbed(Arc<Scrubbed>),
    /// The test pictures that were asked for.
    Pictures(Arc<Album>),
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
    Compared(Comparison),
    /// The network of this posterior file is being judged.
    Judging(PathBuf),
    /// How far that is.
    JudgeSays(Event),
    /// It came to its end, one way or the other.
    JudgingOver,
    /// What the network is worth.
    Judged(Box<Judgement>),
    /// A file was written.
    Saved {
        path: PathBuf,
        /// The user wants to see it at once.
        show: bool,
    },
    /// A file could not be written.
    NotSaved(String),
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
    /// That the user reads this.
    Complain(String),
    /// Something for the worker.
    Do(Errand),
    /// What the network of a posterior file is worth.
    Judge(Case),
    /// That it is not judged any more.
    StopJudging,
    /// This posterior file.
    Open(PathBuf),
    /// Something for the run.
    Tell(Command),
    /// What a parameter of the file looks like, by path.
    Layer(String),
    /// What a network out of the posterior of the file looks like, and says.
    Scrub(Scrub),
    /// Test pictures.
    Pictures(Wanted),
    /// What the network says of a picture.
    Ask(Question),
}
