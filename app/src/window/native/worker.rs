//! The worker: a thread.

use super::{
    super::{
        desk::Desk,
        news::News,
        worker::{Mail, Request},
    },
    Computer,
};
use burn::tensor::read_sync;
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    mpsc::{Receiver, sync_channel},
};

#[derive(Default)]
struct State {
    mail: Mail,
    busy: bool,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    /// A panic of the thread leaves no letter half-written.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a request; nothing when the window is closed.
    fn next(&self) -> Option<Request> {
        let mut state = self.lock();
        state.busy = false;
        loop {
            if state.closed {
                return None;
            }
            if let Some(request) = state.mail.take() {
                state.busy = true;
                return Some(request);
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The window's end.
pub struct Worker {
    shared: Arc<Shared>,
    news: Receiver<News>,
}

impl Worker {
    pub fn new(computer: Computer) -> Self {
        let shared = Arc::new(Shared::default());
        let (tell, news) = sync_channel(8);
        let mail = Arc::clone(&shared);
        std::thread::spawn(move || {
            let mut desk = Desk::new(computer);
            while let Some(request) = mail.next() {
                let found = read_sync(desk.handle(request));
                let found = found.unwrap_or_else(|error| News::Refused(format!("{error:#}")));
                if tell.send(found).is_err() {
                    return;
                }
            }
        });
        Self { shared, news }
    }

    /// Puts requests in the place of those of the same kind that wait.
    pub fn ask(&self, write: impl FnOnce(&mut Mail)) {
        write(&mut self.shared.lock().mail);
        self.shared.changed.notify_all();
    }

    /// Whether something is to come.
    pub fn is_busy(&self) -> bool {
        let state = self.shared.lock();
        state.busy || !state.mail.is_empty()
    }

    /// What came since the last call.
    pub fn poll(&self) -> Vec<News> {
        self.news.try_iter().collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }
}
