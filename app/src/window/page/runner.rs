//! Runs in a thread of their own, so that the page is drawn and answers while they learn: the page's end of them.

use super::{
    super::{bell::Bell, news::News, runner::Plan},
    Computer,
    browser::{self, Thread},
    wire::{self, Order, Word},
};
use anyhow::{Context, Result};
use bayesadapter::{
    disk,
    session::{Command, Event, Method, Phase},
};
use std::{
    cell::{Cell, RefCell},
    path::Path,
    rc::Rc,
};
use wasm_bindgen_futures::spawn_local;

/// Of a module that failed without a word of its own.
const NO_MEMORY: &str = "most likely the memory of this tab is used up";

/// What a failure leaves, and what to do.
const ADVICE: &str = "What was saved stays, and the run can go on from it; a smaller batch, network or set of pictures \
    needs less memory";

/// Runs that go on.
pub struct Runner {
    shared: Rc<Shared>,
    over: bool,
}

struct Shared {
    thread: Option<Thread>,
    news: RefCell<Vec<News>>,
    phase: Cell<Phase>,
    /// Of the run that goes on.
    method: Cell<Option<Method>>,
    bell: Bell,
}

impl Runner {
    /// What is finished is not done again, and what was stopped goes on.
    pub fn new(plans: Vec<Plan>, computer: Computer, bell: Bell) -> Self {
        let (thread, failure) = match start(&plans, &computer) {
            Ok(thread) => (Some(thread), None),
            Err(error) => (None, Some(News::Over(Err(format!("{error:#}"))))),
        };
        let shared = Rc::new(Shared {
            thread,
            news: RefCell::new(Vec::from_iter(failure)),
            phase: Cell::new(Phase::Ended),
            method: Cell::default(),
            bell,
        });
        spawn_local(listen(Rc::clone(&shared)));
        let over = false;
        Self { shared, over }
    }

    /// Tells the run what to do.
    pub fn tell(&self, command: Command) {
        if let Some(thread) = &self.shared.thread
            && let Err(error) = say(thread, &Order::Tell(command), None)
        {
            let news = News::Refused(format!("{error:#}"));
            self.shared.tell([news]);
        }
    }

    /// What the run does at this moment, even if nobody has read its events yet.
    pub fn phase(&self) -> Phase {
        self.shared.phase.get()
    }

    /// Whether all is done.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// What happened since the last call.
    pub fn poll(&mut self) -> Vec<News> {
        let news = self.shared.news.take();
        self.over |= news.iter().any(|one| matches!(one, News::Over(_)));
        news
    }
}

impl Drop for Runner {
    /// The thread ends when the current step is done and saved.
    fn drop(&mut self) {
        self.tell(Command::Stop);
    }
}

/// A thread that makes these runs.
fn start(plans: &[Plan], computer: &Computer) -> Result<Thread> {
    let thread = browser::thread().context("this browser starts no thread for the run")?;
    brief(&thread, plans, computer).inspect_err(|_| thread.end())?;
    Ok(thread)
}

/// Tells a thread the runs, after the files that they need.
fn brief(thread: &Thread, plans: &[Plan], computer: &Computer) -> Result<()> {
    for plan in plans {
        let settings = &plan.settings;
        let named = [
            settings.model.weights.as_deref(),
            Some(settings.data.path.as_str()),
            settings.data.out_of_distribution.as_deref(),
        ];
        let ood = settings.data.ood_train.iter().map(String::as_str);
        let named = named.into_iter().flatten().chain(ood).map(Path::new);
        for path in named.chain([plan.folder.as_path()]) {
            for (path, bytes) in disk::below(path) {
                say(thread, &Order::File(path), Some(&bytes))?;
            }
        }
    }
    let plans = plans
        .iter()
        .map(|plan| Ok((plan.folder.clone(), plan.settings.to_toml()?)));
    let order = Order::Start(plans.collect::<Result<_>>()?, computer.choice_for_threads());
    say(thread, &order, None)
}

fn say(thread: &Thread, order: &Order, bytes: Option<&[u8]>) -> Result<()> {
    thread.say(&wire::encode(order)?, bytes);
    Ok(())
}

/// Takes what the thread says, until it is over or fails.
async fn listen(shared: Rc<Shared>) {
    let Some(thread) = &shared.thread else {
        return;
    };
    loop {
        let heard = thread.hear().await;
        let word = match heard.word() {
            Some(word) => wire::decode(&word),
            None => Ok(Word::Failed(NO_MEMORY.to_owned())),
        };
        let word = word.unwrap_or_else(|error| Word::Failed(format!("{error:#}")));
        let over = matches!(word, Word::Over(_) | Word::Failed(_));
        shared.take(word, heard.bytes());
        if over {
            thread.end();
            return;
        }
    }
}

impl Shared {
    fn take(&self, word: Word, bytes: Option<Vec<u8>>) {
        match &word {
            Word::Began { method, .. } => {
                self.phase.set(Phase::Preparing);
                self.method.set(Some(*method));
            }
            Word::Run(Event::Phase { phase }) => self.phase.set(*phase),
            Word::Ended { .. } | Word::Over(_) => {
                self.phase.set(Phase::Ended);
                self.method.set(None);
            }
            Word::Failed(reason) => return self.fail(reason),
            Word::Wrote(path) => {
                // Files in memory are never refused.
                let _ = disk::write_atomically(path, &bytes.unwrap_or_default());
            }
            Word::Renamed(from, to) => {
                let _ = disk::rename(from, to);
            }
            Word::Removed(path) => {
                let _ = disk::remove_file(path);
            }
            Word::Run(_) => {}
        }
        self.tell(word.news());
    }

    /// The thread is gone, and with it the run that went on.
    fn fail(&self, reason: &str) {
        let error = format!("the run has stopped: {reason}. {ADVICE}");
        self.phase.set(Phase::Ended);
        match self.method.take() {
            Some(method) => {
                let ending = Err(error);
                self.tell([News::Ended { method, ending }, News::Over(Ok(()))]);
            }
            None => self.tell([News::Over(Err(error))]),
        }
    }

    fn tell(&self, news: impl IntoIterator<Item = News>) {
        self.news.borrow_mut().extend(news);
        self.bell.ring();
    }
}
