//! What it is worth to average over draws.

use super::{
    News, Panel, Wish,
    judged::{Judged, NOTHING},
};
use crate::window::look::{self, BLUE, GREEN, QUIET, VERMILION, terms};
use bayesadapter::{
    evaluate::{Detection, Evaluation},
    metrics::{DrawCurve, DrawScore},
    session::Event,
};
use egui::{Color32, Grid, RichText, Ui};
use egui_plot::{HLine, Line, LineStyle, PlotPoints, Points, VLine};

/// Relative change of the NLL below which more draws are not worth their time.
const TOLERANCE: f64 = 0.01;

/// The panel.
#[derive(Default)]
pub struct Ensemble {
    judged: Judged,
    /// The network that is being judged, and its curve so far.
    so_far: Option<(String, DrawCurve)>,
}

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
            }) => self.so_far = Some((method.clone(), curve.as_ref().clone())),
            News::Run(Event::Evaluated(_)) | News::Opened(_) | News::Over(_) => self.so_far = None,
            _ => {}
        }
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut Vec<Wish>) {
        let evaluations = &self.judged.evaluations;
        if evaluations.is_empty() && self.so_far.is_none() {
            look::nothing_yet(ui, NOTHING);
            return;
        }
        scores(ui, evaluations);
        ui.add_space(12.0);
        let judged = evaluations.iter().rev();
        let mut judged = judged.filter_map(|one| Some((&one.method, one.curve.as_ref()?)));
        let shown = match &self.so_far {
            Some((method, curve)) => Some((method, curve)),
            None => judged.next(),
        };
        match shown {
            Some((method, curve)) => self.curves(ui, method, curve),
            None => {
                ui.label("Point weights have no draws; the curves come with a posterior.");
            }
        }
    }
}

impl Ensemble {
    fn curves(&self, ui: &mut Ui, method: &str, curve: &DrawCurve) {
        let last = curve.ensemble.last().map_or(0.0, |score| score.nll);
        let stable = curve.draws_until_stable(TOLERANCE * last);
        let text = match (&self.so_far, stable) {
            (Some(_), _) => {
                format!("{method} is being judged; this is of the test pictures so far.")
            }
            (None, Some(draws)) => format!(
                "Nothing changes from S = {draws} on: more draws change the NLL of {method} by less than {:.0} %.",
                100.0 * TOLERANCE
            ),
            (None, None) => format!("More than {} draws would still help.", curve.single.len()),
        };
        ui.label(RichText::new(text).strong())
            .on_hover_text(terms::DRAWS);
        ui.add_space(4.0);
        let start = self.judged.evaluations.first();
        let start = start.filter(|one| one.method != method);
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
            height,
        };
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            look::title(left, "Test accuracy, %", terms::ACCURACY);
            lines.ui(left, "ensemble accuracy", |score| 100.0 * score.accuracy);
            look::title(right, "Negative log-likelihood, nats", terms::NLL);
            lines.ui(right, "ensemble nll", |score| score.nll);
        });
    }
}

/// What both plots show.
struct Lines<'a> {
    curve: &'a DrawCurve,
    start: Option<DrawScore>,
    /// Draws after which nothing changes.
    stable: Option<usize>,
    height: f32,
}

impl Lines<'_> {
    /// One score against the number of draws.
    fn ui(&self, ui: &mut Ui, id: &str, score: impl Fn(&DrawScore) -> f64) {
        let against = |scores: &[DrawScore]| -> PlotPoints<'static> {
            let scores = scores.iter().enumerate();
            scores
                .map(|(at, one)| [at as f64 + 1.0, score(one)])
                .collect()
        };
        let (average, single) = (against(&self.curve.ensemble), against(&self.curve.single));
        let [blue, vermilion, green, quiet] = [BLUE, VERMILION, GREEN, QUIET].map(|ink| ink.on(ui));
        let levels = [
            ("mean network", self.curve.mean_network, green),
            ("the start", self.start, quiet),
        ];
        let levels = levels
            .into_iter()
            .filter_map(|(name, level, colour)| Some((name, score(&level?), colour)));
        let levels: Vec<(&str, f64, Color32)> = levels.collect();
        let mut shown = look::plot(id, self.height).x_axis_label("draws S");
        // Lines without ends do not ask for room.
        for (_, level, _) in &levels {
            shown = shown.include_y(*level);
        }
        shown.include_x(0.5).show(ui, |plot| {
            for (name, level, colour) in levels {
                let line = HLine::new(name, level).color(colour);
                plot.hline(line.style(LineStyle::dashed_loose()));
            }
            if let Some(draws) = self.stable {
                let line = VLine::new("nothing changes from here on", draws as f64);
                plot.vline(line.color(quiet).style(LineStyle::dotted_loose()));
            }
            let points = Points::new("a draw alone", single).radius(3.0);
            plot.points(points.color(vermilion));
            let line = Line::new("average of the first S", average);
            plot.line(line.color(blue).width(2.5));
        });
    }
}

/// The networks in a table.
fn scores(ui: &mut Ui, evaluations: &[Evaluation]) {
    Grid::new("scores")
        .striped(true)
        .spacing([36.0, 6.0])
        .show(ui, |ui| {
            for (name, explained) in [
                ("network", "What was judged."),
                ("accuracy", terms::ACCURACY),
                ("NLL", terms::NLL),
                ("ECE", terms::ECE),
                ("finds errors", "How well the uncertainty finds wrong answers: 1 is perfect, 0.5 is chance (AUROC)."),
                ("finds strangers", "How well the uncertainty finds pictures of another kind: 1 is perfect, 0.5 is chance (AUROC)."),
                ("draws", terms::DRAWS),
            ] {
                ui.label(RichText::new(name).weak()).on_hover_text(explained);
            }
            ui.end_row();
            for evaluation in evaluations {
                let scores = &evaluation.scores;
                let measure = evaluation.ranked_by;
                let errors = scores.error_detection.and_then(|all| all.by(measure));
                let others = evaluation.out_of_distribution.as_ref();
                let others = others.and_then(|others| others.detection.by(measure));
                let auroc = |found: Option<Detection>| {
                    found.map_or("none".to_owned(), |found| format!("{:.3}", found.auroc))
                };
                ui.label(RichText::new(&evaluation.method).strong());
                ui.label(format!("{:.2} %", 100.0 * scores.accuracy));
                ui.label(format!("{:.4}", scores.nll));
                ui.label(format!("{:.4}", scores.ece));
                ui.label(auroc(errors));
                ui.label(auroc(others));
                ui.label(match evaluation.draws {
                    0 => "at the mean".to_owned(),
                    draws => draws.to_string(),
                });
                ui.end_row();
            }
        });
}
