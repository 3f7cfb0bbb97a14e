//! Clippy without a second build of the dependencies.

use crate::{
    process::{cargo, run},
    workspace::Workspace,
};
use anyhow::Result;

/// Lints every target with warnings denied.
///
/// `cargo clippy` is a `cargo check`: its dependencies share nothing with those of a build, and going through burn,
/// cubecl, wgpu and egui once more takes 6.5 minutes of processor time. Instead clippy compiles the workspace's
/// crates inside an ordinary release build, whose dependencies the tests then reuse. The crates are small; not
/// optimising them leaves little beyond the lints.
pub fn run_clippy(workspace: &Workspace) -> Result<()> {
    let mut build = cargo();
    build
        .args(["build", "--release", "--workspace", "--all-targets"])
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        // The way `cargo clippy -- -D warnings` hands arguments to the driver.
        .env("CLIPPY_ARGS", "-Dwarnings");
    for member in workspace.members() {
        let setting = format!("profile.release.package.{}.opt-level=0", member.name);
        build.args(["--config", &setting]);
    }
    run(&mut build)
}
