//! What went wrong.

/// Input that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// Says which place the system refused to write.
#[cfg(not(target_family = "wasm"))]
pub fn unwritable(
    path: &std::path::Path,
) -> impl FnOnce(std::io::Error) -> bayesadapter::file::FileError {
    let path = path.display().to_string();
    move |error| bayesadapter::file::FileError::Io { path, error }
}
