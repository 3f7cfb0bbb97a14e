//! The worker: a task that serves what waits, and ends when nothing does.

use super::{
    super::{
        desk::Desk,
        news::News,
        worker::{Mail, Request},
    },
    Computer, browser,
};
use std::{cell::RefCell, path::PathBuf, rc::Rc};
use wasm_bindgen_futures::spawn_local;

struct Shared {
    mail: RefCell<Mail>,
    /// Away while it is worked at.
    desk: RefCell<Option<Desk>>,
    news: RefCell<Vec<News>>,
    /// The file that is open.
    opened: RefCell<Option<PathBuf>>,
}

/// The window's end.
pub struct Worker(Rc<Shared>);

impl Worker {
    pub fn new(computer: Computer) -> Self {
        Self(Rc::new(Shared {
            mail: RefCell::default(),
            desk: RefCell::new(Some(Desk::new(computer))),
            news: RefCell::default(),
            opened: RefCell::default(),
        }))
    }

    /// Puts requests in the place of those of the same kind that wait.
    pub fn ask(&self, write: impl FnOnce(&mut Mail)) {
        write(&mut self.0.mail.borrow_mut());
        if let Some(desk) = self.0.desk.take() {
            spawn_local(serve(Rc::clone(&self.0), desk));
        }
    }

    /// Whether something is to come.
    pub fn is_busy(&self) -> bool {
        self.0.desk.borrow().is_none()
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

async fn serve(shared: Rc<Shared>, mut desk: Desk) {
    loop {
        // The page draws first that it computes.
        browser::breathe().await;
        let request = shared.mail.borrow_mut().take();
        let Some(request) = request else {
            break;
        };
        let file = match &request {
            Request::Open(path) => Some(path.clone()),
            _ => None,
        };
        let news = match desk.handle(request).await {
            Ok(news) => {
                if file.is_some() {
                    shared.opened.replace(file);
                }
                news
            }
            Err(error) => News::Refused(format!("{error:#}")),
        };
        shared.news.borrow_mut().push(news);
    }
    shared.desk.replace(Some(desk));
}
