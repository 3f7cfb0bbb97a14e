//! What the number with which the program ends means.

use bayesadapter::session::SessionError;
use std::process::ExitCode;

/// Stopped by Ctrl-C: 128 and the number of the signal, as shells have it.
pub const INTERRUPTED: u8 = 130;

const FAILED: u8 = 1;
const INPUT: u8 = 3;
const NOT_FINITE: u8 = 4;
const DEVICE: u8 = 5;
const FILE: u8 = 6;

/// Input of a command that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// An error with its causes, each said once: most errors of the library name their cause themselves.
pub fn in_words(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

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

#[cfg(test)]
mod tests {
    use super::in_words;
    use anyhow::Context;

    #[test]
    fn a_cause_is_said_once() {
        let error = std::io::Error::other("no such folder");
        let error = anyhow::Error::new(error).context("pictures cannot be read: no such folder");
        let error = Err::<(), _>(error)
            .context("the run cannot start")
            .unwrap_err();
        let text = "the run cannot start: pictures cannot be read: no such folder";
        assert_eq!(in_words(&error), text);
    }
}
