//! The batches of an epoch, made ahead by workers.

use super::DataError;
use super::batches::{Batch, Maker};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The batches of an epoch, in order. It ends after its first error.
///
/// Where broken pictures are skipped, a batch may have no examples left: then it only names what was broken. If that
/// holds for all of them, the epoch is one error.
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
    /// Batches without examples before the first one that has some, and that one.
    held: VecDeque<Batch>,
    any_example: bool,
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
            any_example: left.start > 0,
            maker,
            order,
            epoch,
            left,
            held: VecDeque::new(),
        }
    }

    fn make(&mut self, index: usize) -> Result<Batch, DataError> {
        #[cfg(not(target_family = "wasm"))]
        if let Some(workers) = &self.workers {
            return workers.receive(index);
        }
        self.maker.make(&self.order, self.epoch, index, || false)
    }

    /// Makes batches up to the first one with examples.
    fn look_ahead(&mut self) -> Result<(), DataError> {
        while !self.any_example
            && let Some(index) = self.left.next()
        {
            let batch = self.make(index)?;
            self.any_example = !batch.labels.is_empty();
            self.held.push_back(batch);
        }
        if self.any_example {
            return Ok(());
        }
        let mut broken = self.held.iter().flat_map(|batch| &batch.skipped);
        match broken.next().cloned() {
            Some(first) => Err(DataError::AllBroken {
                pictures: 1 + broken.count(),
                first,
            }),
            None => Ok(()),
        }
    }

    fn following(&mut self) -> Result<Option<Batch>, DataError> {
        self.look_ahead()?;
        if let Some(batch) = self.held.pop_front() {
            return Ok(Some(batch));
        }
        let index = self.left.next();
        index.map(|index| self.make(index)).transpose()
    }
}

impl Iterator for Epoch {
    type Item = Result<Batch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let following = self.following();
        if following.is_err() {
            self.left = 0..0;
            self.held.clear();
            self.any_example = true;
        }
        following.transpose()
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
