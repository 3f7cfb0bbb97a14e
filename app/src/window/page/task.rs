//! Work that takes longer than a frame: a task of the thread that it is started in, which gives way at every step.

use super::browser;
use bayesadapter::session::Pace;
use wasm_bindgen_futures::spawn_local;

/// How a run shares its thread with those who ask about it.
pub struct OwnPace;

impl Pace for OwnPace {
    async fn breathe(&self) -> f64 {
        browser::breathe().await
    }

    async fn wait(&self) {
        browser::rest().await;
    }
}

/// Work that goes on.
pub struct Task;

impl Task {
    /// Whether one may wait for it.
    pub const MAY_WAIT: bool = false;

    pub fn start<F: Future<Output = ()> + 'static>(work: impl FnOnce() -> F) -> Self {
        spawn_local(work());
        Self
    }

    /// It ends when it is done.
    pub fn finish(&mut self) {}
}
