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
    evaluate::{ComparisonRow, Evaluation, ImageSet},
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
        let mut judged = judged.filter_map(|one| {
            Some(Shown {
                method: &one.method,
                curve: one.curve.as_ref()?,
                set: one.set,
                end: true,
            })
        });
        let shown = match so_far {
            Some(((method, curve), _)) => Some(Shown {
                method,
                curve,
                set: ImageSet::Test,
                end: false,
            }),
            None => judged.next(),
        };
        match shown {
            Some(shown) => {
                let start = evaluations.first();
                let start = start.filter(|one| one.method != shown.method);
                shown.curves(ui, start, wishes);
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

/// The network whose curves are drawn.
struct Shown<'a> {
    method: &'a str,
    curve: &'a DrawCurve,
    /// The images that it was evaluated on: while a run goes on, those of the validation set.
    set: ImageSet,
    /// Whether all of them are in the curves.
    end: bool,
}

impl Shown<'_> {
    fn curves(&self, ui: &mut Ui, start: Option<&Evaluation>, wishes: &mut Vec<Wish>) {
        let Self { curve, set, .. } = *self;
        let last = curve.ensemble.last().map_or(0.0, |score| score.nll);
        let stable = curve.draws_until_stable(TOLERANCE * last);
        ui.label(RichText::new(self.in_words(stable)).strong())
            .on_hover_text(terms::DRAWS);
        ui.add_space(4.0);
        let start_name = start.map(|one| start_name(one, set));
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
            start: start_name.zip(start),
            stable,
        };
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            let percent = |score: &DrawScore| 100.0 * score.accuracy;
            let y_label = format!("{set} accuracy, %");
            let drawing = lines.drawing(accuracy_title(set), &y_label, percent);
            take_away::plot(left, drawing, terms::ACCURACY, height, None, wishes);
            let (title, y_label) = ("Negative log-likelihood, nats", format!("{set} NLL, nats"));
            let drawing = lines.drawing(title, &y_label, |score| score.nll);
            take_away::plot(right, drawing, terms::NLL, height, None, wishes);
        });
    }

    /// After how many draws nothing changes, or that it is too early to tell.
    fn in_words(&self, stable: Option<usize>) -> String {
        let Self { method, set, .. } = self;
        match (self.end, stable) {
            (false, _) => {
                format!("{method} is being evaluated; this is of the {set} images so far.")
            }
            (true, Some(draws)) => format!(
                "Nothing changes from S = {draws} on: more draws change the NLL of {method} by less than {:.0} %.",
                100.0 * TOLERANCE
            ),
            (true, None) => {
                let draws = self.curve.single.len();
                format!("More than {draws} draws would still help.")
            }
        }
    }
}

/// The title of the accuracy on these images.
fn accuracy_title(set: ImageSet) -> &'static str {
    match set {
        ImageSet::Test => "Test accuracy, %",
        ImageSet::Validation => "Validation accuracy, %",
    }
}

/// What the network that the others started from is called beside curves on these images. While a run goes on it is
/// known on test images alone.
fn start_name(start: &Evaluation, set: ImageSet) -> String {
    let Evaluation {
        method, set: own, ..
    } = start;
    match *own == set {
        true => format!("{method}, the start"),
        false => format!("{method}, the start, on {own} images"),
    }
}

/// What both plots show.
struct Lines<'a> {
    curve: &'a DrawCurve,
    /// Name and scores of the network that the others started from.
    start: Option<(String, DrawScore)>,
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
        let mean = self.curve.mean_network.as_ref();
        let mean = mean.map(|level| ("mean network", level, GREEN));
        let start = self.start.as_ref();
        let start = start.map(|(name, level)| (name.as_str(), level, QUIET));
        for (name, level, ink) in mean.into_iter().chain(start) {
            let ends = [0.5, last].map(|at| [at, score(level)]).into();
            series.push(Series::new(name, ink, Mark::Dashed, ends));
        }
        if let Some(draws) = self.stable {
            let ends = [least, most].map(|value| [draws as f64, value]).into();
            let name = "nothing changes from here on";
            series.push(Series::new(name, QUIET, Mark::Dashed, ends));
        }
        drawings::drawing(title, "draws S", y_label, series)
    }
}

/// The networks in a table. Those of a run that goes on are named with the set that they were evaluated on.
fn table(ui: &mut Ui, evaluations: &[Evaluation]) {
    let rows = evaluations.iter().flat_map(|one| {
        let (set, rows) = (one.set, one.comparison_rows());
        rows.map(move |row| (set, row))
    });
    let rows: Vec<(ImageSet, ComparisonRow<'_>)> = rows.collect();
    let all: Vec<ComparisonRow<'_>> = rows.iter().map(|(_, row)| *row).collect();
    Grid::new("scores")
        .striped(true)
        .spacing([36.0, 6.0])
        .show(ui, |ui| {
            scores::heads(ui);
            ui.end_row();
            for (set, row) in &rows {
                let name = match set {
                    ImageSet::Test => row.name(),
                    ImageSet::Validation => format!("{}, validation images", row.name()),
                };
                ui.label(RichText::new(name).strong());
                scores::cells(ui, row, &all);
                ui.end_row();
            }
        });
}
