//! Compiling for the browser. There is no clippy for its target, so tests take the compiler's own warnings for errors.

use crate::process::lines;
use anyhow::{Result, ensure};
use serde::Deserialize;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A line of what cargo tells, as far as it is of interest here.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    manifest_path: PathBuf,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

/// What becomes of a build of which the compiler warns. A later compiler may warn of what this one does not, and that
/// is no reason to keep the page from its users.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Warnings {
    Print,
    Refuse,
}

/// Runs a build of cargo, and prints warnings. Those about packages below `root` may be refused. (A flag of the
/// compiler that denies them would compile all else anew.)
pub fn run(build: &mut Command, root: &Path, warnings: Warnings) -> Result<()> {
    let mut warned = false;
    lines(build.arg("--message-format=json"), |line| {
        if let Some((text, own_warning)) = diagnostic(line, root) {
            eprint!("{text}");
            warned |= own_warning;
        }
    })?;
    ensure!(
        warnings == Warnings::Print || !warned,
        "the page compiles with the warnings above"
    );
    Ok(())
}

/// What the compiler says in a line of cargo's, and whether it warns of a package below `root`.
fn diagnostic(line: &str, root: &Path) -> Option<(String, bool)> {
    let line: Line = serde_json::from_str(line).ok()?;
    let Diagnostic { level, rendered } = line.message?;
    let own_warning = level == "warning" && line.manifest_path.starts_with(root);
    Some((rendered.unwrap_or_default(), own_warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_about_packages_of_the_workspace_count() {
        let root = Path::new("/home/me/project");
        let line = |package: &str, level: &str| {
            let message = serde_json::json!({ "level": level, "rendered": "unused", "spans": [] });
            let line = serde_json::json!({
                "reason": "compiler-message",
                "manifest_path": format!("{package}/Cargo.toml"),
                "message": message,
            });
            diagnostic(&line.to_string(), root).map(|(_, own)| own)
        };
        assert_eq!(line("/home/me/project/core", "warning"), Some(true));
        assert_eq!(line("/home/me/project/core", "note"), Some(false));
        assert_eq!(line("/usr/src/rust/library/std", "warning"), Some(false));
        let artifact =
            r#"{"reason":"compiler-artifact","manifest_path":"/home/me/project/core/Cargo.toml"}"#;
        assert!(diagnostic(artifact, root).is_none());
        assert!(diagnostic("not of cargo", root).is_none());
    }
}
