//! Whether the network knows what it does not know.

use super::{
    News, Panel, Wish,
    gallery::Gallery,
    judged::{Judged, NOTHING},
};
use crate::window::look::{self, BLUE, QUIET, VERMILION, terms};
use bayesadapter::evaluate::Evaluation;
use egui::{RichText, Slider, Ui};
use egui_plot::{Bar, BarChart, Line, PlotPoints};

/// Bars of a histogram.
const BARS: usize = 30;

/// The panel.
#[derive(Default)]
pub struct Uncertainty {
    judged: Judged,
    gallery: Gallery,
    /// Share of the pictures that is handed to a person, in percent.
    rejected: f64,
}

impl Panel for Uncertainty {
    fn name(&self) -> &'static str {
        "Uncertainty"
    }

    fn about(&self) -> &'static str {
        "Whether the network knows what it does not know: its mistakes, and pictures of another kind."
    }

    fn on_news(&mut self, news: &News) {
        if self.judged.on_news(news) {
            self.gallery.close();
        }
        if let News::Pictures(pictures) = news {
            self.gallery.fill(pictures);
        }
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        if self.judged.evaluations.is_empty() {
            look::nothing_yet(ui, NOTHING);
            return;
        }
        if self.judged.choice(ui) {
            self.gallery.close();
        }
        let Some(evaluation) = self.judged.shown() else {
            return;
        };
        rejection(ui, evaluation, &mut self.rejected);
        ui.add_space(6.0);
        let height = 0.5 * ui.available_height() - 40.0;
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            buckets(left, evaluation, &mut self.gallery, height, wishes);
            histograms(right, evaluation, height);
        });
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            self.gallery.ui(left, evaluation);
            error_above_confidence(right, &self.judged.evaluations, height);
        });
    }
}

/// A slider for what is handed to a person, and the accuracy of what is kept.
fn rejection(ui: &mut Ui, evaluation: &Evaluation, rejected: &mut f64) {
    let correct = evaluation.correct();
    let all = correct.len();
    let kept = all - ((all as f64 * *rejected / 100.0).round() as usize).min(all);
    let order = evaluation.by_rising_uncertainty().take(kept);
    let right = order.filter(|&at| correct.get(at) == Some(&true)).count();
    ui.horizontal(|ui| {
        let name = ui
            .label("Reject the least sure")
            .on_hover_text("Pictures that a person should look at instead.");
        ui.add(Slider::new(rejected, 0.0..=90.0).suffix(" %"))
            .labelled_by(name.id);
        let text = match kept {
            0 => "nothing is kept".to_owned(),
            kept => format!(
                "{kept} pictures kept, {:.2} % of them right ({:.2} % of all)",
                100.0 * right as f64 / kept as f64,
                100.0 * evaluation.scores.accuracy
            ),
        };
        ui.label(RichText::new(text).strong());
    });
}

/// Accuracy of ten equal buckets; a click shows the pictures of one.
fn buckets(
    ui: &mut Ui,
    evaluation: &Evaluation,
    gallery: &mut Gallery,
    height: f32,
    wishes: &mut Vec<Wish>,
) {
    let title = format!("Accuracy by {}, %: click a bar", evaluation.ranked_by);
    let explained = "Test pictures in ten equal buckets, from the surest to the least sure; if the uncertainty is \
        worth anything, accuracy falls.";
    look::title(ui, &title, explained);
    let (ink, chosen) = (BLUE.on(ui), VERMILION.on(ui));
    let shown = gallery.bucket();
    let bars = evaluation.buckets.iter().enumerate().map(|(at, bucket)| {
        let bar = Bar::new(at as f64 + 1.0, 100.0 * bucket.accuracy.unwrap_or(0.0));
        bar.width(0.86)
            .fill(if shown == Some(at) { chosen } else { ink })
    });
    let bars: Vec<Bar> = bars.collect();
    let response = look::plot("buckets", height)
        .x_axis_label("bucket, from the surest")
        .include_y(0.0)
        .include_y(100.0)
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("accuracy", bars).color(ink));
            plot.pointer_coordinate()
        });
    if response.response.clicked()
        && let Some(point) = response.inner
    {
        let at = (point.x - 0.5).floor().max(0.0) as usize;
        if let Some(bucket) = evaluation.buckets.get(at) {
            wishes.extend(gallery.open(at, bucket));
        }
    }
}

/// Uncertainty of test pictures and of pictures of another kind.
fn histograms(ui: &mut Ui, evaluation: &Evaluation, height: f32) {
    let measure = evaluation.ranked_by;
    let title = format!("Share of pictures by {measure}, %");
    look::title(ui, &title, terms::MUTUAL_INFORMATION);
    let mut kinds = vec![(
        "test pictures",
        BLUE,
        evaluation.examples.uncertainty(measure),
    )];
    if let Some(other) = &evaluation.out_of_distribution {
        kinds.push((&other.name, VERMILION, other.examples.uncertainty(measure)));
    }
    let values = kinds.iter().flat_map(|(_, _, values)| values);
    let most = values.copied().fold(1e-9, f64::max);
    let charts: Vec<BarChart> = kinds
        .iter()
        .map(|(name, ink, values)| {
            let colour = ink.on(ui).gamma_multiply(0.6);
            BarChart::new(*name, histogram(values, most)).color(colour)
        })
        .collect();
    look::plot("histograms", height)
        .legend(look::legend())
        .x_axis_label(format!("{measure}, nats"))
        .show(ui, |plot| {
            charts.into_iter().for_each(|chart| plot.bar_chart(chart));
        });
}

fn histogram(values: &[f64], most: f64) -> Vec<Bar> {
    let mut counts = [0usize; BARS];
    for value in values {
        let bar = (value.max(0.0) / most * BARS as f64) as usize;
        counts[bar.min(BARS - 1)] += 1;
    }
    let width = most / BARS as f64;
    let share = |count: usize| 100.0 * count as f64 / values.len().max(1) as f64;
    let counts = counts.into_iter().enumerate();
    counts
        .map(|(at, count)| Bar::new((at as f64 + 0.5) * width, share(count)).width(width))
        .collect()
}

fn error_above_confidence(ui: &mut Ui, evaluations: &[Evaluation], height: f32) {
    let explained = "Of the answers with at least this confidence, the share that is wrong; answers about pictures of \
        another kind are always wrong.";
    look::title(ui, "Wrong answers above a confidence, %", explained);
    let lines: Vec<Line<'_>> = evaluations
        .iter()
        .enumerate()
        .map(|(at, evaluation)| {
            let points = evaluation.error_above_confidence.iter();
            let points: PlotPoints<'_> = points
                .filter_map(|point| Some([point.threshold, 100.0 * point.error?]))
                .collect();
            let ink = if at == 0 { QUIET } else { look::of_method(at) };
            Line::new(&evaluation.method, points)
                .color(ink.on(ui))
                .width(2.0)
        })
        .collect();
    look::plot("error above confidence", height)
        .legend(look::legend())
        .x_axis_label("least confidence")
        .include_y(0.0)
        .show(ui, |plot| {
            lines.into_iter().for_each(|line| plot.line(line))
        });
}
