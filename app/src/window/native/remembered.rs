//! What is remembered from one start to the next, beside what eframe and egui keep: the window's place and size, the
//! sizes of panels, light or dark, and the zoom.

use super::super::{Window, news::News, purpose::Purpose, sort::Found};
use bayesadapter::session::{Method, RunSettings};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Choices of the user.
#[derive(Serialize, Deserialize)]
pub struct Remembered {
    /// Where the folders of runs go.
    out: PathBuf,
    /// What the demo makes of its network.
    method: Method,
    /// The page that was shown, if it was not the first one.
    #[serde(default)]
    page: Option<String>,
    /// The run that was set up, as a run file has it.
    #[serde(default)]
    set_up: Option<String>,
}

impl Remembered {
    pub fn of(window: &Window) -> Self {
        let page = window.shown.and_then(|at| window.panels.get(at));
        Self {
            out: window.out.clone(),
            method: window.welcome.method,
            page: page.map(|page| page.name().to_owned()),
            set_up: window.panels.iter().find_map(|panel| panel.kept()),
        }
    }

    /// Leaves the window as it was.
    pub fn restore(self, window: &mut Window) {
        window.welcome.method = self.method;
        window.tell(&News::Chosen(Purpose::RunsFolder, self.out));
        // Settings of another version may not be known any more.
        if let Some(Ok(settings)) = self.set_up.map(|text| RunSettings::from_toml(&text)) {
            window.tell(&News::Sorted(Found::Settings(Box::new(settings))));
        }
        window.show_panel(&self.page.unwrap_or_default());
    }

    pub fn load(storage: Option<&dyn eframe::Storage>) -> Option<Self> {
        eframe::get_value(storage?, eframe::APP_KEY)
    }

    pub fn save(&self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, eframe::APP_KEY, self);
    }
}
