//! What it is worth to average over draws.

use super::{News, Panel, Wish, drawings, judged::Judged, scores};
use crate::{
    report::{Drawing, Mark, Series},
    window::{
        look::{self, BLUE, GREEN, QUIET, VERMILION, terms},
        take_away,
    },
};
use bayesadapter::{
    evaluate::{ComparisonRow, Evaluation},
    metrics::{DrawCurve, DrawScore},
    session::Event,
};
use egui::{Grid, RichText, Ui};

/// Relative change of the NLL below which more draws are not worth their time.
const TOLERANCE: f64 = 0.01;

/// The panel.
#[derive(Default)]
pub struct Ensemble {
    judged: Judged,
    /// What is being judged of the run, and of the file.
    of_run: Option<SoFar>,
    of_file: Option<SoFar>,
}

/// A network that is being judged, and its curve so far.
type SoFar = (String, DrawCurve);

impl Panel for Ensemble {
    fn name(&self) -> &'static str {
        "Ensemble"
    }

    fn about(&self) -> &'static str {
        "What it is worth to average over draws: accuracy and likelihood against their number."
    }

    fn on_news(&mut self, news: &News) {
        self.judged.on_news(news);
        match news {
            News::Run(Event::Evaluating {
                method,
                curve: Some(curve),
                ..
            }) => self.of_run = Some((method.clone(), curve.as_ref().clone())),
            News::Run(Event::Evaluated(_)) | News::Opened(_) | News::Over(_) => self.of_run = None,
            News::JudgeSays(Event::Evaluating {
                method,
                curve: Some(curve),
                ..
            }) => self.of_file = Some((method.clone(), curve.as_ref().clone())),
            News::JudgeSays(Event::Evaluated(_)) | News::JudgingOver => self.of_file = None,
            _ => {}
        }
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        self.judged.source(ui, wishes);
        // What is being judged stands beside what else is known of the run, or of the file.
        let so_far = self.so_far();
        let evaluations = match so_far {
            Some((_, beside)) => beside,
            None => self.judged.evaluations(),
        };
        if evaluations.is_empty() && so_far.is_none() {
            self.judged.nothing(ui, wishes);
            return;
        }
        table(ui, evaluations);
        ui.add_space(12.0);
        let judged = evaluations.iter().rev();
        let mut judged = judged.filter_map(|one| Some((&one.method, one.curve.as_ref()?)));
        let shown = match so_far {
            Some(((method, curve), _)) => Some((method, curve)),
            None => judged.next(),
        };
        match shown {
            Some((method, curve)) => {
                let start = evaluations.first().filter(|one| one.method != *method);
                let end = so_far.is_none();
                curves(ui, method, curve, end, start, wishes);
            }
            None => {
                ui.label("Point weights have no draws; the curves come with a posterior.");
            }
        }
    }
}

impl Ensemble {
    /// What is being judged, and the networks beside it.
    fn so_far(&self) -> Option<(&SoFar, &[Evaluation])> {
        let of_run = self.of_run.as_ref().filter(|_| !self.judged.prefers_file());
        let of_file = self.of_file.as_ref().filter(|_| !self.judged.shows_run());
        let of_run = of_run.map(|one| (one, self.judged.of_run()));
        of_run.or_else(|| of_file.map(|one| (one, self.judged.being_judged())))
    }
}

/// Draws the curves of a network; `end` says whether all test pictures are in them.
fn curves(
    ui: &mut Ui,
    method: &str,
    curve: &DrawCurve,
    end: bool,
    start: Option<&Evaluation>,
    wishes: &mut Vec<Wish>,
) {
    let last = curve.ensemble.last().map_or(0.0, |score| score.nll);
    let stable = curve.draws_until_stable(TOLERANCE * last);
    let text = match (end, stable) {
        (false, _) => {
            format!("{method} is being judged; this is of the test pictures so far.")
        }
        (true, Some(draws)) => format!(
            "Nothing changes from S = {draws} on: more draws change the NLL of {method} by less than {:.0} %.",
            100.0 * TOLERANCE
        ),
        (true, None) => format!("More than {} draws would still help.", curve.single.len()),
    };
    ui.label(RichText::new(text).strong())
        .on_hover_text(terms::DRAWS);
    ui.add_space(4.0);
    let start_name = start.map(|one| format!("{}, the start", one.method));
    let mut names = vec![
        ("average of the first S draws", BLUE),
        ("each draw alone", VERMILION),
    ];
    if curve.mean_network.is_some() {
        names.push(("mean network", GREEN));
    }
    names.extend(start_name.as_deref().map(|name| (name, QUIET)));
    look::key(ui, &names);
    ui.add_space(4.0);
    let start = start.map(|one| DrawScore {
        accuracy: one.scores.accuracy,
        nll: one.scores.nll,
    });
    let height = ui.available_height() - 34.0;
    let lines = Lines {
        curve,
        start,
        stable,
    };
    ui.columns(2, |columns| {
        let [left, right] = columns else { return };
        let percent = |score: &DrawScore| 100.0 * score.accuracy;
        let drawing = lines.drawing("Test accuracy, %", "test accuracy, %", percent);
        take_away::plot(left, drawing, terms::ACCURACY, height, None, wishes);
        let title = "Negative log-likelihood, nats";
        let drawing = lines.drawing(title, "NLL, nats", |score| score.nll);
        take_away::plot(right, drawing, terms::NLL, height, None, wishes);
    });
}

/// What both plots show.
struct Lines<'a> {
    curve: &'a DrawCurve,
    start: Option<DrawScore>,
    /// Draws after which nothing changes.
    stable: Option<usize>,
}

impl Lines<'_> {
    /// One score against the number of draws.
    fn drawing(
        &self,
        title: &str,
        y_label: &str,
        score: impl Fn(&DrawScore) -> f64 + Copy,
    ) -> Drawing {
        let average = drawings::against_draws(&self.curve.ensemble, score);
        let single = drawings::against_draws(&self.curve.single, score);
        let last = average.len() as f64 + 0.5;
        let values = single.iter().chain(&average).map(|[_, value]| *value);
        let [least, most] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], value| {
            [a.min(value), b.max(value)]
        });
        let mut series = vec![
            Series::new("average of the first S draws", BLUE, Mark::Line, average),
            Series::new("each draw alone", VERMILION, Mark::Points, single),
        ];
        for (name, level, ink) in [
            ("mean network", self.curve.mean_network, GREEN),
            ("the start", self.start, QUIET),
        ] {
            if let Some(level) = level {
                let ends = [0.5, last].map(|at| [at, score(&level)]).into();
                series.push(Series::new(name, ink, Mark::Dashed, ends));
            }
        }
        if let Some(draws) = self.stable {
            let ends = [least, most].map(|value| [draws as f64, value]).into();
            let name = "nothing changes from here on";
            series.push(Series::new(name, QUIET, Mark::Dashed, ends));
        }
        drawings::drawing(title, "draws S", y_label, series)
    }
}

/// The networks in a table.
fn table(ui: &mut Ui, evaluations: &[Evaluation]) {
    let rows = evaluations.iter().flat_map(Evaluation::comparison_rows);
    let all: Vec<ComparisonRow<'_>> = rows.collect();
    Grid::new("scores")
        .striped(true)
        .spacing([36.0, 6.0])
        .show(ui, |ui| {
            scores::heads(ui);
            ui.end_row();
            for row in &all {
                ui.label(RichText::new(row.name()).strong());
                scores::cells(ui, row, &all);
                ui.end_row();
            }
        });
}
