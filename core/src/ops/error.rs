//! What can be wrong with the arguments of an op.

use bayesadapter_shaders::GeometryError;
use burn::tensor::DType;

/// Why an op was refused. Nothing has been computed or launched when one is returned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// The sizes do not describe a linear map.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A tensor does not have the shape that the others imply.
    #[error("{what} has shape {found:?}, but {expected:?} is needed here")]
    Shape {
        /// Which tensor.
        what: &'static str,
        /// What is needed.
        expected: Vec<usize>,
        /// What it is.
        found: Vec<usize>,
    },
    /// Only f32 is computed.
    #[error(
        "{what} is {found:?}; the exemplar ops compute in f32, cast it with `.cast(DType::F32)`"
    )]
    DType {
        /// Which tensor.
        what: &'static str,
        /// What it is.
        found: DType,
    },
    /// All tensors of one op live on one device.
    #[error("{what} is on {found}, but x is on {expected}; move it with `.to_device(..)`")]
    Device {
        /// Which tensor.
        what: &'static str,
        /// What is needed.
        expected: String,
        /// What it is.
        found: String,
    },
    /// One index per example is needed.
    #[error("{found} indices were given for {expected} examples")]
    IndexLength {
        /// Number of examples.
        expected: usize,
        /// Number of indices.
        found: usize,
    },
    /// An index points past the last weight or component.
    #[error("index[{position}] = {slot}, but there are only {count} to choose from (0..{count})")]
    Index {
        /// Which index.
        position: usize,
        /// Its value.
        slot: u32,
        /// How many there are.
        count: usize,
    },
    /// There is nothing to compute.
    #[error("{what} is empty; at least one is needed")]
    Empty {
        /// What there is none of.
        what: &'static str,
    },
    /// A tensor is larger than the adapter can bind.
    #[error(
        "{what} needs {bytes} bytes, but this adapter binds at most {limit}; use a smaller batch or the CPU device"
    )]
    Limit {
        /// Which tensor.
        what: &'static str,
        /// Bytes that it would take.
        bytes: u64,
        /// The most that the adapter binds.
        limit: u64,
    },
}
