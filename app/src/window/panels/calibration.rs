//! Whether confidence means what it says.

use super::{
    News, Panel, Wish,
    judged::{Judged, NOTHING},
};
use crate::window::look::{self, QUIET, terms};
use bayesadapter::evaluate::Evaluation;
use egui::Ui;
use egui_plot::{Bar, BarChart, Line, LineStyle};

/// Networks that have room beside each other; of more, the first and the last ones are shown.
const MOST: usize = 3;

/// The panel.
#[derive(Default)]
pub struct Calibration {
    judged: Judged,
}

impl Panel for Calibration {
    fn name(&self) -> &'static str {
        "Calibration"
    }

    fn about(&self) -> &'static str {
        "Whether confidence means what it says: of the answers with 80 % confidence, 80 % should be right."
    }

    fn on_news(&mut self, news: &News) {
        self.judged.on_news(news);
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut Vec<Wish>) {
        let all = &self.judged.evaluations;
        if all.is_empty() {
            look::nothing_yet(ui, NOTHING);
            return;
        }
        ui.label(
            "Bars at the line: confidence is honest. Below it, the network is too sure; above it, too modest.",
        );
        ui.add_space(8.0);
        let later = all.len().saturating_sub(MOST - 1).max(1);
        let shown: Vec<(usize, &Evaluation)> = all
            .iter()
            .enumerate()
            .filter(|(at, _)| *at == 0 || *at >= later)
            .collect();
        let height = ui.available_height();
        ui.columns(shown.len(), |columns| {
            for (ui, (at, evaluation)) in columns.iter_mut().zip(shown) {
                diagram(ui, at, evaluation, height);
            }
        });
    }
}

fn diagram(ui: &mut Ui, at: usize, evaluation: &Evaluation, height: f32) {
    let title = format!("{}: ECE {:.4}", evaluation.method, evaluation.scores.ece);
    look::title(ui, &title, terms::ECE);
    let (ink, quiet) = (look::of_method(at).on(ui), QUIET.on(ui));
    let bins = &evaluation.reliability;
    let accuracy: Vec<Bar> = bins
        .iter()
        .filter_map(|bin| {
            let bar = Bar::new(0.5 * (bin.lower + bin.upper), bin.accuracy?);
            Some(bar.width(0.94 * (bin.upper - bin.lower)))
        })
        .collect();
    let counts: Vec<Bar> = bins
        .iter()
        .map(|bin| {
            let bar = Bar::new(0.5 * (bin.lower + bin.upper), bin.count as f64);
            bar.width(0.94 * (bin.upper - bin.lower))
        })
        .collect();
    let name = &evaluation.method;
    look::plot(&format!("reliability {name}"), 0.58 * height)
        .include_x(0.0)
        .include_x(1.0)
        .include_y(0.0)
        .include_y(1.0)
        .x_axis_label("confidence")
        .y_axis_label("share of right answers")
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("accuracy", accuracy).color(ink));
            let ideal = Line::new("ideal", vec![[0.0, 0.0], [1.0, 1.0]]);
            plot.line(ideal.color(quiet).style(LineStyle::dashed_loose()));
        });
    ui.add_space(8.0);
    look::title(
        ui,
        "Test pictures by confidence",
        "How many answers had each confidence; bars above with few of them mean little.",
    );
    look::plot(&format!("counts {name}"), 0.24 * height)
        .include_x(0.0)
        .include_x(1.0)
        .x_axis_label("confidence")
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("pictures", counts).color(ink));
        });
}
