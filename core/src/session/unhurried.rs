//! Work beside the training that a run does not finish when it is told to stop.

use super::{Pace, Port};
use std::{
    cell::Cell,
    future::{pending, poll_fn},
    pin::pin,
    task::Poll,
};

/// The pace of such work.
pub(super) struct Unhurried<'a, P> {
    pace: &'a P,
    port: &'a Port,
    /// Seconds in which it was made to rest.
    rested: Cell<f64>,
    stopped: Cell<bool>,
}

impl<'a, P: Pace> Unhurried<'a, P> {
    pub(super) fn new(pace: &'a P, port: &'a Port) -> Self {
        Self {
            pace,
            port,
            rested: Cell::new(0.0),
            stopped: Cell::new(false),
        }
    }

    /// Does work that breathes by this pace. When the run is told to stop, the rest of it is dropped, and nothing comes
    /// back; the command stays for the run.
    pub(super) async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.stopped.get() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    pub(super) fn rested(&self) -> f64 {
        self.rested.get()
    }
}

impl<P: Pace> Pace for Unhurried<'_, P> {
    async fn breathe(&self) -> f64 {
        let rested = self.pace.breathe().await;
        self.rested.set(self.rested.get() + rested);
        if self.port.is_told_to_stop() {
            self.stopped.set(true);
            // It never goes on from here.
            return pending().await;
        }
        rested
    }

    async fn wait(&self) {
        self.pace.wait().await;
    }
}
