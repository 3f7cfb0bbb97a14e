//! The networks that were judged, which three panels look at.

use super::{News, Wish};
use crate::window::{
    album::TestData, errand::Errand, look, platform::HAS_FOLDERS, purpose::Purpose,
};
use bayesadapter::{evaluate::Evaluation, session::Event};
use egui::{Align, Layout, Ui};
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

/// What each network is worth: of a run, and of the posterior that is open. The two are never mixed.
#[derive(Default)]
pub struct Judged {
    /// Of the run that goes on, or was stopped.
    run: Option<Networks>,
    file: Option<Networks>,
    /// The user looks at the file, though there is a run.
    prefers_file: bool,
    chosen: Option<usize>,
    /// The network of the file is being judged.
    judging: bool,
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
        let now = self.side();
        let other = before != now || (changed.is_some() && changed == now);
        if other {
            self.chosen = None;
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
                return Some(Side::Run);
            }
            News::Run(Event::Evaluated(evaluation)) => {
                let run = self.run.as_mut()?;
                run.evaluations
                    .retain(|one| one.method != evaluation.method);
                run.evaluations.push(evaluation.as_ref().clone());
                return Some(Side::Run);
            }
            News::Opened(view) => {
                // What the run left is the file now.
                if self.run.as_ref().map(|run| run.of.as_path()) == view.path.parent() {
                    self.run = None;
                }
                self.file = Some(Networks {
                    of: view.path.clone(),
                    data: view.data.clone(),
                    evaluations: view.evaluations.clone(),
                });
                return Some(Side::File);
            }
            News::FileWanted => self.prefers_file = true,
            News::Judging => self.judging = true,
            News::Judged(judged) => {
                self.judging = false;
                let (judgement, file) = judged.as_ref().ok().zip(self.file.as_mut())?;
                if file.of == judgement.path {
                    file.data = Some(judgement.data.clone());
                    file.evaluations = vec![judgement.evaluation.clone()];
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

    /// Where there is a run and a file, lets the user choose between them; returns whether the other was chosen.
    pub fn source(&mut self, ui: &mut Ui) -> bool {
        let (Some(run), Some(file)) = (self.judged_run(), &self.file) else {
            return false;
        };
        let mut prefers_file = self.prefers_file;
        ui.horizontal(|ui| {
            for (of_file, what, path) in [(false, "The run", &run.of), (true, "The file", &file.of)]
            {
                let text = format!("{what} {}", two_names(path));
                ui.selectable_value(&mut prefers_file, of_file, text)
                    .on_hover_text(path.display().to_string());
            }
        });
        let other = prefers_file != self.prefers_file;
        self.prefers_file = prefers_file;
        if other {
            self.chosen = None;
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
        look::nothing_yet(ui, NOTHING);
        let Some(file) = &self.file else {
            return;
        };
        ui.add_space(12.0);
        ui.with_layout(Layout::top_down(Align::Center), |ui| {
            if self.judging {
                ui.label("The network that is open is being judged.");
                return;
            }
            let judge = ui.button("Judge it on its own data");
            let explained = "On the test pictures of the data that it was made with.";
            if judge.on_hover_text(explained).clicked() {
                wishes.push(Wish::Do(Errand::Judge(file.of.clone(), None)));
            }
            if !HAS_FOLDERS {
                return;
            }
            let judge = ui.button("Judge it on other data…");
            let explained = "On a folder of pictures with the same classes.";
            if judge.on_hover_text(explained).clicked() {
                wishes.push(Wish::Choose(Purpose::JudgeOn(file.of.clone())));
            }
        });
    }
}

/// The last two names of a path, which tell it from others.
fn two_names(path: &Path) -> String {
    let names: Vec<_> = path.iter().rev().take(2).collect();
    let path: PathBuf = names.into_iter().rev().collect();
    path.display().to_string()
}

const NOTHING: &str = "Nothing was judged yet. A run does it when it ends; a posterior file brings it along if it lies \
    in the folder of its run.";
