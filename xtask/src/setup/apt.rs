//! System packages on Debian and its relatives.

use crate::process::{answer, find, run};
use anyhow::{Result, bail};
use std::process::Command;

/// Installs the packages as root, or stops with the command that does.
pub fn ensure(packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if find(&["apt-get"]).is_none() {
        bail!(
            "this system has no apt-get; install the equivalents of these Debian packages and try \
             again: {list}"
        );
    }
    if !is_root() {
        bail!(
            "system packages are missing; run this and try again:\n  sudo apt-get update && sudo \
             apt-get install --yes --no-install-recommends {list}"
        );
    }
    run(Command::new("apt-get").arg("update").arg("--quiet"))?;
    run(Command::new("apt-get")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["install", "--yes", "--quiet", "--no-install-recommends"])
        .args(packages))
}

/// Whether dpkg has the package, fully installed.
pub fn is_installed(package: &str) -> bool {
    answer(
        "dpkg-query",
        &["--show", "--showformat=${db:Status-Status}", package],
    )
    .is_some_and(|status| status == "installed")
}

fn is_root() -> bool {
    answer("id", &["-u"]).is_some_and(|id| id.trim() == "0")
}
