//! The window on a canvas.

use super::{
    super::{Window, look},
    DEMO,
    outline::Outline,
    put_judgement_of_map,
    rescue::Saved,
};
use crate::demo;
use bayesadapter::{disk, session::Method};
use eframe::{WebOptions, WebRunner};
use egui::{FontData, FontDefinitions};
use epaint_default_fonts::UBUNTU_LIGHT;
use std::{cell::OnceCell, path::Path, rc::Rc};
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

/// Whether a run saved something.
pub fn has_saved() -> bool {
    Saved::last().is_some()
}

/// Gives the user what a run saved last. It needs nothing but the files, and so works after a failure too.
pub fn rescue() {
    if let Some(saved) = Saved::last() {
        saved.deliver();
    }
}

/// Draws the window on a canvas, with the demo's posterior, whose run was given before.
///
/// # Errors
///
/// A browser that cannot draw.
pub async fn open(canvas: HtmlCanvasElement) -> Result<Page, JsValue> {
    let mut window = Window::new();
    put_judgement_of_map(Path::new(DEMO), Method::Pse);
    let run = demo::run_folder(Path::new(DEMO), Method::Pse);
    let posterior = run.join("posterior.safetensors");
    window.worker.ask(|mail| mail.open(posterior));
    window.show_panel("Predict");
    let (runner, ctx) = (WebRunner::new(), Rc::new(OnceCell::new()));
    let found = Rc::clone(&ctx);
    let create = move |creation: &eframe::CreationContext| -> Result<Box<dyn eframe::App>, _> {
        look::apply(&creation.egui_ctx);
        look::leave_ground(&creation.egui_ctx);
        creation.egui_ctx.set_fonts(fonts());
        found.get_or_init(|| creation.egui_ctx.clone());
        window.dialog.take_folders(creation.egui_ctx.clone());
        Ok(Box::new(window))
    };
    let options = WebOptions::default();
    runner.start(canvas, options, Box::new(create)).await?;
    let ctx = ctx.get().cloned().unwrap_or_default();
    Ok(Page { runner, ctx })
}

/// One font for everything: another one for numbers in columns would be a fortieth of the download.
fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    let (name, font) = ("Ubuntu-Light", FontData::from_static(UBUNTU_LIGHT));
    fonts.font_data.insert(name.to_owned(), font.into());
    for family in fonts.families.values_mut() {
        family.push(name.to_owned());
    }
    fonts
}

impl Page {
    /// What the window shows and does, as JSON; nothing after a failure.
    pub fn status(&self) -> Option<String> {
        let window = self.runner.app_mut::<Window>()?;
        let notices = &window.notices;
        let status = serde_json::json!({
            "device": window.computer.about(),
            "page": window.shown.and_then(|at| window.panels.get(at)).map(|panel| panel.name()),
            "notice": (!notices.is_empty()).then(|| notices.join("\n")),
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

    /// What the module failed of, if it did.
    pub fn failure(&self) -> Option<String> {
        self.runner.panic_summary().map(|summary| summary.message())
    }
}
