//! What went wrong.

/// Input that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);
