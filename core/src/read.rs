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
    let failed = |error: &dyn std::fmt::Display| ReadError(error.to_string());
    let data = tensor.into_data_async().await;
    let data = data.map_err(|error| failed(&error))?;
    data.try_into_vec().map_err(|error| failed(&error))
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
