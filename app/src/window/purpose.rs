//! What the user is asked for.

use super::{errand::Parcel, judging::Case};

/// What a path is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// A posterior file to open.
    Posterior,
    /// The folder that new runs go to.
    RunsFolder,
    /// The folder of a run to look at, or to go on with.
    Run,
    /// A run file.
    Settings,
    Weights,
    DataFolder,
    DataArchive,
    /// A folder of pictures of another kind.
    Strangers,
    /// A run to compare with others.
    CompareRun,
    ComparePosterior,
    /// A folder of pictures that a posterior file is judged on.
    JudgeOn(Case),
    /// A folder of pictures of another kind, for the same.
    JudgeWith(Case),
    /// Where something is saved.
    Save(Parcel),
}
