//! Opening the window.

use super::{
    super::{Window, look},
    APP, Computer, priority,
    remembered::Remembered,
    shared_device,
    tour::{Outcome, Tour},
};
use anyhow::{Result, anyhow};
use eframe::egui;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Opens the window and returns when it is closed.
pub fn open() -> Result<()> {
    show(None)
}

/// Opens the window, runs the demo in it for at least `time`, saves a picture of every page in `folder`, and closes it.
/// Returns how long frames took and how much memory is in use, for every demo a line while it ran and one after it.
pub fn tour(folder: PathBuf, time: Duration) -> Result<Vec<String>> {
    let outcome = Outcome::new(Mutex::new(Ok(Vec::new())));
    show(Some(Tour::new(folder, time, Arc::clone(&outcome))))?;
    let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *outcome, Ok(Vec::new()))
}

fn show(tour: Option<Tour>) -> Result<()> {
    priority::share_politely();
    let mut options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_app_id(APP)
            .with_inner_size([1280.0, 800.0])
            // Room for the bar; wider pages are scrolled.
            .with_min_inner_size([1000.0, 640.0]),
        // It would cost time for every pixel, on a software adapter most of it, and there are no gradients here.
        dithering: false,
        // A tour leaves the user's settings alone.
        persistence_path: tour.as_ref().map(|tour| tour.folder().join("memory.ron")),
        ..Default::default()
    };
    shared_device::ask_for(&mut options.wgpu_options.wgpu_setup, shared_device::is_gpu);
    let create = |creation: &eframe::CreationContext| -> Result<Box<dyn eframe::App>, _> {
        look::apply(&creation.egui_ctx);
        look::leave_ground(&creation.egui_ctx);
        let drawn_by = creation.wgpu_render_state.as_ref();
        let computer = drawn_by.map(|state| Computer::beside(state, shared_device::is_gpu));
        let mut window = Window::on(computer.unwrap_or_default());
        recall(&mut window, creation.storage);
        window.host.tour = tour;
        Ok(Box::new(window))
    };
    eframe::run_native("BayesAdapter", options, Box::new(create))
        .map_err(|error| anyhow!(without_window(&error)))
}

/// What to do where there is no display.
fn without_window(error: &eframe::Error) -> String {
    format!(
        "no window can be opened here ({error}); everything can be done without one: `bayesadapter finetune`, \
         `evaluate`, `predict` and `demo`; `bayesadapter --help` lists all commands"
    )
}

/// Keeps the user's choices for the next time.
pub fn remember(window: &Window, storage: &mut dyn eframe::Storage) {
    Remembered::of(window).save(storage);
}

/// Leaves the window as it was the last time.
pub fn recall(window: &mut Window, storage: Option<&dyn eframe::Storage>) {
    if let Some(remembered) = Remembered::load(storage) {
        remembered.restore(window);
    }
}
