//! Several networks in one table, and their curves over each other.

use super::{
    News, Panel, Wish, drawings,
    scores::{self, COLUMNS},
};
use crate::{
    report::Drawing,
    window::{
        compare,
        errand::{Content, Errand},
        look::{self, terms},
        purpose::Purpose,
        take_away,
    },
};
use bayesadapter::evaluate::{ComparisonRow, Evaluation};
use egui::{Grid, RichText, ScrollArea, Ui};
use egui_plot::Corner;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

const NOTHING: &str = "Nothing to compare yet. Add run folders or posterior files, or drop them here: each network of \
    a run gets a row and a curve. What is open, and was judged, stands here by itself.";

/// A network.
struct Entry {
    /// Where its run is.
    path: PathBuf,
    /// Run and method.
    name: String,
    evaluation: Evaluation,
    /// It is here by itself, for as long as its posterior is open.
    of_open: bool,
}

/// The panel.
#[derive(Default)]
pub struct Compare {
    entries: Vec<Entry>,
    /// The posterior that is open, which can be added with a click.
    open: Option<PathBuf>,
}

impl Panel for Compare {
    fn name(&self) -> &'static str {
        "Compare"
    }

    fn about(&self) -> &'static str {
        "Several networks in one table, and their curves over each other."
    }

    fn on_news(&mut self, news: &News) {
        match news {
            News::Opened(view) => {
                self.open = Some(view.path.clone());
                // What was judged of it lies in the folder of its run.
                let run = view.path.parent().filter(|_| !view.evaluations.is_empty());
                self.show_open(run.unwrap_or(&view.path), "", &view.evaluations);
            }
            News::Judged(judgement) if self.open.as_ref() == Some(&judgement.case.file) => {
                let data = judgement.case.data.as_deref().map(compare::name_of);
                let on = data.map_or(String::new(), |data| format!(" on {data}"));
                self.show_open(&judgement.case.file, &on, &judgement.evaluations);
            }
            News::Compared(found) => {
                for run in &found.runs {
                    // A run that is added again may have gone on; and what is added stays, whatever is open.
                    self.entries.retain(|entry| {
                        let again = entry.of_open && run.evaluations.contains(&entry.evaluation);
                        entry.path != run.path && !again
                    });
                    self.add(&run.path, &run.name, &run.evaluations, false);
                }
            }
            _ => {}
        }
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        self.controls(ui, wishes);
        if self.entries.is_empty() {
            look::nothing_yet(ui, NOTHING);
            return;
        }
        ui.add_space(6.0);
        let room = 0.42 * ui.available_height();
        let table = ScrollArea::both().max_height(room);
        table.show(ui, |ui| self.table(ui));
        ui.add_space(10.0);
        let height = (ui.available_height() - 32.0).max(160.0);
        ui.columns(3, |columns| {
            let plots = self.drawings().into_iter().zip(EXPLAINED);
            for (ui, (drawing, (explained, legend))) in columns.iter_mut().zip(plots) {
                take_away::plot(ui, drawing, explained, height, Some(legend), wishes);
            }
        });
    }
}

/// What each plot shows, and where its legend hides nothing.
const EXPLAINED: [(&str, Corner); 3] = [
    (
        "Share of right answers among those of a confidence; on the dashed line confidence means what it says.",
        Corner::LeftTop,
    ),
    (
        "Accuracy of the average over the first S draws; a network without draws is a level line.",
        Corner::RightBottom,
    ),
    (terms::ERROR_ABOVE_CONFIDENCE, Corner::RightTop),
];

impl Compare {
    /// Puts the networks of the posterior that is open here, in the place of those that were open before.
    fn show_open(&mut self, path: &Path, on: &str, evaluations: &[Evaluation]) {
        self.entries.retain(|entry| !entry.of_open);
        let name = format!("{}{on}", compare::name_of(path));
        self.add(path, &name, evaluations, true);
    }

    fn add(&mut self, path: &Path, name: &str, evaluations: &[Evaluation], of_open: bool) {
        for evaluation in evaluations {
            // Runs that start from the same network judge it alike.
            let known = |entry: &Entry| entry.evaluation == *evaluation;
            if !self.entries.iter().any(known) {
                self.entries.push(Entry {
                    path: path.to_owned(),
                    name: format!("{name} {}", evaluation.method),
                    evaluation: evaluation.clone(),
                    of_open,
                });
            }
        }
    }

    fn controls(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        ui.horizontal(|ui| {
            if ui.button("Add run folder…").clicked() {
                wishes.push(Wish::Choose(Purpose::CompareRun));
            }
            let file = ui.button("Add posterior file…");
            let explained =
                "One that lies in no run folder is judged on the data it was made with.";
            if file.on_hover_text(explained).clicked() {
                wishes.push(Wish::Choose(Purpose::ComparePosterior));
            }
            if let Some(path) = &self.open {
                let add = ui.button("Keep the open one");
                let explained = format!("{} stays when another file is opened", path.display());
                if add.on_hover_text(explained).clicked() {
                    let of_open = self.entries.iter().any(|entry| entry.of_open);
                    // Its run was added, or it was kept already.
                    let stays = |entry: &Entry| path.starts_with(&entry.path);
                    if of_open {
                        let entries = self.entries.iter_mut();
                        entries.for_each(|entry| entry.of_open = false);
                    } else if !self.entries.iter().any(stays) {
                        wishes.push(Wish::Do(Errand::Compare(path.clone())));
                    }
                }
            }
            if self.entries.is_empty() {
                return;
            }
            ui.separator();
            if ui.button("Save table…").clicked() {
                let content = Content::Text(self.csv());
                wishes.push(take_away::keep("comparison.csv".to_owned(), content));
            }
            if ui.button("Remove all").clicked() {
                self.entries.clear();
            }
        });
    }

    fn table(&mut self, ui: &mut Ui) {
        let mut removed = None;
        let rows = self.entries.iter();
        let rows = rows.flat_map(|one| one.evaluation.comparison_rows());
        let all: Vec<ComparisonRow<'_>> = rows.collect();
        Grid::new("comparison")
            .striped(true)
            .spacing([26.0, 6.0])
            .show(ui, |ui| {
                scores::heads(ui);
                ui.end_row();
                for (at, entry) in self.entries.iter().enumerate() {
                    let name = RichText::new(&entry.name).strong();
                    ui.label(name.color(look::of_method(at).on(ui)))
                        .on_hover_text(entry.path.display().to_string());
                    let mut rows = entry.evaluation.comparison_rows();
                    if let Some(row) = rows.next() {
                        scores::cells(ui, &row, &all);
                    }
                    let remove = ui.small_button("Remove");
                    let remove = remove.accessible_name(format!("Remove {}", entry.name));
                    if remove.clicked() {
                        removed = Some(at);
                    }
                    ui.end_row();
                    for row in rows {
                        ui.label(format!("{} + T", entry.name));
                        scores::cells(ui, &row, &all);
                        ui.end_row();
                    }
                }
            });
        if let Some(at) = removed {
            self.entries.remove(at);
        }
    }

    fn csv(&self) -> String {
        let mut text = "network".to_owned();
        for column in &COLUMNS {
            let _ = write!(text, ",\"{}\"", column.name);
        }
        for entry in &self.entries {
            for row in entry.evaluation.comparison_rows() {
                let name = match row.temperature {
                    Some(_) => format!("{} + T", entry.name),
                    None => entry.name.clone(),
                };
                let _ = write!(text, "\n\"{}\"", name.replace('"', "\"\""));
                for column in &COLUMNS {
                    let value = (column.of)(&row);
                    let value = value.map_or(String::new(), |value| value.to_string());
                    let _ = write!(text, ",{value}");
                }
            }
        }
        text + "\n"
    }

    fn drawings(&self) -> [Drawing; 3] {
        let entries = self.entries.iter();
        let networks: Vec<_> = entries
            .map(|entry| (entry.name.as_str(), &entry.evaluation))
            .collect();
        [
            drawings::reliability_of_all(&networks),
            drawings::accuracy_of_all(&networks),
            drawings::error_above_confidence(&networks),
        ]
    }
}
