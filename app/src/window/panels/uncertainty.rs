//! Whether the network knows what it does not know.

use super::{
    News, Panel, Wish, drawings,
    gallery::Gallery,
    judged::{Judged, NOTHING},
};
use crate::window::{
    look::{self, BLUE, VERMILION, terms},
    take_away,
};
use bayesadapter::evaluate::Evaluation;
use egui::{RichText, Slider, Ui, UiBuilder};
use egui_plot::{Bar, BarChart, Corner};

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
            let drawing = drawings::uncertainty(evaluation);
            let (explained, corner) = (terms::MUTUAL_INFORMATION, Some(Corner::RightTop));
            take_away::plot(middle, drawing, explained, height, corner, wishes);
            let networks = drawings::by_method(&self.judged.evaluations);
            let drawing = drawings::risk_coverage(&networks, 100.0 - self.rejected);
            let (explained, corner) = (terms::RISK_COVERAGE, Some(Corner::LeftTop));
            take_away::plot(right, drawing, explained, height, corner, wishes);
        });
        ui.add_space(6.0);
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            let networks = drawings::by_method(&self.judged.evaluations);
            let drawing = drawings::error_above_confidence(&networks);
            let (explained, corner) = (terms::ERROR_ABOVE_CONFIDENCE, Some(Corner::RightTop));
            take_away::plot(right, drawing, explained, height, corner, wishes);
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
    take_away::title(ui, &title, explained, wishes, || {
        drawings::buckets(evaluation)
    });
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
