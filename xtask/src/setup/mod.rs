//! What the checks need beyond cargo: found, installed, or asked for with the exact command.

mod apt;
mod browser;
mod display;
mod libraries;
mod rust;
mod vulkan;
mod wasm;

use crate::workspace::Workspace;
use anyhow::Result;
use std::path::PathBuf;

pub use browser::BrowserTools;
pub use wasm::{TARGET, WasmChoice, WasmToolchain};

/// What a web build needs.
pub struct WebTools {
    pub toolchain: WasmToolchain,
    pub wasm_bindgen: PathBuf,
}

/// What all checks together need.
pub struct Tools {
    pub web: WebTools,
    pub browser: BrowserTools,
}

/// Everything for `cargo xtask test`.
pub fn all(workspace: &Workspace, choice: WasmChoice) -> Result<Tools> {
    rust::ensure_components(&["rustfmt", "clippy"])?;
    let toolchain = wasm::choose(choice)?;
    // One call for all system packages: each costs an update of the package lists.
    let mut packages = vulkan::missing_packages();
    packages.extend(browser::missing_packages());
    packages.extend(display::missing_packages());
    packages.extend(toolchain.missing_packages());
    apt::ensure(&packages)?;
    println!("vulkan: {}", vulkan::require()?);
    let tools = Tools {
        web: WebTools {
            toolchain,
            wasm_bindgen: rust::ensure_wasm_bindgen(workspace)?,
        },
        browser: browser::ensure(workspace)?,
    };
    println!("browser: {}", tools.browser.chromium.display());
    Ok(tools)
}

/// What `cargo xtask web` needs: no browser, no GPU driver.
pub fn web(workspace: &Workspace, choice: WasmChoice) -> Result<WebTools> {
    let toolchain = wasm::choose(choice)?;
    apt::ensure(&toolchain.missing_packages())?;
    Ok(WebTools {
        toolchain,
        wasm_bindgen: rust::ensure_wasm_bindgen(workspace)?,
    })
}
