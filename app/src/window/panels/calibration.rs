//! Whether confidence means what it says.

use super::{
    News, Panel, Wish,
    gallery::{Content, Gallery},
    judged::Judged,
};
use crate::{
    report::Reliability,
    window::{
        look::{self, QUIET, terms},
        take_away,
    },
};
use bayesadapter::{evaluate::Evaluation, metrics::ReliabilityBin};
use egui::{Grid, RichText, Ui};
use egui_plot::{Bar, BarChart, Line, LineStyle, PlotPoint, Text};

/// Networks that have room beside each other; of more, the first and the last ones are shown.
const MOST: usize = 3;

/// Where counts stand, in shares of right answers: below the bars, in turn higher and lower, so that large ones have
/// room.
const COUNTS_AT: [f64; 2] = [-0.035, -0.085];
const LOWEST: f64 = -0.12;

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
        if self.judged.source(ui, wishes) {
            self.gallery.close();
        }
        let all = self.judged.evaluations();
        if all.is_empty() {
            self.judged.nothing(ui, wishes);
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
                    let content = content(evaluation, bar);
                    let data = self.judged.data();
                    let open = |content| self.gallery.open(content, evaluation, data);
                    wishes.extend(content.and_then(open));
                }
            }
        });
        ui.add_space(6.0);
        if let Some(evaluation) = all.get(self.chosen) {
            let hint = "The pictures behind a bar appear here when you click it.";
            self.gallery.ui(ui, hint, evaluation, wishes);
        }
    }
}

/// The pictures of a bin.
fn content(evaluation: &Evaluation, bar: usize) -> Option<Content> {
    let bin = evaluation.reliability.get(bar)?;
    Some(Content {
        bar,
        title: format!(
            "{}: the {} pictures with {:.0} to {:.0} % confidence",
            evaluation.method,
            bin.count,
            100.0 * bin.lower,
            100.0 * bin.upper
        ),
        orders: ["by rising confidence", "by falling confidence"],
        positions: evaluation.in_bin(bin),
    })
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
        Reliability::of(at, evaluation)
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
    let counted = evaluation.reliability.iter().zip(COUNTS_AT.iter().cycle());
    let counts = counted.filter(|(bin, _)| bin.count > 0).map(|(bin, at)| {
        let count = RichText::new(bin.count.to_string()).size(11.0).color(text);
        Text::new("", PlotPoint::new(middle(bin), *at), count)
    });
    let counts: Vec<Text> = counts.collect();
    let response = look::plot(&format!("reliability {}", evaluation.method), 0.58 * height)
        .include_x(0.0)
        .include_x(1.0)
        .include_y(LOWEST)
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
