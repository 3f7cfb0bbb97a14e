//! The worker: a thread that answers about the posterior that is open, one that runs errands, and one for those that
//! take long.

use super::{
    super::{bell::Bell, desk::Desk, errand::Errand, news::News, worker::Mail},
    Computer, priority,
};
use anyhow::{Error, Result, anyhow};
use burn::tensor::read_sync;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

#[derive(Default)]
struct State {
    mail: Mail,
    /// Threads that are at work.
    at_work: usize,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    bell: Bell,
}

impl Shared {
    /// A panic of the thread leaves no letter half-written.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to do; nothing when the window is closed.
    fn next<T>(&self, take: impl Fn(&mut Mail) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(found) = take(&mut state.mail) {
                state.at_work += 1;
                return Some(found);
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does what there is to do, until the window is closed.
    fn serve<T>(
        &self,
        take: impl Fn(&mut Mail) -> Option<T>,
        mut work: impl AsyncFnMut(T) -> Result<News>,
        tell: &SyncSender<News>,
    ) {
        while let Some(found) = self.next(&take) {
            // Whatever is worked at, is replaced as a whole when it is done.
            let done = catch_unwind(AssertUnwindSafe(|| read_sync(work(found))));
            let done = done.unwrap_or_else(|panic| Err(defect(panic.as_ref())));
            let news = done.unwrap_or_else(|error| News::Refused(format!("{error:#}")));
            if tell.send(news).is_err() {
                return;
            }
            self.lock().at_work -= 1;
            // The frame that shows the news shows that nothing is computed any more.
            self.bell.ring();
        }
    }
}

/// What a panic comes to.
fn defect(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    anyhow!(
        "this could not be done, by a defect of this program ({}); what is open stays",
        text.unwrap_or("it does not say which")
    )
}

/// Which errands a thread takes, and how it runs them.
type Taking = fn(&mut Mail) -> Option<Errand>;
type Running = fn(Errand, &Computer) -> Result<News>;

/// Runs an errand that takes moments, of which none computes on a GPU.
fn run_quick(errand: Errand, computer: &Computer) -> Result<News> {
    priority::lower();
    read_sync(errand.run(computer))
}

/// Runs an errand that may compute, on the CPU or on a GPU.
fn run_long(errand: Errand, computer: &Computer) -> Result<News> {
    apart(|| read_sync(errand.run(computer)))
}

/// Works on a thread that ends with the work: what gives way to others does so for good, and the next work may not be
/// allowed to.
fn apart(work: impl FnOnce() -> Result<News> + Send) -> Result<News> {
    let done = thread::scope(|scope| scope.spawn(work).join());
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// The window's end.
pub struct Worker {
    shared: Arc<Shared>,
    news: Receiver<News>,
}

impl Worker {
    pub fn new(computer: Computer, bell: Bell) -> Self {
        let shared = Arc::new(Shared {
            bell,
            ..Shared::default()
        });
        let (tell, news) = sync_channel(8);
        let kinds: [(Taking, Running); 2] =
            [(Mail::take_quick, run_quick), (Mail::take_long, run_long)];
        for (take, run) in kinds {
            let (shared, tell, computer) = (Arc::clone(&shared), tell.clone(), computer.clone());
            thread::spawn(move || {
                let run = async |errand: Errand| run(errand, &computer);
                shared.serve(take, run, &tell);
            });
        }
        let of_desk = Arc::clone(&shared);
        thread::spawn(move || {
            let mut desk = Desk::new(computer);
            let answer = async |request| desk.handle(request).await;
            of_desk.serve(Mail::take_request, answer, &tell);
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
        state.at_work > 0 || !state.mail.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_panic_is_told_and_the_work_goes_on() {
        let shared = Arc::new(Shared::default());
        let (tell, news) = sync_channel(8);
        let of_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let work = async |errand: Errand| match errand {
                Errand::ListDevices => panic!("the {} is on fire", "device"),
                _ => Ok(News::Devices(Vec::new())),
            };
            of_thread.serve(Mail::take_quick, work, &tell);
        });
        let worker = Worker {
            shared: Arc::clone(&shared),
            news,
        };
        worker.ask(|mail| mail.add(Errand::ListDevices));
        let told = worker.news.recv().unwrap();
        assert!(
            matches!(&told, News::Refused(text) if text.contains("defect") && text.contains("the device is on fire"))
        );
        worker.ask(|mail| mail.add(Errand::Sort(PathBuf::new())));
        assert!(matches!(worker.news.recv(), Ok(News::Devices(_))));
        drop(worker);
        thread.join().unwrap();
        assert_eq!(shared.lock().at_work, 0);
    }

    #[test]
    fn a_panic_on_a_thread_of_its_own_comes_out_as_it_was() {
        let done = catch_unwind(|| apart(|| panic!("the {} is on fire", "device")));
        let told = defect(done.err().unwrap().as_ref()).to_string();
        assert!(told.contains("the device is on fire"), "{told}");
        assert!(apart(|| Ok(News::JudgingOver)).is_ok());
    }
}
