//! The window on a canvas.

use super::{
    super::{Window, look},
    DEMO,
    outline::Outline,
};
use crate::demo;
use bayesadapter::{disk, session::Method};
use eframe::{WebOptions, WebRunner};
use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    rc::Rc,
};
use wasm_bindgen::JsValue;
use web_sys::HtmlCanvasElement;

/// The window, as it is drawn.
#[derive(Clone)]
pub struct Page {
    runner: WebRunner,
    ctx: egui::Context,
}

/// Puts a file of the demo's runs where the window finds it.
pub fn give(path: &str, bytes: Vec<u8>) {
    disk::put(path, bytes);
}

/// Draws the window on a canvas, with the demo's posterior, whose run was given before.
///
/// # Errors
///
/// A browser that cannot draw.
pub async fn open(canvas: HtmlCanvasElement) -> Result<Page, JsValue> {
    let mut window = Window::new();
    let run = demo::run_folder(Path::new(DEMO), Method::Pse);
    let posterior = run.join("posterior.safetensors");
    window.worker.ask(|mail| mail.open(posterior));
    window.show_panel("Predict");
    let (runner, ctx) = (WebRunner::new(), Rc::new(OnceCell::new()));
    let found = Rc::clone(&ctx);
    let create = move |creation: &eframe::CreationContext| -> Result<Box<dyn eframe::App>, _> {
        look::apply(&creation.egui_ctx);
        found.get_or_init(|| creation.egui_ctx.clone());
        Ok(Box::new(window))
    };
    let options = WebOptions::default();
    runner.start(canvas, options, Box::new(create)).await?;
    let ctx = ctx.get().cloned().unwrap_or_default();
    Ok(Page { runner, ctx })
}

/// A file of a run.
pub struct Saved {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl Page {
    /// What the window shows and does, as JSON; nothing after a failure.
    pub fn status(&self) -> Option<String> {
        let window = self.runner.app_mut::<Window>()?;
        let status = serde_json::json!({
            "device": window.computer.about(),
            "page": window.shown.and_then(|at| window.panels.get(at)).map(|panel| panel.name()),
            "notice": window.notice,
            "busy": window.worker.is_busy(),
            "running": window.running(),
            "happened": window.host,
        });
        Some(status.to_string())
    }

    /// The widgets of the last frame with their places, as JSON. The first call only asks for them.
    pub fn outline(&self) -> Option<String> {
        let places = self
            .ctx
            .with_plugin(|outline: &mut Outline| outline.0.clone());
        if places.is_none() {
            self.ctx.add_plugin(Outline::default());
        }
        self.ctx.request_repaint();
        serde_json::to_string(&places.unwrap_or_default()).ok()
    }

    /// The newest file that a run left: its posterior, or a state to go on from.
    pub fn saved(&self) -> Option<Saved> {
        let runs = disk::below(&super::usual_place());
        let files = runs.into_iter().filter(|(path, _)| {
            let is_file = path
                .extension()
                .is_some_and(|ending| ending == "safetensors");
            is_file && !path.parent().is_some_and(|folder| folder.ends_with("map"))
        });
        let (path, bytes) = files.last()?;
        Some(Saved {
            path,
            bytes: bytes.to_vec(),
        })
    }

    /// What the module failed of, if it did.
    pub fn failure(&self) -> Option<String> {
        self.runner.panic_summary().map(|summary| summary.message())
    }
}
