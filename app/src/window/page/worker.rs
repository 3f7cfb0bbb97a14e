//! The worker: a task that answers about the posterior that is open, and one that runs errands; each ends when nothing
//! waits for it. An errand that takes long gives way at every step, and the other task goes on meanwhile.

use super::{
    super::{
        bell::Bell,
        desk::Desk,
        news::News,
        worker::{Mail, Request},
    },
    Computer, browser,
};
use anyhow::Result;
use std::{cell::RefCell, path::PathBuf, rc::Rc};
use wasm_bindgen_futures::spawn_local;

struct Shared {
    mail: RefCell<Mail>,
    /// Away while it is worked at.
    desk: RefCell<Option<Desk>>,
    /// What errands are run with; away while one is.
    computer: RefCell<Option<Computer>>,
    news: RefCell<Vec<News>>,
    bell: Bell,
    /// The file that is open.
    opened: RefCell<Option<PathBuf>>,
}

/// The window's end.
pub struct Worker(Rc<Shared>);

impl Worker {
    pub fn new(computer: Computer, bell: Bell) -> Self {
        Self(Rc::new(Shared {
            mail: RefCell::default(),
            desk: RefCell::new(Some(Desk::new(computer.clone()))),
            computer: RefCell::new(Some(computer)),
            news: RefCell::default(),
            bell,
            opened: RefCell::default(),
        }))
    }

    /// Puts requests in the place of those of the same kind that wait.
    pub fn ask(&self, write: impl FnOnce(&mut Mail)) {
        write(&mut self.0.mail.borrow_mut());
        if let Some(desk) = self.0.desk.take() {
            spawn_local(answer(Rc::clone(&self.0), desk));
        }
        if let Some(computer) = self.0.computer.take() {
            spawn_local(run_errands(Rc::clone(&self.0), computer));
        }
    }

    /// Whether something is to come.
    pub fn is_busy(&self) -> bool {
        let at_work = self.0.desk.borrow().is_none() || self.0.computer.borrow().is_none();
        at_work || !self.0.mail.borrow().is_empty()
    }

    /// What came since the last call.
    pub fn poll(&self) -> Vec<News> {
        self.0.news.take()
    }

    /// The file that is open.
    pub fn opened(&self) -> Option<PathBuf> {
        self.0.opened.borrow().clone()
    }
}

impl Shared {
    fn tell(&self, done: Result<News>) {
        let news = done.unwrap_or_else(|error| News::Refused(format!("{error:#}")));
        self.news.borrow_mut().push(news);
        self.bell.ring();
    }
}

async fn answer(shared: Rc<Shared>, mut desk: Desk) {
    loop {
        // The page draws first that it computes.
        browser::breathe().await;
        let request = shared.mail.borrow_mut().take_request();
        let Some(request) = request else {
            break;
        };
        let file = match &request {
            Request::Open(path) => Some(path.clone()),
            _ => None,
        };
        let done = desk.handle(request).await;
        if done.is_ok() && file.is_some() {
            shared.opened.replace(file);
        }
        shared.tell(done);
    }
    shared.desk.replace(Some(desk));
}

async fn run_errands(shared: Rc<Shared>, computer: Computer) {
    loop {
        browser::breathe().await;
        let errand = shared.mail.borrow_mut().take_errand();
        let Some(errand) = errand else {
            break;
        };
        shared.tell(errand.run(&computer).await);
    }
    shared.computer.replace(Some(computer));
}
