//! What cargo knows about this workspace.

use crate::process::{cargo, output};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::PathBuf;

/// The part of `cargo metadata` that is used here. All paths below the target directory come from
/// it, so that a target directory outside the clone works everywhere.
#[derive(Deserialize)]
pub struct Workspace {
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
    #[serde(rename = "target_directory")]
    pub target: PathBuf,
    #[serde(rename = "workspace_members")]
    members: Vec<String>,
    packages: Vec<Package>,
}

#[derive(Deserialize)]
pub struct Package {
    id: String,
    pub name: String,
    pub version: String,
    pub dependencies: Vec<Dependency>,
}

/// A dependency as a manifest declares it.
#[derive(Deserialize)]
pub struct Dependency {
    pub name: String,
    pub kind: Option<DependencyKind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DependencyKind {
    Dev,
    Build,
}

impl Workspace {
    pub fn load() -> Result<Self> {
        let text = output(cargo().args(["metadata", "--format-version", "1"]))?;
        serde_json::from_str(&text).context("cannot read the output of `cargo metadata`")
    }

    /// The crates of this workspace.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.members.contains(&package.id))
    }

    /// Every package of this name in the lock file.
    pub fn packages<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Package> {
        self.packages
            .iter()
            .filter(move |package| package.name == name)
    }
}
