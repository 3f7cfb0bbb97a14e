//! The page in a real browser.

use crate::{
    process::{executable, run},
    serve::Server,
    setup::BrowserTools,
    workspace::Workspace,
};
use anyhow::Result;
use std::{path::Path, process::Command, thread};

/// Serves the page and lets the driver judge it, with the native program beside it. Pictures are left in
/// `target/browser`.
pub fn test(workspace: &Workspace, tools: &BrowserTools, page: &Path) -> Result<()> {
    let server = Server::bind(0, page)?;
    let url = server.url();
    // It ends with the process, which ends with the tests.
    thread::spawn(move || server.run());
    run(Command::new(&tools.node)
        .arg(&tools.driver)
        .arg(&tools.chromium)
        .arg(url)
        .arg(executable(
            &workspace.target.join("release"),
            "bayesadapter",
        ))
        .arg(page.join("demo"))
        .arg(workspace.root.join("tests/golden")))
}
