//! Whether confidence means what it says.

use super::{
    News, Panel, Wish, drawings,
    gallery::Gallery,
    judged::{Judged, NOTHING},
};
use crate::window::{
    look::{self, QUIET, terms},
    take_away,
};
use bayesadapter::{evaluate::Evaluation, metrics::ReliabilityBin};
use egui::{Grid, RichText, Ui};
use egui_plot::{Bar, BarChart, Line, LineStyle, PlotPoint, Text};

/// Networks that have room beside each other; of more, the first and the last ones are shown.
const MOST: usize = 3;

/// Where counts stand, in shares of right answers: below the bars.
const COUNTS_AT: f64 = -0.04;

/// The panel.
#[derive(Default)]
pub struct Calibration {
    judged: Judged,
    /// The network whose bin is open.
    chosen: usize,
    gallery: Gallery,
}

impl Panel for Calibration {
    fn name(&self) -> &'static str {
        "Calibration"
    }

    fn about(&self) -> &'static str {
        "Whether confidence means what it says: of the answers with 80 % confidence, 80 % should be right."
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
        let all = &self.judged.evaluations;
        if all.is_empty() {
            look::nothing_yet(ui, NOTHING);
            return;
        }
        let later = all.len().saturating_sub(MOST - 1).max(1);
        let shown: Vec<(usize, &Evaluation)> = all
            .iter()
            .enumerate()
            .filter(|(at, _)| *at == 0 || *at >= later)
            .collect();
        ui.label(
            "Bars at the line: confidence is honest. Below it, the network is too sure; above it, too modest. \
             Click a bar to see its pictures.",
        );
        ui.add_space(6.0);
        let height = ui.available_height();
        ui.columns(shown.len(), |columns| {
            for (ui, (at, evaluation)) in columns.iter_mut().zip(shown) {
                let open = self.gallery.bar().filter(|_| self.chosen == at);
                if let Some(bar) = diagram(ui, at, evaluation, open, height, wishes) {
                    self.chosen = at;
                    wishes.extend(open_bin(&mut self.gallery, evaluation, bar));
                }
            }
        });
        ui.add_space(6.0);
        if let Some(evaluation) = all.get(self.chosen) {
            let hint = "The pictures behind a bar appear here when you click it.";
            self.gallery.ui(ui, hint, evaluation);
        }
    }
}

fn open_bin(gallery: &mut Gallery, evaluation: &Evaluation, bar: usize) -> Option<Wish> {
    let bin = evaluation.reliability.get(bar)?;
    let title = format!(
        "{}: the {} pictures with {:.0} to {:.0} % confidence, by rising confidence",
        evaluation.method,
        bin.count,
        100.0 * bin.lower,
        100.0 * bin.upper
    );
    gallery.open(bar, title, evaluation.in_bin(bin))
}

/// Errors and reliability of one network, with counts; returns the bar that was clicked.
fn diagram(
    ui: &mut Ui,
    at: usize,
    evaluation: &Evaluation,
    open: Option<usize>,
    height: f32,
    wishes: &mut Vec<Wish>,
) -> Option<usize> {
    errors(ui, evaluation);
    take_away::title(ui, "Reliability", terms::ECE, wishes, || {
        drawings::reliability(evaluation, look::of_method(at))
    });
    let (ink, quiet) = (look::of_method(at).on(ui), QUIET.on(ui));
    let text = ui.visuals().text_color();
    let middle = |bin: &ReliabilityBin| 0.5 * (bin.lower + bin.upper);
    let bars = evaluation.reliability.iter().enumerate();
    let bars = bars.filter_map(|(at, bin)| {
        let fill = match open {
            Some(open) if open != at => ink.gamma_multiply(0.45),
            _ => ink.gamma_multiply(0.85),
        };
        let bar = Bar::new(middle(bin), bin.accuracy?).width(0.94 * (bin.upper - bin.lower));
        Some(bar.fill(fill))
    });
    let bars: Vec<Bar> = bars.collect();
    let counted = evaluation.reliability.iter().filter(|bin| bin.count > 0);
    let counts = counted.map(|bin| {
        let count = RichText::new(bin.count.to_string()).size(11.0).color(text);
        Text::new("", PlotPoint::new(middle(bin), COUNTS_AT), count)
    });
    let counts: Vec<Text> = counts.collect();
    let response = look::plot(&format!("reliability {}", evaluation.method), 0.58 * height)
        .include_x(0.0)
        .include_x(1.0)
        .include_y(2.0 * COUNTS_AT)
        .include_y(1.0)
        .x_axis_label("confidence; below the bars, how many pictures have it")
        .y_axis_label("share of right answers")
        .y_axis_formatter(|mark, _| match mark.value < 0.0 {
            true => String::new(),
            false => format!("{:.1}", mark.value),
        })
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("accuracy", bars).color(ink));
            let ideal = Line::new("ideal", vec![[0.0, 0.0], [1.0, 1.0]]);
            plot.line(ideal.color(quiet).style(LineStyle::dashed_loose()));
            counts.into_iter().for_each(|count| plot.text(count));
            plot.pointer_coordinate()
        });
    let clicked = response.response.clicked();
    let confidence = response.inner.filter(|_| clicked)?.x;
    let mut bins = evaluation.reliability.iter();
    bins.position(|bin| bin.lower <= confidence && confidence <= bin.upper)
}

/// The calibration errors in numbers.
fn errors(ui: &mut Ui, evaluation: &Evaluation) {
    let scores = &evaluation.scores;
    Grid::new(("calibration errors", &evaluation.method))
        .spacing([18.0, 2.0])
        .show(ui, |ui| {
            let columns = [
                ("ECE", scores.ece, terms::ECE),
                ("adaptive", scores.adaptive_ece, terms::ADAPTIVE_ECE),
                ("classwise", scores.classwise_ece, terms::CLASSWISE_ECE),
                ("Brier", scores.brier, terms::BRIER),
            ];
            ui.label("");
            for (name, _, explained) in columns {
                ui.label(RichText::new(name).weak())
                    .on_hover_text(explained);
            }
            ui.end_row();
            ui.label(RichText::new(&evaluation.method).strong());
            for (_, value, explained) in columns {
                ui.label(format!("{value:.4}")).on_hover_text(explained);
            }
        });
    ui.add_space(4.0);
}
