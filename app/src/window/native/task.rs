//! Work that takes longer than a frame: on a thread of its own.

pub use bayesadapter::session::OwnThread as OwnPace;
use burn::tensor::read_sync;
use std::thread::JoinHandle;

/// Work that goes on.
pub struct Task(Option<JoinHandle<()>>);

impl Task {
    /// Whether one may wait for it.
    pub const MAY_WAIT: bool = true;

    pub fn start<F: Future<Output = ()>>(work: impl FnOnce() -> F + Send + 'static) -> Self {
        Self(Some(std::thread::spawn(move || read_sync(work()))))
    }

    /// Waits until it is done.
    pub fn finish(&mut self) {
        if let Some(thread) = self.0.take() {
            // A defect of it was told, or concerns nobody any more.
            let _ = thread.join();
        }
    }
}
