//! Numbers from a device.

use crate::{
    checkpoint::{CheckpointError, CheckpointProblem},
    evaluate::EvaluateError,
    file::FileError,
    pass::PassError,
    predict::PredictError,
};
use burn::tensor::Tensor;

/// What a device said instead of giving a number.
pub(crate) struct ReadError(String);

/// The elements of a float tensor, row by row, without blocking.
pub(crate) async fn values<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, ReadError> {
    let failed = |error: &dyn std::fmt::Display| ReadError(in_a_line(&error.to_string()));
    let data = tensor.into_data_async().await;
    let data = data.map_err(|error| failed(&error))?;
    data.try_into_vec().map_err(|error| failed(&error))
}

/// What went wrong and why, of a text that gives causes and backtraces lines of their own.
pub(crate) fn in_a_line(text: &str) -> String {
    let causes = text.lines().map(|line| line.trim().trim_end_matches('.'));
    let causes = causes.take_while(|line| !line.starts_with("Backtrace:"));
    let mut causes: Vec<&str> = causes
        .filter(|line| !line.is_empty() && *line != "Caused by:")
        .collect();
    causes.dedup();
    causes.join(": ")
}

impl From<ReadError> for PassError {
    fn from(ReadError(text): ReadError) -> Self {
        Self::Read(text)
    }
}

impl From<ReadError> for FileError {
    fn from(ReadError(text): ReadError) -> Self {
        Self::Device(text)
    }
}

impl From<ReadError> for PredictError {
    fn from(ReadError(text): ReadError) -> Self {
        Self::Device(text)
    }
}

impl From<ReadError> for EvaluateError {
    fn from(ReadError(text): ReadError) -> Self {
        Self::Device(text)
    }
}

impl From<ReadError> for CheckpointError {
    fn from(ReadError(text): ReadError) -> Self {
        Self::in_file(None, CheckpointProblem::Write(text))
    }
}

#[cfg(test)]
mod tests {
    use super::in_a_line;

    #[test]
    fn causes_are_told_once_and_in_a_line() {
        let told = "The device is poisoned\nCaused by:\n  The device is poisoned\nCaused by:\n  It is gone.\n\
                    Backtrace:\nNo backtrace available";
        assert_eq!(in_a_line(told), "The device is poisoned: It is gone");
    }
}
