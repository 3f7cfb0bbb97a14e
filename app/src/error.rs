//! What went wrong, in words.

/// Input that cannot be used.
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
