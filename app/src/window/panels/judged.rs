//! The networks that were judged, which three panels look at.

mod follower;

use super::{News, Wish};
use crate::window::{album::TestData, judging::Case, look, purpose::Purpose};
use bayesadapter::{evaluate::Evaluation, session::Event};
use egui::{Align, Layout, ProgressBar, RichText, Ui};
use follower::Follower;
use std::path::{Path, PathBuf};

/// Networks that were judged on the same pictures.
pub struct Networks {
    /// The folder of their run, or the file that they are of.
    of: PathBuf,
    /// What they were judged on, if it is known.
    pub data: Option<TestData>,
    /// The one that the others started from first.
    pub evaluations: Vec<Evaluation>,
}

impl Networks {
    /// Takes up what a network is worth, in the place of what was known of it; returns whether nothing was.
    fn take(&mut self, evaluation: &Evaluation) -> bool {
        let mut known = self.evaluations.iter_mut();
        let known = known.find(|one| one.method == evaluation.method);
        match known {
            Some(known) => known.clone_from(evaluation),
            None => {
                self.evaluations.push(evaluation.clone());
                return true;
            }
        }
        false
    }
}

/// What each network is worth: of a run, and of the posterior that is open. The two are never mixed.
#[derive(Default)]
pub struct Judged {
    /// Of the run that goes on, or was stopped.
    run: Option<Networks>,
    /// The same run, on its way.
    live: Follower,
    file: Option<Networks>,
    /// The user looks at the file, though there is a run.
    prefers_file: bool,
    chosen: Option<usize>,
    /// How often something else was shown.
    turns: u64,
    /// What the file was judged on for the last time, or would be.
    case: Option<Case>,
    judging: Option<Judging>,
}

/// The judging of a posterior file that goes on.
struct Judging {
    file: PathBuf,
    /// The network that is being judged, and the share of the pictures that are done.
    method: String,
    share: f32,
    /// The networks before it.
    done: Vec<Evaluation>,
}

/// What is shown: as long as it is the same, so are the networks, and the one that is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Edition {
    turns: u64,
    chosen: Option<usize>,
}

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Run,
    File,
}

impl Judged {
    /// Takes up evaluations; returns whether something else is shown now.
    pub fn on_news(&mut self, news: &News) -> bool {
        let before = self.side();
        let changed = self.take(news);
        self.live.on_news(news);
        let now = self.side();
        let other = before != now || (changed.is_some() && changed == now);
        if other {
            self.chosen = None;
        }
        // A network that is looked at again is another one, though what the user has chosen stays.
        if other || matches!(news, News::Run(Event::Interim(_))) {
            self.turns += 1;
        }
        other
    }

    fn take(&mut self, news: &News) -> Option<Side> {
        match news {
            News::Starting { anew } => {
                self.prefers_file = false;
                if *anew {
                    self.run = None;
                }
                return Some(Side::Run);
            }
            News::Began { folder, data, .. }
                if self.run.as_ref().is_none_or(|run| run.of != *folder) =>
            {
                self.run = Some(Networks {
                    of: folder.clone(),
                    data: Some(data.clone()),
                    evaluations: Vec::new(),
                });
                self.live = Follower::default();
                return Some(Side::Run);
            }
            News::Run(Event::Evaluated(evaluation)) => {
                self.run.as_mut()?.take(evaluation);
                return Some(Side::Run);
            }
            // Of a network that is shown already, what the user has chosen stays.
            News::Run(Event::Interim(interim)) if !self.live.held => {
                let is_new = self.run.as_mut()?.take(&interim.evaluation);
                return is_new.then_some(Side::Run);
            }
            News::Opened(view) => {
                // What the run left is the file now.
                if self.run.as_ref().map(|run| run.of.as_path()) == view.path.parent() {
                    (self.run, self.live) = (None, Follower::default());
                }
                self.file = Some(Networks {
                    of: view.path.clone(),
                    data: view.data.clone(),
                    evaluations: view.evaluations.clone(),
                });
                self.case = Some(Case::of(&view.path));
                return Some(Side::File);
            }
            News::FileWanted => self.prefers_file = true,
            News::Judging(file) => {
                self.judging = Some(Judging {
                    file: file.clone(),
                    method: String::new(),
                    share: 0.0,
                    done: Vec::new(),
                });
            }
            News::JudgeSays(Event::Evaluating {
                method, done, of, ..
            }) => {
                let judging = self.judging.as_mut()?;
                judging.method.clone_from(method);
                judging.share = *done as f32 / (*of).max(1) as f32;
            }
            News::JudgeSays(Event::Evaluated(evaluation)) => {
                let judging = self.judging.as_mut()?;
                judging.done.push(evaluation.as_ref().clone());
            }
            News::JudgingOver => self.judging = None,
            News::Judged(judgement) => {
                let file = self.file.as_mut()?;
                if file.of == judgement.case.file {
                    file.data = Some(judgement.data.clone());
                    file.evaluations.clone_from(&judgement.evaluations);
                    self.case = Some(judgement.case.clone());
                    return Some(Side::File);
                }
            }
            _ => {}
        }
        None
    }

    /// The run that was judged, if anything of it was.
    fn judged_run(&self) -> Option<&Networks> {
        let run = self.run.as_ref();
        run.filter(|run| !run.evaluations.is_empty())
    }

    fn side(&self) -> Option<Side> {
        match (self.judged_run(), &self.file) {
            (Some(_), Some(_)) if self.prefers_file => Some(Side::File),
            (Some(_), _) => Some(Side::Run),
            (None, Some(_)) => Some(Side::File),
            (None, None) => None,
        }
    }

    fn networks(&self) -> Option<&Networks> {
        match self.side()? {
            Side::Run => self.run.as_ref(),
            Side::File => self.file.as_ref(),
        }
    }

    /// The networks that are shown.
    pub fn evaluations(&self) -> &[Evaluation] {
        self.networks()
            .map_or(&[], |networks| networks.evaluations.as_slice())
    }

    /// Those of the run, whatever is shown.
    pub fn of_run(&self) -> &[Evaluation] {
        let run = self.run.as_ref();
        run.map_or(&[], |run| run.evaluations.as_slice())
    }

    /// Those that are done of the file that is being judged.
    pub fn being_judged(&self) -> &[Evaluation] {
        let judging = self.judging.as_ref();
        judging.map_or(&[], |judging| judging.done.as_slice())
    }

    /// Whether the user looks at the file, though there may be a run.
    pub fn prefers_file(&self) -> bool {
        self.prefers_file
    }

    /// Whether the networks of the run are shown.
    pub fn shows_run(&self) -> bool {
        self.side() == Some(Side::Run)
    }

    /// Whether a look at the run is shown, which has not come to its end.
    #[cfg(not(target_family = "wasm"))]
    pub fn shows_look(&self) -> bool {
        self.shows_run() && self.live.has_seen()
    }

    /// What the networks that are shown were judged on.
    pub fn data(&self) -> Option<&TestData> {
        self.networks()?.data.as_ref()
    }

    /// The network that is looked at; the last one if none was chosen.
    pub fn shown(&self) -> Option<&Evaluation> {
        let all = self.evaluations();
        let last = all.len().checked_sub(1)?;
        all.get(self.chosen.unwrap_or(last))
    }

    /// What is shown now, for those who keep what they made of it.
    pub fn edition(&self) -> Edition {
        Edition {
            turns: self.turns,
            chosen: self.chosen,
        }
    }

    /// Whether the user wants to see the run, which may have nothing to show yet.
    fn follows_run(&self) -> bool {
        self.shows_run() || !self.prefers_file
    }

    /// Keeps what is shown of the run as it is, while the user looks at its pictures.
    pub fn hold(&mut self, looks_at_pictures: bool) {
        self.live.held = looks_at_pictures && self.shows_run();
    }

    /// Tells what is shown, and lets the user choose it; a run that goes on is asked what it is worth. Returns whether
    /// something else is shown now.
    pub fn source(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) -> bool {
        let other = self.choose_side(ui, wishes);
        if !self.follows_run() {
            return other;
        }
        self.live.ask(wishes);
        if self.live.is_awaited() && !self.evaluations().is_empty() {
            ui.label(RichText::new(COMING).italics());
        }
        (self.shows_run() && self.live.ui(ui)) || other
    }

    /// Where there is a run and a file, lets the user choose between them, and where the file was judged, lets it be
    /// judged again; while that goes on, tells how far it is. Returns whether the other was chosen.
    fn choose_side(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) -> bool {
        let both = self.judged_run().zip(self.file.as_ref());
        let of_file = self.side() == Some(Side::File) && !self.evaluations().is_empty();
        let again = self.case.as_ref().filter(|_| of_file);
        if both.is_none() && again.is_none() && self.judging.is_none() {
            return false;
        }
        let mut prefers_file = self.prefers_file;
        ui.horizontal(|ui| {
            if let Some((run, file)) = both {
                for (of_file, what, path) in
                    [(false, "The run", &run.of), (true, "The file", &file.of)]
                {
                    let text = format!("{what} {}", two_names(path));
                    ui.selectable_value(&mut prefers_file, of_file, text)
                        .on_hover_text(path.display().to_string());
                }
                if again.is_some() || self.judging.is_some() {
                    ui.separator();
                }
            }
            match (&self.judging, again) {
                (Some(judging), _) => judging.ui(ui, wishes),
                (None, Some(case)) => judge_again(ui, case, wishes),
                (None, None) => {}
            }
        });
        let other = prefers_file != self.prefers_file;
        self.prefers_file = prefers_file;
        if other {
            self.chosen = None;
            self.turns += 1;
        }
        other
    }

    /// Lets the user choose a network; returns whether another one was chosen.
    pub fn choice(&mut self, ui: &mut Ui) -> bool {
        let last = self.evaluations().len().saturating_sub(1);
        let before = self.chosen.unwrap_or(last);
        let mut now = before;
        ui.horizontal(|ui| {
            for (at, evaluation) in self.evaluations().iter().enumerate() {
                ui.selectable_value(&mut now, at, &evaluation.method);
            }
        });
        self.chosen = Some(now);
        now != before
    }

    /// What a page says that has nothing to show, and how that changes.
    pub fn nothing(&self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let coming = self.follows_run() && self.live.is_awaited();
        look::nothing_yet(ui, if coming { COMING } else { NOTHING });
        let case = self.case.as_ref().filter(|_| self.judging.is_none());
        let Some(case) = case else {
            return;
        };
        ui.add_space(12.0);
        ui.with_layout(Layout::top_down(Align::Center), |ui| {
            for (way, explained, wish) in ways(case) {
                let judge = ui.button(format!("Judge it {way}"));
                if judge.on_hover_text(explained).clicked() {
                    wishes.push(wish);
                }
            }
        });
    }
}

impl Judging {
    /// How far it is, and the way to end it.
    fn ui(&self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let file = two_names(&self.file);
        ui.label(match self.method.is_empty() {
            true => format!("Opening {file} to judge it"),
            false => format!("Judging {} of {file}", self.method),
        });
        let bar = ProgressBar::new(self.share).show_percentage();
        ui.add(bar.desired_width(160.0));
        let stop = ui.button("Stop");
        if stop
            .on_hover_text("What was known before stays as it is.")
            .clicked()
        {
            wishes.push(Wish::StopJudging);
        }
    }
}

/// A menu of what the file can be judged on.
fn judge_again(ui: &mut Ui, case: &Case, wishes: &mut Vec<Wish>) {
    ui.menu_button("Judge again…", |ui| {
        for (way, explained, wish) in ways(case) {
            if ui.button(way).on_hover_text(explained).clicked() {
                wishes.push(wish);
            }
        }
    });
}

/// What a file can be judged on, which is explained; what was chosen for the last time stays where nothing else is.
fn ways(case: &Case) -> [(&'static str, &'static str, Wish); 3] {
    [
        (
            "on its own data",
            "On the test pictures of the data that it was made with.",
            Wish::Judge(Case::of(&case.file)),
        ),
        (
            "on other data…",
            "On a folder of pictures with the same classes.",
            Wish::Choose(Purpose::JudgeOn(case.clone())),
        ),
        (
            "with pictures of another kind…",
            "Beside test pictures, on a folder of pictures that show none of its classes: it should be unsure of them.",
            Wish::Choose(Purpose::JudgeWith(case.clone())),
        ),
    ]
}

/// The last two names of a path, which tell it from others.
fn two_names(path: &Path) -> String {
    let names: Vec<_> = path.iter().rev().take(2).collect();
    let path: PathBuf = names.into_iter().rev().collect();
    path.display().to_string()
}

const NOTHING: &str = "Nothing was judged yet. A run does it while it learns, and at its end by all test pictures; a \
    posterior file brings it along if it lies in the folder of its run.";

const COMING: &str = "The first look at what the run is worth is on its way.";
