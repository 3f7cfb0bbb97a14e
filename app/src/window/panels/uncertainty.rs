//! Whether the network knows what it does not know.

use super::{
    News, Panel, Wish,
    gallery::Gallery,
    judged::{Judged, NOTHING},
};
use crate::window::look::{self, BLUE, QUIET, VERMILION, terms};
use bayesadapter::{evaluate::Evaluation, metrics::Histogram};
use egui::{RichText, Slider, Ui, UiBuilder};
use egui_plot::{Bar, BarChart, Corner, Line, LineStyle, PlotPoints, VLine};

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
        let height = 0.5 * ui.available_height() - 44.0;
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            buckets(left, evaluation, &mut self.gallery, height, wishes);
            histograms(middle, evaluation, height);
            risk_coverage(right, &self.judged.evaluations, self.rejected, height);
        });
        ui.add_space(6.0);
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            error_above_confidence(right, &self.judged.evaluations, height);
            // The pictures take two columns.
            let room = left.max_rect().union(middle.max_rect());
            let mut room = left.new_child(UiBuilder::new().max_rect(room));
            let hint =
                "Click a bar of the accuracy above to see its pictures here, from the surest on.";
            self.gallery.ui(&mut room, hint, evaluation);
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
    let shown = gallery.bar();
    let bars = evaluation.buckets.iter().enumerate().map(|(at, bucket)| {
        let bar = Bar::new(at as f64 + 1.0, 100.0 * bucket.accuracy.unwrap_or(0.0));
        bar.width(0.86)
            .fill(if shown == Some(at) { chosen } else { ink })
    });
    let bars: Vec<Bar> = bars.collect();
    let last = evaluation.buckets.len() as f64;
    let response = look::plot("buckets", height)
        .x_axis_label("bucket, from the surest")
        .x_axis_formatter(move |mark, _| match (1.0..=last).contains(&mark.value) {
            true => mark.value.to_string(),
            false => String::new(),
        })
        .include_x(0.5)
        .include_x(last + 0.5)
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
            let title = format!(
                "Pictures of bucket {}, from the surest: {} of {} right",
                at + 1,
                bucket
                    .accuracy
                    .map_or(0, |share| (share * bucket.indices.len() as f64).round()
                        as usize),
                bucket.indices.len()
            );
            wishes.extend(gallery.open(at, title, bucket.indices.clone()));
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
            let histogram = Histogram::within(values.iter().copied(), 0.0, most, BARS);
            BarChart::new(*name, look::bars(&histogram, colour)).color(colour)
        })
        .collect();
    look::plot("histograms", height)
        .legend(look::legend())
        .x_axis_label(format!("{measure}, nats"))
        .show(ui, |plot| {
            charts.into_iter().for_each(|chart| plot.bar_chart(chart));
        });
}

fn risk_coverage(ui: &mut Ui, evaluations: &[Evaluation], rejected: f64, height: f32) {
    look::title(ui, "Error among what is kept, %", terms::RISK_COVERAGE);
    let points = |one: &Evaluation| -> PlotPoints<'static> {
        let points = one.risk_coverage.iter();
        points
            .map(|point| [100.0 * point.coverage, 100.0 * point.risk])
            .collect()
    };
    let lines = lines(ui, evaluations, points);
    let kept = VLine::new("", 100.0 - rejected).color(QUIET.on(ui));
    look::plot("risk coverage", height)
        .legend(look::legend().position(Corner::LeftTop))
        .x_axis_label("share that is kept, the surest first, %")
        .include_y(0.0)
        .show(ui, |plot| {
            plot.vline(kept.style(LineStyle::dashed_loose()));
            lines.into_iter().for_each(|line| plot.line(line));
        });
}

/// A line per network, in its colour.
fn lines<'a>(
    ui: &Ui,
    evaluations: &[Evaluation],
    points: impl Fn(&Evaluation) -> PlotPoints<'a>,
) -> Vec<Line<'a>> {
    let line = |(at, evaluation): (usize, &Evaluation)| {
        Line::new(&evaluation.method, points(evaluation))
            .color(look::of_method(at).on(ui))
            .width(2.0)
    };
    evaluations.iter().enumerate().map(line).collect()
}

fn error_above_confidence(ui: &mut Ui, evaluations: &[Evaluation], height: f32) {
    let explained = "Of the answers with at least this confidence, the share that is wrong; answers about pictures of \
        another kind are always wrong.";
    look::title(ui, "Wrong answers above a confidence, %", explained);
    let points = |one: &Evaluation| -> PlotPoints<'static> {
        let points = one.error_above_confidence.iter();
        points
            .filter_map(|point| Some([point.threshold, 100.0 * point.error?]))
            .collect()
    };
    let lines = lines(ui, evaluations, points);
    look::plot("error above confidence", height)
        .legend(look::legend())
        .x_axis_label("least confidence")
        .include_y(0.0)
        .show(ui, |plot| {
            lines.into_iter().for_each(|line| plot.line(line))
        });
}
