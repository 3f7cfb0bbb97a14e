//! Why a network could not be converted.

use burn::tensor::DType;

/// Why a network could not be converted. The network given is left as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// A setting makes no sense.
    #[error("{what} is {value}, but must be {need}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        need: &'static str,
    },
    /// The selection names nothing that can be converted.
    #[error("no parameter was converted: {reason}. The network has: {paths}")]
    Nothing {
        /// Why.
        reason: String,
        /// The paths that there are, the first few.
        paths: String,
    },
    /// Attached posteriors do not nest.
    #[error(
        "{path} has a reparameterization already; convert the network only once, or call `at_mean()` first"
    )]
    Converted {
        /// Path of the parameter.
        path: String,
    },
    /// Posteriors are drawn in f32.
    #[error(
        "{path} is {found:?}, but posteriors are drawn in f32; first convert the weights with \
         `param.map(|value| value.cast(DType::F32))` in a `ModuleMapper`, or leave this one out of the selection"
    )]
    DType {
        /// Path of the parameter.
        path: String,
        /// What it is.
        found: DType,
    },
}
