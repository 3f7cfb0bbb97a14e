//! Running other programs, with errors that say what was run.

use anyhow::{Context, Result, bail};
use std::{
    env,
    ffi::OsStr,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The cargo that started us, so that one toolchain does everything. What it told us of our own package it is not told
/// in turn: build scripts that look for that would run again, and minutes of compilation with them.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        let is_of_package = |name: &str| of_package.iter().any(|start| name.starts_with(start));
        if name.to_str().is_some_and(is_of_package) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Prints the command and runs it with our input and output; anything but success is an error.
pub fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// As [`run`], with every line of the output given to `each` as it comes.
pub fn lines(command: &mut Command, mut each: impl FnMut(&str)) -> Result<()> {
    println!("$ {}", shown(command));
    let started = command.stdout(Stdio::piped()).spawn();
    let mut child = started.with_context(|| format!("cannot start `{}`", shown(command)))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            each(&line?);
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Standard output of a command that must succeed. Its complaints stay visible.
pub fn output(command: &mut Command) -> Result<String> {
    let result = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !result.status.success() {
        bail!("`{}` failed ({})", shown(command), result.status);
    }
    String::from_utf8(result.stdout)
        .with_context(|| format!("`{}` wrote something that is not text", shown(command)))
}

/// Standard output of a command used as a question: none if it is missing or fails.
pub fn answer(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let result = Command::new(program)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !result.status.success() {
        return None;
    }
    String::from_utf8(result.stdout).ok()
}

/// The first of `names` that is an executable on the search path.
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| executable(folder, name)))
        .find(|candidate| candidate.is_file())
}

/// `name` in `folder`, with the ending that programs have on this system.
pub fn executable(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// The command as one would type it: paths of programs shortened to their names.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
