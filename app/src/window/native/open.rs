//! Opening the window.

use super::{
    super::{Window, look, news::News, purpose::Purpose},
    remembered::Remembered,
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
/// Returns how long frames took and how much memory is in use, a line for every demo.
pub fn tour(folder: PathBuf, time: Duration) -> Result<Vec<String>> {
    let outcome = Outcome::new(Mutex::new(Ok(Vec::new())));
    show(Some(Tour::new(folder, time, Arc::clone(&outcome))))?;
    let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *outcome, Ok(Vec::new()))
}

fn show(tour: Option<Tour>) -> Result<()> {
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_app_id("bayesadapter")
            .with_inner_size([1280.0, 800.0])
            .with_min_inner_size([900.0, 600.0]),
        // It would cost time for every pixel, on a software adapter most of it, and there are no gradients here.
        dithering: false,
        // A tour leaves the user's settings alone.
        persistence_path: tour.as_ref().map(|tour| tour.folder().join("memory.ron")),
        ..Default::default()
    };
    let create = |creation: &eframe::CreationContext| -> Result<Box<dyn eframe::App>, _> {
        look::apply(&creation.egui_ctx);
        let mut window = Window::new();
        if let Some(remembered) = Remembered::load(creation.storage) {
            window.welcome.method = remembered.method;
            window.tell(&News::Chosen(Purpose::RunsFolder, remembered.out));
        }
        window.host.tour = tour;
        Ok(Box::new(window))
    };
    eframe::run_native("BayesAdapter", options, Box::new(create)).map_err(|error| {
        anyhow!("no window can be opened here ({error}); `bayesadapter demo` needs none")
    })
}

/// Keeps the user's choices for the next time.
pub fn remember(window: &Window, storage: &mut dyn eframe::Storage) {
    let (out, method) = (window.out.clone(), window.welcome.method);
    Remembered { out, method }.save(storage);
}
