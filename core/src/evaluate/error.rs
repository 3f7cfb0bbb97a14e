//! Why there is no evaluation.

use crate::{metrics::MetricError, predict::PredictError};

/// Why there is no evaluation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// Nothing was added.
    #[error("there are no test examples, so there is nothing to evaluate")]
    Empty,
    /// The network has another number of classes than there are names.
    #[error("the network tells {found} classes apart, but {names} class names were given")]
    Classes {
        /// Names that were given.
        names: usize,
        /// Classes of the network.
        found: usize,
    },
    /// A batch cannot be measured.
    #[error("in the batch that begins with example {first}: {reason}")]
    Batch {
        /// Its first example; examples count from zero.
        first: usize,
        /// What is wrong.
        reason: MetricError,
    },
    /// Some predictions come from the mean network and some from draws, whose uncertainties cannot be
    /// compared.
    #[error(
        "some batches were predicted by the mean network and others with draws; evaluate them apart"
    )]
    MeanAndDraws,
    /// One evaluation looks at one set of data from elsewhere.
    #[error(
        "out-of-distribution data of {first:?} were added already; evaluate {second:?} on its own"
    )]
    SecondName {
        /// The name that came first.
        first: String,
        /// The name that came now.
        second: String,
    },
    /// A measure is not defined.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The network failed.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// The data could not be read.
    #[error("the test data could not be read: {0}")]
    Data(Box<dyn std::error::Error + Send + Sync>),
    /// The network has no such convolution.
    #[error("{path} is no convolution kernel of this network; it has: {there}")]
    NoKernel {
        /// What was asked for.
        path: String,
        /// The kernels that there are.
        there: String,
    },
    /// The network has no such parameter.
    #[error("{path} is no parameter of this network; `bayesadapter inspect` lists them")]
    NoLayer {
        /// What was asked for.
        path: String,
    },
    /// The device failed.
    #[error("reading from the device failed: {0}")]
    Device(String),
}
