//! The batches of an epoch, made ahead by workers.

use super::DataError;
use super::batches::{Batch, Maker};
use std::ops::Range;
use std::sync::Arc;

/// The batches of an epoch, in order. It ends after its first error.
///
/// Dropping it stops its workers, each after the picture at hand.
pub struct Epoch {
    maker: Arc<Maker>,
    order: Arc<[u32]>,
    epoch: u32,
    /// The batches that are still to come.
    left: Range<usize>,
    #[cfg(not(target_family = "wasm"))]
    workers: Option<threads::Workers>,
    skipped: Vec<String>,
    /// Names from batches of which nothing was left, for the next one.
    unreported: Vec<String>,
    any_batch: bool,
}

impl Epoch {
    pub(super) fn start(
        maker: Arc<Maker>,
        order: Arc<[u32]>,
        epoch: u32,
        left: Range<usize>,
    ) -> Self {
        Self {
            #[cfg(not(target_family = "wasm"))]
            workers: threads::Workers::start(&maker, &order, epoch, left.clone()),
            any_batch: left.start > 0,
            maker,
            order,
            epoch,
            left,
            skipped: Vec::new(),
            unreported: Vec::new(),
        }
    }

    /// All broken pictures so far, with the reasons. [`Batch::skipped`] has them batch by batch, except those of
    /// the last batch if nothing was left of it.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    fn make(&mut self, index: usize) -> Result<Batch, DataError> {
        #[cfg(not(target_family = "wasm"))]
        if let Some(workers) = &self.workers {
            return workers.receive(index);
        }
        self.maker.make(&self.order, self.epoch, index, || false)
    }
}

impl Iterator for Epoch {
    type Item = Result<Batch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(index) = self.left.next() {
            let mut batch = match self.make(index) {
                Ok(batch) => batch,
                Err(error) => {
                    self.left = 0..0;
                    self.any_batch = true;
                    return Some(Err(error));
                }
            };
            self.skipped.extend_from_slice(&batch.skipped);
            self.unreported.append(&mut batch.skipped);
            if !batch.labels.is_empty() {
                batch.skipped = std::mem::take(&mut self.unreported);
                self.any_batch = true;
                return Some(Ok(batch));
            }
        }
        let first = self.skipped.first().filter(|_| !self.any_batch)?.clone();
        self.any_batch = true;
        Some(Err(DataError::AllBroken {
            pictures: self.skipped.len(),
            first,
        }))
    }
}

#[cfg(not(target_family = "wasm"))]
mod threads {
    use super::{Arc, Batch, DataError, Maker, Range};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::thread::{Builder, JoinHandle};

    /// Finished batches that wait per worker, beside the one it is making.
    const AHEAD: usize = 2;

    /// Threads that take turns: worker `w` of `n` makes batches `w, w + n, w + 2 n, ..`. So they arrive in order
    /// by asking one worker after the other, with no queue to sort.
    pub struct Workers {
        first: usize,
        channels: Vec<Receiver<Result<Batch, DataError>>>,
        threads: Vec<JoinHandle<()>>,
        stop: Arc<AtomicBool>,
    }

    impl Workers {
        /// `None` if there shall be none, or the system has none to give: the batches are the same without.
        pub fn start(
            maker: &Arc<Maker>,
            order: &Arc<[u32]>,
            epoch: u32,
            batches: Range<usize>,
        ) -> Option<Self> {
            let count = maker.settings.workers.min(batches.len());
            let mut this = Self {
                first: batches.start,
                channels: Vec::new(),
                threads: Vec::new(),
                stop: Arc::default(),
            };
            for worker in 0..count {
                let (sender, receiver) = sync_channel(AHEAD);
                let (maker, order, stop) = (maker.clone(), order.clone(), this.stop.clone());
                let turns = batches.clone().skip(worker).step_by(count);
                let work = move || {
                    let stopped = || stop.load(Ordering::Relaxed);
                    for index in turns {
                        let batch = maker.make(&order, epoch, index, stopped);
                        if stopped() || sender.send(batch).is_err() {
                            break;
                        }
                    }
                };
                let thread = Builder::new().name(format!("batches {worker}")).spawn(work);
                this.threads.push(thread.ok()?);
                this.channels.push(receiver);
            }
            (count > 0).then_some(this)
        }

        pub fn receive(&self, index: usize) -> Result<Batch, DataError> {
            let worker = (index - self.first) % self.channels.len();
            let received = self.channels[worker].recv();
            received.unwrap_or(Err(DataError::Worker { batch: index }))
        }
    }

    impl Drop for Workers {
        fn drop(&mut self) {
            self.stop.store(true, Ordering::Relaxed);
            // A worker that waits for room wakes up when its channel is gone.
            self.channels.clear();
            for thread in self.threads.drain(..) {
                // A worker that panicked has been reported by `receive`, or nobody waited for it.
                drop(thread.join());
            }
        }
    }
}
