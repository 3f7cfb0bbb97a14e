//! What is remembered from one start to the next, beside what eframe and egui keep: the window's place and size, the
//! sizes of panels, light or dark, and the zoom.

use bayesadapter::session::Method;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Choices of the user.
#[derive(Serialize, Deserialize)]
pub struct Remembered {
    /// Where the folders of runs go.
    pub out: PathBuf,
    /// What the demo makes of its network.
    pub method: Method,
}

impl Remembered {
    pub fn load(storage: Option<&dyn eframe::Storage>) -> Option<Self> {
        eframe::get_value(storage?, eframe::APP_KEY)
    }

    pub fn save(&self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, eframe::APP_KEY, self);
    }
}
