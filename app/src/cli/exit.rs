//! What the number with which the program ends means.

use super::devices::NoDevice;
pub use crate::error::BadInput;
use bayesadapter::{
    checkpoint::CheckpointError,
    data::DataError,
    evaluate::EvaluateError,
    file::FileError,
    models::{LoadError, ModelError},
    pass::PassError,
    posterior::ConvertError,
    predict::PredictError,
    session::{SessionError, SettingsError},
    train::TrainError,
};
use std::{error::Error, process::ExitCode};

/// Stopped by Ctrl-C: 128 and the number of the signal, as shells have it.
pub const INTERRUPTED: u8 = 130;

const FAILED: u8 = 1;
const INPUT: u8 = 3;
const NOT_FINITE: u8 = 4;
const DEVICE: u8 = 5;
const FILE: u8 = 6;

/// The exit code for an error.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(number_of(error))
}

/// That of the first cause whose kind says something.
fn number_of(error: &anyhow::Error) -> u8 {
    error.chain().find_map(number).unwrap_or(FAILED)
}

/// The table: what each kind of error ends the program with.
fn number(error: &(dyn Error + 'static)) -> Option<u8> {
    fn by<E: Error + 'static>(
        error: &(dyn Error + 'static),
        number: impl FnOnce(&E) -> u8,
    ) -> Option<u8> {
        error.downcast_ref::<E>().map(number)
    }
    by(error, of_session)
        .or_else(|| by(error, of_evaluation))
        .or_else(|| by(error, of_prediction))
        .or_else(|| by(error, of_pass))
        .or_else(|| by(error, of_file))
        .or_else(|| by(error, |_: &NoDevice| DEVICE))
        .or_else(|| by(error, |_: &BadInput| INPUT))
        .or_else(|| by(error, |_: &DataError| INPUT))
        .or_else(|| by(error, |_: &CheckpointError| INPUT))
        .or_else(|| by(error, |_: &LoadError| INPUT))
        .or_else(|| by(error, |_: &ModelError| INPUT))
        .or_else(|| by(error, |_: &ConvertError| INPUT))
        .or_else(|| by(error, |_: &SettingsError| INPUT))
}

fn of_session(error: &SessionError) -> u8 {
    match error {
        SessionError::NotFinite { .. } | SessionError::BadStart { .. } => NOT_FINITE,
        SessionError::Device { .. } => DEVICE,
        SessionError::Folder { .. } | SessionError::NotSaved { .. } => FILE,
        SessionError::File(error) => of_file(error),
        SessionError::Evaluate(error) => of_evaluation(error),
        SessionError::Step { reason: error, .. } | SessionError::Training(error) => {
            of_training(error)
        }
        // Settings, weights and data, which are looked at before anything is computed.
        _ => INPUT,
    }
}

fn of_training(error: &TrainError) -> u8 {
    match error {
        TrainError::Pass(error) => of_pass(error),
        TrainError::File(error) => of_file(error),
        TrainError::Rates(_) | TrainError::Setting { .. } => INPUT,
        _ => FAILED,
    }
}

fn of_evaluation(error: &EvaluateError) -> u8 {
    match error {
        EvaluateError::Data(error) => number(error.as_ref()).unwrap_or(FAILED),
        EvaluateError::Predict(error) => of_prediction(error),
        EvaluateError::Device(_) => DEVICE,
        EvaluateError::Empty
        | EvaluateError::Classes { .. }
        | EvaluateError::NoKernel { .. }
        | EvaluateError::NoLayer { .. } => INPUT,
        _ => FAILED,
    }
}

fn of_prediction(error: &PredictError) -> u8 {
    match error {
        PredictError::Pass(error) => of_pass(error),
        PredictError::Device(_) => DEVICE,
        PredictError::NoExamples | PredictError::NoDraws | PredictError::Tolerance(_) => INPUT,
        _ => FAILED,
    }
}

fn of_pass(error: &PassError) -> u8 {
    match error {
        PassError::Panicked(_) | PassError::Read(_) => DEVICE,
        PassError::Estimator { .. } => INPUT,
        _ => FAILED,
    }
}

fn of_file(error: &FileError) -> u8 {
    match error {
        FileError::Io { .. } => FILE,
        FileError::Device(_) => DEVICE,
        _ => INPUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_keeps_its_number_inside_of_others() {
        let broken = || DataError::Broken {
            name: "x.png".to_owned(),
            reason: "cut short".to_owned(),
        };
        let lost = || PredictError::Device("lost".to_owned());
        let full = || FileError::Io {
            path: "x".to_owned(),
            error: std::io::ErrorKind::StorageFull.into(),
        };
        let judged = SessionError::Evaluate;
        let cases: [(anyhow::Error, u8); 8] = [
            (broken().into(), INPUT),
            (
                judged(EvaluateError::Data(Box::new(broken()))).into(),
                INPUT,
            ),
            (lost().into(), DEVICE),
            (judged(lost().into()).into(), DEVICE),
            (SessionError::from(full()).into(), FILE),
            (NoDevice("no GPU".to_owned()).into(), DEVICE),
            (anyhow::anyhow!("anything"), FAILED),
            (std::io::Error::other("anything").into(), FAILED),
        ];
        for (error, number) in cases {
            assert_eq!(number_of(&error), number, "{error:#}");
            let told = Err::<(), _>(error).context("while something was done");
            assert!(told.is_err_and(|error| number_of(&error) == number));
        }
    }
}
