//! What the number with which the program ends means.

pub use crate::error::BadInput;
use bayesadapter::session::SessionError;
use std::process::ExitCode;

/// Stopped by Ctrl-C: 128 and the number of the signal, as shells have it.
pub const INTERRUPTED: u8 = 130;

const FAILED: u8 = 1;
const INPUT: u8 = 3;
const NOT_FINITE: u8 = 4;
const DEVICE: u8 = 5;
const FILE: u8 = 6;

/// The exit code for an error.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    let code = match error.downcast_ref::<SessionError>() {
        Some(SessionError::NotFinite { .. }) => NOT_FINITE,
        Some(SessionError::Device { .. }) => DEVICE,
        Some(SessionError::File(_) | SessionError::Folder { .. }) => FILE,
        Some(SessionError::Step { .. } | SessionError::Evaluate(_)) => FAILED,
        Some(_) => INPUT,
        None if error.is::<BadInput>() => INPUT,
        None => FAILED,
    };
    ExitCode::from(code)
}
