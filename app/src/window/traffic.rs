//! News to every panel, and wishes to those who can fulfil them.

use super::{
    Window,
    compare::Comparison,
    errand::Errand,
    judging::Case,
    news::{News, Wish},
    platform,
    platform::Runner,
    runner::Plan,
};
use crate::{outcome, places::write_in_full};
use bayesadapter::{
    disk,
    session::{self, Command, Ending, Event},
};
use std::path::Path;

/// Things that went wrong and are shown at once; of more, the latest.
const MOST_NOTICES: usize = 5;

impl Window {
    /// Takes what happened since the last frame, and tells every panel.
    pub(super) fn catch_up(&mut self) {
        let found = self.worker.poll();
        // Before what the worker found: the judging of a file has told everything when its result is there.
        let mut news = self.follow_judging();
        news.extend(found);
        if let Some(runner) = &mut self.runner {
            news.extend(runner.poll());
        }
        for one in news {
            self.tell(&one);
        }
        match self.dialog.poll() {
            Ok(Some((purpose, path))) => {
                self.notices.clear();
                self.tell(&News::Chosen(purpose, path));
            }
            Ok(None) => {}
            Err(error) => self.tell(&News::Refused(error)),
        }
        for path in self.dialog.dropped() {
            let shown = self.shown.and_then(|at| self.panels.get(at));
            self.fulfil(Wish::Do(match shown.map(|panel| panel.name()) {
                Some("Compare") => Errand::SortToCompare(path),
                _ => Errand::Sort(path),
            }));
        }
    }

    pub(super) fn tell(&mut self, news: &News) {
        match news {
            News::Began { folder, .. } => self.run_folder.clone_from(folder),
            News::Ended {
                ending: Ok(Ending::Finished),
                ..
            } => {
                let posterior = self.run_folder.join("posterior.safetensors");
                match self.own_file {
                    true => self.finished = Some(posterior),
                    false => self.worker.ask(|mail| mail.open(posterior)),
                }
            }
            News::Ended {
                ending: Err(error), ..
            }
            | News::Over(Err(error)) => {
                // What was to be saved may be lost: the user reads why before the window closes.
                self.closing.call_off();
                self.complain(error);
            }
            News::NotSaved(error) => {
                self.saves = self.saves.saturating_sub(1);
                self.closing.call_off();
                self.complain(error);
            }
            News::Refused(error) => self.complain(error),
            News::Compared(Comparison {
                left_out: Some(text),
                ..
            }) => self.complain(text),
            News::JudgeSays(Event::Warning { message }) => self.complain(message),
            News::Opened(view) => {
                self.has_network = true;
                // A posterior with evaluations lies in the folder of its run.
                let folder = view.path.parent().filter(|_| !view.evaluations.is_empty());
                self.reported = folder.map(Path::to_owned);
            }
            News::Chosen(purpose, path) => self.chosen(purpose, path.clone()),
            News::Sorted(found) => self.found(found),
            News::Saved { path, show } => {
                self.saves = self.saves.saturating_sub(1);
                self.saved = Some(path.clone());
                self.to_show = show.then(|| path.clone());
            }
            _ => {}
        }
        self.host.on_news(news);
        for panel in &mut self.panels {
            panel.on_news(news);
        }
        // A file that the user opened is looked at; one that a run leaves interrupts nothing.
        if let News::Opened(view) = news
            && self.opening.take_if(|path| *path == view.path).is_some()
        {
            self.tell(&News::FileWanted);
            self.show_panel("Posterior");
        }
    }

    /// Tells the user what went wrong, beside what they have not read yet.
    pub(super) fn complain(&mut self, error: &str) {
        self.notices.retain(|known| known != error);
        self.notices.push(error.to_owned());
        let oldest = self.notices.len().saturating_sub(MOST_NOTICES);
        self.notices.drain(..oldest);
    }

    pub(super) fn show_panel(&mut self, name: &str) {
        self.shown = self.panels.iter().position(|panel| panel.name() == name);
    }

    /// Does what the user asks for.
    pub(super) fn fulfil(&mut self, wish: Wish) {
        match wish {
            Wish::Demo(method) => {
                let numbered = (1..).map(|number: u32| self.out.join(format!("demo-{number}")));
                let mut free = numbered.skip_while(|folder| disk::exists(folder));
                let folder = free.next().unwrap_or_else(|| self.out.clone());
                platform::prepare_demo(&folder, method);
                self.start(Plan::demo(method, &folder));
            }
            Wish::Run(settings) => {
                let folder = self.free_folder(&outcome::folder_name(&settings));
                let mut settings = *settings;
                write_in_full(&mut settings);
                self.start(vec![Plan { folder, settings }]);
            }
            Wish::GoOn(folder, settings) => {
                let settings = *settings;
                self.start(vec![Plan { folder, settings }]);
            }
            Wish::Show(page) => self.show_panel(page),
            Wish::Continue => self.start(self.plans.clone()),
            Wish::Choose(purpose) => self.dialog.ask(purpose, &self.out),
            Wish::Complain(text) => self.complain(&text),
            Wish::Do(errand) => {
                self.saves += usize::from(errand.saves());
                self.worker.ask(|mail| mail.add(errand));
            }
            Wish::Judge(case) => self.judge(case),
            Wish::StopJudging => {
                if let Some(judging) = &self.judging {
                    judging.send(Command::Stop);
                }
            }
            Wish::Open(path) => {
                self.notices.clear();
                self.finished = None;
                self.own_file = self.running();
                self.opening = Some(path.clone());
                self.worker.ask(|mail| mail.open(path));
            }
            Wish::Tell(command) => {
                let stop = command == Command::Stop;
                if let Some(runner) = &self.runner {
                    runner.tell(command);
                }
                if stop {
                    self.tell(&News::Stopping);
                }
            }
            Wish::Layer(path) => self.worker.ask(|mail| mail.layer = Some(path)),
            Wish::Scrub(scrub) => self.worker.ask(|mail| mail.scrub = Some(scrub)),
            Wish::Pictures(positions) => self.worker.ask(|mail| mail.pictures = Some(positions)),
            Wish::Ask(question) => self.worker.ask(|mail| mail.question = Some(question)),
        }
    }

    /// Lets the worker judge a posterior file; one at a time, so that it is clear what is stopped.
    fn judge(&mut self, case: Case) {
        if self.judging.is_some() {
            return;
        }
        let (control, port) = session::connect();
        let bell = self.bell.clone();
        control.listen(move || bell.ring());
        self.judging = Some(control);
        self.tell(&News::Judging(case.file.clone()));
        self.worker.ask(|mail| mail.add(Errand::Judge(case, port)));
    }

    /// What the judging of a file says, and that it is over.
    fn follow_judging(&mut self) -> Vec<News> {
        let Some(control) = &self.judging else {
            return Vec::new();
        };
        // Before its events are taken: when it is over, all of them are there.
        let over = control.is_over();
        let events = control.events().into_iter();
        let mut news: Vec<News> = events.map(News::JudgeSays).collect();
        if over {
            self.judging = None;
            news.push(News::JudgingOver);
        }
        news
    }

    fn start(&mut self, plans: Vec<Plan>) {
        let folder = |plans: &[Plan]| plans.last().map(|plan| plan.folder.clone());
        let anew = folder(&self.plans) != folder(&plans);
        self.notices.clear();
        self.finished = None;
        self.own_file = false;
        self.plans.clone_from(&plans);
        self.runner = Some(Runner::new(plans, self.computer.clone(), self.bell.clone()));
        self.tell(&News::Starting { anew });
        self.show_panel("Training");
    }
}
