//! Wakes the window when there is news, so that it need not be drawn all the time to look for some.

use super::platform;
use egui::Context;
use std::sync::{Arc, OnceLock};

/// What those ring who work beside the window.
#[derive(Clone, Default)]
pub struct Bell(Arc<OnceLock<Context>>);

impl Bell {
    /// From now on the window hears it.
    pub fn hang(&self, ctx: &Context) {
        self.0.get_or_init(|| ctx.clone());
    }

    /// There is news. What comes soon after it is shown in the same frame.
    pub fn ring(&self) {
        if let Some(ctx) = self.0.get() {
            ctx.request_repaint_after(platform::LOOK);
        }
    }
}
