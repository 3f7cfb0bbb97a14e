//! What it is worth to average over draws.

use super::{
    News, Panel, Wish,
    judged::{Judged, NOTHING},
};
use crate::window::look::{self, BLUE, QUIET, VERMILION, terms};
use bayesadapter::{evaluate::Evaluation, metrics::DrawScore};
use egui::{Grid, RichText, Ui};
use egui_plot::{HLine, Line, LineStyle, PlotPoints, Points};

/// Change of the NLL, in nats, below which more draws are not worth their time.
const TOLERANCE: f64 = 0.01;

/// The panel.
#[derive(Default)]
pub struct Ensemble {
    judged: Judged,
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
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut Vec<Wish>) {
        if self.judged.evaluations.is_empty() {
            look::nothing_yet(ui, NOTHING);
            return;
        }
        scores(ui, &self.judged.evaluations);
        ui.add_space(12.0);
        let with_draws = self.judged.evaluations.iter().rev();
        let with_draws = with_draws.filter(|one| one.curve.is_some());
        match with_draws.take(1).next() {
            Some(evaluation) => self.curves(ui, evaluation),
            None => {
                ui.label("Point weights have no draws; the curves come with a posterior.");
            }
        }
    }
}

impl Ensemble {
    fn curves(&self, ui: &mut Ui, evaluation: &Evaluation) {
        let Some(curve) = &evaluation.curve else {
            return;
        };
        let stable = match curve.draws_until_stable(TOLERANCE) {
            Some(draws) => format!(
                "From {draws} draws on, more change the NLL of {} by less than {TOLERANCE} nats.",
                evaluation.method
            ),
            None => format!("More than {} draws would still help.", evaluation.draws),
        };
        ui.label(stable).on_hover_text(terms::DRAWS);
        ui.add_space(8.0);
        let height = ui.available_height() - 40.0;
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            let accuracy = |score: &DrawScore| 100.0 * score.accuracy;
            look::title(left, "Test accuracy, %", terms::ACCURACY);
            self.curve(left, evaluation, "ensemble accuracy", height, accuracy);
            look::title(right, "Negative log-likelihood, nats", terms::NLL);
            self.curve(right, evaluation, "ensemble nll", height, |score| score.nll);
        });
    }

    /// One score against the number of draws, with single draws and the network before fine-tuning.
    fn curve(
        &self,
        ui: &mut Ui,
        evaluation: &Evaluation,
        id: &str,
        height: f32,
        score: impl Fn(&DrawScore) -> f64,
    ) {
        let Some(curve) = &evaluation.curve else {
            return;
        };
        let against = |scores: &[DrawScore]| -> PlotPoints<'static> {
            let scores = scores.iter().enumerate();
            scores
                .map(|(at, one)| [at as f64 + 1.0, score(one)])
                .collect()
        };
        let (average, single) = (against(&curve.ensemble), against(&curve.single));
        let baseline = self.judged.evaluations.first();
        let baseline = baseline.filter(|one| one.method != evaluation.method);
        let baseline = baseline.map(|one| {
            let scores = DrawScore {
                accuracy: one.scores.accuracy,
                nll: one.scores.nll,
            };
            (one.method.clone(), score(&scores))
        });
        let [blue, vermilion, quiet] = [BLUE, VERMILION, QUIET].map(|ink| ink.on(ui));
        look::plot(id, height)
            .legend(look::legend())
            .x_axis_label("draws S")
            .show(ui, |plot| {
                let points = Points::new("each draw alone", single).radius(3.0);
                plot.points(points.color(vermilion));
                let line = Line::new("average of the first S", average);
                plot.line(line.color(blue).width(2.5));
                if let Some((name, value)) = baseline {
                    let line = HLine::new(format!("{name}, the start"), value);
                    plot.hline(line.color(quiet).style(LineStyle::dashed_loose()));
                }
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
                let auroc = |found: Option<bayesadapter::evaluate::Detection>| {
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
