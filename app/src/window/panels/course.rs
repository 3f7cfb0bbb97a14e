//! The curves of one training run.

mod validated;

use super::{Wish, drawings};
use crate::{
    report::{Drawing, Mark, Series},
    window::{
        look::{BLUE, GREEN, Ink, VERMILION, terms},
        take_away,
        worker::View,
    },
};
use bayesadapter::session::{HistoryRow, Method, Progress, ValidationScores};
use egui::Ui;
use egui_plot::Corner;
use std::path::{Path, PathBuf};
use validated::Validated;

/// Points of a curve, which is a few hundred pixels wide; of a longer one every other is dropped.
const MOST_POINTS: usize = 1000;

/// One training run and what it told.
pub struct Course {
    pub method: Method,
    pub folder: PathBuf,
    points: Vec<Point>,
    /// Steps that points are apart, but for the last one; it grows with the curve, so that no part of it is sparser.
    stride: f64,
    /// How the network did on validation images after each epoch.
    validation: Validated,
    pub last: Option<Progress>,
}

#[derive(Clone, Copy)]
struct Point {
    step: f64,
    likelihood_loss: f64,
    complexity_loss: f64,
    accuracy: f64,
    lr: f64,
    variational_lr: f64,
    /// Not a number where it is not known.
    pictures_per_second: f64,
}

impl Point {
    fn of(progress: &Progress) -> Self {
        Self {
            step: progress.position.step as f64,
            likelihood_loss: progress.likelihood_loss,
            complexity_loss: progress.complexity_loss,
            accuracy: progress.accuracy,
            lr: progress.rates.lr,
            variational_lr: progress.rates.variational_lr,
            pictures_per_second: progress.examples_per_second,
        }
    }

    /// A row of history, and when the one before it ended, in steps and seconds.
    fn of_row(row: &HistoryRow, before: (usize, f64), pictures_per_step: f64) -> Self {
        let (step, seconds) = before;
        let steps = row.step.saturating_sub(step) as f64;
        Self {
            step: row.step as f64,
            likelihood_loss: row.likelihood_loss,
            complexity_loss: row.complexity_loss,
            accuracy: row.accuracy,
            lr: row.lr,
            variational_lr: row.variational_lr,
            pictures_per_second: steps * pictures_per_step / (row.seconds - seconds),
        }
    }
}

/// A curve's name, colour and values.
type Curve = (&'static str, Ink, fn(&Point) -> f64);

/// Points that a smoothed curve averages over, about.
const SMOOTHING: f64 = 20.0;

impl Course {
    pub fn new(method: Method, folder: &Path) -> Self {
        Self {
            method,
            folder: folder.to_owned(),
            points: Vec::new(),
            stride: 0.0,
            validation: Validated::default(),
            last: None,
        }
    }

    /// Of a run that was not followed.
    pub fn of_history(view: &View, folder: &Path) -> Self {
        let per_step = view
            .pictures_per_step
            .map_or(f64::NAN, |count| count as f64);
        let mut before = (0, 0.0);
        let mut course = Self::new(view.method, folder);
        for row in &view.history {
            course.push(Point::of_row(row, before, per_step));
            if let Some(scores) = &row.validation {
                course.validation.add(row.step, scores);
            }
            before = (row.step, row.seconds);
        }
        course
    }

    pub fn add(&mut self, progress: &Progress) {
        // A run that was set back, or goes on from a saved state, overwrites what it had done since.
        let step = progress.position.step as f64;
        self.points.retain(|point| point.step < step);
        self.validation.set_back(progress.position.step);
        self.push(Point::of(progress));
        self.last = Some(progress.clone());
    }

    /// How the network did on validation images after an epoch.
    pub fn add_validation(&mut self, step: usize, scores: &ValidationScores) {
        self.validation.add(step, scores);
    }

    fn push(&mut self, point: Point) {
        // The last point is always shown, and stays only if it is far enough from the one before it.
        if let [.., before, last] = &self.points[..]
            && last.step - before.step < self.stride
        {
            self.points.pop();
        }
        if let [first, .., last] = &self.points[..]
            && self.points.len() >= MOST_POINTS
        {
            self.stride = 2.0 * (last.step - first.step) / (MOST_POINTS - 1) as f64;
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
        }
        self.points.push(point);
    }

    pub fn curves(&self, ui: &mut Ui, height: f32, wishes: &mut Vec<Wish>) {
        let spread: Curve = ("variational lr", VERMILION, |at| at.variational_lr.log10());
        let rates: [Curve; 2] = [("lr", BLUE, |at| at.lr.log10()), spread];
        // Point weights have no spread to learn.
        let rates = &rates[..if self.method == Method::Map { 1 } else { 2 }];
        let of_rates = format!("lr: {} variational: {}", terms::LR, terms::VARIATIONAL_LR);
        let likelihood: Curve = ("training", BLUE, |at| at.likelihood_loss);
        let complexity: Curve = ("complexity loss", VERMILION, |at| at.complexity_loss);
        let accuracy: Curve = ("training", GREEN, |at| 100.0 * at.accuracy);
        let speed: Curve = ("pictures per second", BLUE, |at| at.pictures_per_second);
        let height = height.max(120.0);
        let mut plot = |ui: &mut Ui, drawing: Drawing, explained: &str, legend: Option<Corner>| {
            take_away::plot(ui, drawing, explained, height, legend, wishes);
        };
        let nats = "nats per picture";
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            let legend = (!self.validation.is_empty()).then_some(Corner::RightTop);
            let mut drawing = self.noisy("Likelihood loss", nats, &likelihood);
            drawing.series.extend(self.validation.nll());
            plot(left, drawing, terms::LIKELIHOOD_LOSS, legend);
            let mut drawing = self.noisy("Accuracy", "accuracy, %", &accuracy);
            drawing.series.extend(self.validation.accuracy());
            let legend = legend.map(|_| Corner::RightBottom);
            plot(middle, drawing, terms::ACCURACY, legend);
            let drawing = self.drawing("Throughput", "pictures per second", &[speed]);
            plot(right, drawing, terms::THROUGHPUT, None);
        });
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            let drawing = self.drawing("Complexity loss", nats, &[complexity]);
            plot(left, drawing, terms::COMPLEXITY_LOSS, None);
            let drawing = self.drawing("Learning rates", "powers of ten", rates);
            plot(
                right,
                drawing,
                &of_rates,
                (rates.len() > 1).then_some(Corner::RightTop),
            );
        });
    }

    fn drawing(&self, title: &str, y_label: &str, curves: &[Curve]) -> Drawing {
        let series = |(name, ink, value): &Curve| {
            let points = self.values(*value).collect();
            Series::new(*name, *ink, Mark::Line, points)
        };
        let series = curves.iter().map(series).collect();
        drawings::drawing(title, "step", y_label, series)
    }

    /// Of values of single mini-batches, which are noisy, the average is drawn over them.
    fn noisy(&self, title: &str, y_label: &str, (name, ink, value): &Curve) -> Drawing {
        let raw = self.values(*value);
        let smooth = smoothed(raw.clone()).collect();
        let series = vec![
            Series::new("each step", *ink, Mark::Faint, raw.collect()),
            Series::new(*name, *ink, Mark::Line, smooth),
        ];
        drawings::drawing(title, "step", y_label, series)
    }

    fn values(&self, value: fn(&Point) -> f64) -> impl Iterator<Item = [f64; 2]> + Clone + '_ {
        let points = self.points.iter();
        let points = points.map(move |point| [point.step, value(point)]);
        points.filter(|[_, value]| value.is_finite())
    }
}

/// A running average, over fewer points at its beginning.
fn smoothed(raw: impl Iterator<Item = [f64; 2]>) -> impl Iterator<Item = [f64; 2]> {
    let mut average = 0.0;
    raw.enumerate().map(move |(before, [step, value])| {
        average += (value - average) / (before as f64 + 1.0).min(SMOOTHING);
        [step, average]
    })
}

#[cfg(test)]
mod tests;
