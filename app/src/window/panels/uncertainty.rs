//! Whether the network knows what it does not know.

mod counted;

use super::{
    News, Panel, Wish, drawings,
    gallery::{Content, Gallery},
    judged::Judged,
};
use crate::window::{
    look::{self, BLUE, VERMILION, terms},
    take_away,
};
use bayesadapter::evaluate::{Evaluation, ImageSet, Measure};
use counted::Counted;
use egui::{RichText, Slider, Ui, UiBuilder};
use egui_plot::{Bar, BarChart, Corner};

/// The panel.
#[derive(Default)]
pub struct Uncertainty {
    judged: Judged,
    /// Of what is shown.
    counted: Option<Counted>,
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
        self.judged.hold(self.gallery.bar().is_some());
        let others_are_shown = self.judged.on_news(news);
        self.gallery.on_news(news, others_are_shown);
    }

    #[cfg(not(target_family = "wasm"))]
    fn has_opened(&self) -> bool {
        self.gallery.bar().is_some() || self.judged.shows_look()
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        self.judged.hold(self.gallery.bar().is_some());
        let other_source = self.judged.source(ui, wishes);
        if self.judged.evaluations().is_empty() {
            self.judged.nothing(ui, wishes);
            return;
        }
        if self.judged.choice(ui) || other_source {
            self.gallery.close();
        }
        let Some(evaluation) = self.judged.shown() else {
            return;
        };
        let edition = self.judged.edition();
        self.counted = self.counted.take().filter(|one| one.edition == edition);
        let counted = self.counted.get_or_insert_with(|| {
            let networks = drawings::by_method(self.judged.evaluations());
            Counted::new(edition, evaluation, &networks)
        });
        rejection(ui, evaluation, &counted.right, &mut self.rejected);
        ui.add_space(6.0);
        let height = 0.5 * ui.available_height() - 44.0;
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            let clicked = buckets(left, evaluation, self.gallery.bar(), height, wishes);
            if let Some(content) = clicked.and_then(|bar| content(evaluation, bar)) {
                let data = self.judged.data();
                wishes.extend(self.gallery.open(content, evaluation, data));
            }
            let drawing = counted.uncertainty.clone();
            let explained = explained(evaluation.ranked_by);
            let corner = Some(Corner::RightTop);
            take_away::plot(middle, drawing, explained, height, corner, wishes);
            let drawing = drawings::risk_coverage(counted.risks.clone(), 100.0 - self.rejected);
            let (explained, corner) = (terms::RISK_COVERAGE, Some(Corner::LeftTop));
            take_away::plot(right, drawing, explained, height, corner, wishes);
        });
        ui.add_space(6.0);
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            let networks = drawings::by_method(self.judged.evaluations());
            let drawing = drawings::error_above_confidence(&networks);
            let (explained, corner) = (terms::ERROR_ABOVE_CONFIDENCE, Some(Corner::RightTop));
            take_away::plot(right, drawing, explained, height, corner, wishes);
            // The pictures take two columns.
            let room = left.max_rect().union(middle.max_rect());
            let mut room = left.new_child(UiBuilder::new().max_rect(room));
            let hint = "Click a bar of the accuracy above to see its pictures here.";
            self.gallery.ui(&mut room, hint, evaluation, wishes);
        });
    }
}

/// A slider for what is handed to a person, and the accuracy of what is kept, of which so many are right.
fn rejection(ui: &mut Ui, evaluation: &Evaluation, right: &[usize], rejected: &mut f64) {
    let all = right.len();
    let kept = all - ((all as f64 * *rejected / 100.0).round() as usize).min(all);
    let right = kept.checked_sub(1).and_then(|last| right.get(last));
    let right = right.copied().unwrap_or_default();
    ui.horizontal(|ui| {
        let name = ui
            .label(format!("Reject the least sure by {}", evaluation.ranked_by))
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

/// What the uncertainty is that pictures are sorted by.
fn explained(measure: Measure) -> &'static str {
    match measure {
        Measure::MutualInformation => terms::MUTUAL_INFORMATION,
        _ => terms::ENTROPY,
    }
}

/// Accuracy of ten equal buckets; returns the bar that was clicked.
fn buckets(
    ui: &mut Ui,
    evaluation: &Evaluation,
    shown: Option<usize>,
    height: f32,
    wishes: &mut Vec<Wish>,
) -> Option<usize> {
    let title = format!("Accuracy by {}, %: click a bar", evaluation.ranked_by);
    let explained = format!(
        "{} images in ten equal buckets, from the surest to the least sure; if the uncertainty is worth anything, \
         accuracy falls.",
        match evaluation.set {
            ImageSet::Test => "Test",
            ImageSet::Validation => "Validation",
        }
    );
    take_away::title(ui, &title, &explained, wishes, || {
        drawings::buckets(evaluation)
    });
    let (ink, chosen) = (BLUE.on(ui), VERMILION.on(ui));
    let bars = evaluation.buckets.iter().enumerate().map(|(at, bucket)| {
        let bar = Bar::new(at as f64 + 1.0, 100.0 * bucket.accuracy.unwrap_or(0.0));
        bar.width(0.86)
            .fill(if shown == Some(at) { chosen } else { ink })
    });
    let bars: Vec<Bar> = bars.collect();
    let last = evaluation.buckets.len() as f64;
    let response = look::plot("buckets", height)
        .x_grid_spacer(look::spaced(24.0))
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
    let clicked = response.response.clicked();
    let point = response.inner.filter(|_| clicked)?;
    Some((point.x - 0.5).floor().max(0.0) as usize)
}

/// The pictures of a bucket.
fn content(evaluation: &Evaluation, bar: usize) -> Option<Content> {
    let bucket = evaluation.buckets.get(bar)?;
    let all = bucket.indices.len();
    let share = bucket.accuracy.unwrap_or_default();
    Some(Content {
        bar,
        title: format!(
            "Pictures of bucket {}: {} of {all} right",
            bar + 1,
            (share * all as f64).round() as usize
        ),
        orders: ["the surest first", "the least sure first"],
        positions: bucket.indices.clone(),
    })
}
