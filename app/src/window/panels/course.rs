//! The curves of one training run.

use crate::window::look::{self, BLUE, GREEN, Ink, VERMILION, terms};
use bayesadapter::session::{HistoryRow, Method, Progress};
use egui::Ui;
use egui_plot::{Line, PlotPoints};
use std::path::{Path, PathBuf};

/// Points of a curve; of a longer one every other is dropped, again and again.
const MOST_POINTS: usize = 4000;

/// One training run and what it told.
pub struct Course {
    pub method: Method,
    pub folder: PathBuf,
    points: Vec<Point>,
    pub last: Option<Progress>,
}

#[derive(Clone, Copy)]
struct Point {
    step: f64,
    likelihood_loss: f64,
    complexity_loss: f64,
    accuracy: f64,
    mean_rate: f64,
    spread_rate: f64,
}

impl Point {
    fn of(progress: &Progress) -> Self {
        Self {
            step: progress.position.step as f64,
            likelihood_loss: progress.likelihood_loss,
            complexity_loss: progress.complexity_loss,
            accuracy: progress.accuracy,
            mean_rate: progress.rates.mean,
            spread_rate: progress.rates.spread,
        }
    }

    fn of_row(row: &HistoryRow) -> Self {
        Self {
            step: row.step as f64,
            likelihood_loss: row.likelihood_loss,
            complexity_loss: row.complexity_loss,
            accuracy: row.accuracy,
            mean_rate: row.mean_rate,
            spread_rate: row.spread_rate,
        }
    }
}

/// A curve's name, colour, meaning and values.
type Curve = (&'static str, Ink, fn(&Point) -> f64);

impl Course {
    pub fn new(method: Method, folder: &Path) -> Self {
        Self {
            method,
            folder: folder.to_owned(),
            points: Vec::new(),
            last: None,
        }
    }

    /// Of a run that was not followed.
    pub fn of_history(method: Method, folder: &Path, history: &[HistoryRow]) -> Self {
        Self {
            points: history.iter().map(Point::of_row).collect(),
            ..Self::new(method, folder)
        }
    }

    pub fn add(&mut self, progress: &Progress) {
        // A run that was set back, or goes on from a saved state, overwrites what it had done since.
        let step = progress.position.step as f64;
        self.points.retain(|point| point.step < step);
        if self.points.len() >= MOST_POINTS {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
        }
        self.points.push(Point::of(progress));
        self.last = Some(progress.clone());
    }

    pub fn curves(&self, ui: &mut Ui, height: f32) {
        let height = height.max(120.0);
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            look::title(left, "Likelihood loss", terms::LIKELIHOOD_LOSS);
            self.curve(
                left,
                "likelihood",
                height,
                &[("likelihood loss", BLUE, |at| at.likelihood_loss)],
            );
            look::title(left, "Complexity loss", terms::COMPLEXITY_LOSS);
            self.curve(
                left,
                "complexity",
                height,
                &[("complexity loss", VERMILION, |at| at.complexity_loss)],
            );
            look::title(right, "Training accuracy, %", terms::ACCURACY);
            self.curve(
                right,
                "accuracy",
                height,
                &[("accuracy", GREEN, |at| 100.0 * at.accuracy)],
            );
            let explained = format!("Mean: {} Spread: {}", terms::MEAN_RATE, terms::SPREAD_RATE);
            look::title(right, "Learning rates, powers of ten", &explained);
            let spread: Curve = ("spread", VERMILION, |at| at.spread_rate.log10());
            let rates: [Curve; 2] = [("mean", BLUE, |at| at.mean_rate.log10()), spread];
            // Point weights have no spread to learn.
            let count = if self.method == Method::Map { 1 } else { 2 };
            self.curve(right, "rates", height, &rates[..count]);
        });
    }

    fn curve(&self, ui: &mut Ui, id: &str, height: f32, curves: &[Curve]) {
        let mut plot = look::plot(id, height).x_axis_label("step");
        if curves.len() > 1 {
            plot = plot.legend(look::legend());
        }
        let lines: Vec<Line<'_>> = curves
            .iter()
            .map(|(name, ink, value)| {
                let points: PlotPoints<'_> = self
                    .points
                    .iter()
                    .map(|point| [point.step, value(point)])
                    .collect();
                Line::new(*name, points).color(ink.on(ui)).width(2.0)
            })
            .collect();
        plot.show(ui, |plot| {
            lines.into_iter().for_each(|line| plot.line(line))
        });
    }
}
