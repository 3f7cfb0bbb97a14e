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
                true,
                &[("likelihood loss", BLUE, |at| at.likelihood_loss)],
            );
            look::title(left, "Complexity loss", terms::COMPLEXITY_LOSS);
            self.curve(
                left,
                "complexity",
                height,
                false,
                &[("complexity loss", VERMILION, |at| at.complexity_loss)],
            );
            look::title(right, "Training accuracy, %", terms::ACCURACY);
            self.curve(
                right,
                "accuracy",
                height,
                true,
                &[("accuracy", GREEN, |at| 100.0 * at.accuracy)],
            );
            let explained = format!("Mean: {} Spread: {}", terms::MEAN_RATE, terms::SPREAD_RATE);
            look::title(right, "Learning rates, powers of ten", &explained);
            let spread: Curve = ("spread", VERMILION, |at| at.spread_rate.log10());
            let rates: [Curve; 2] = [("mean", BLUE, |at| at.mean_rate.log10()), spread];
            // Point weights have no spread to learn.
            let count = if self.method == Method::Map { 1 } else { 2 };
            self.curve(right, "rates", height, false, &rates[..count]);
        });
    }

    /// Of values of single mini-batches, which are noisy, the average is drawn over them.
    fn curve(&self, ui: &mut Ui, id: &str, height: f32, noisy: bool, curves: &[Curve]) {
        let mut plot = look::plot(id, height).x_axis_label("step");
        if curves.len() > 1 {
            plot = plot.legend(look::legend());
        }
        // Around a value that never changes there would be no telling how large it is.
        if let (Some(first), [(_, _, value)]) = (self.points.first(), curves) {
            let first = value(first);
            if self.points.iter().all(|point| value(point) == first) {
                plot = plot.include_y(first - 0.5).include_y(first + 0.5);
            }
        }
        let line = |name: &str, points: PlotPoints<'static>, ink: &Ink| {
            Line::new(name, points).color(ink.on(ui)).width(2.0)
        };
        let mut lines: Vec<Line<'_>> = Vec::new();
        for (name, ink, value) in curves {
            let raw = self.points.iter().map(|point| [point.step, value(point)]);
            match noisy {
                true => {
                    let faint = line("each step", raw.clone().collect(), ink).width(1.0);
                    lines.push(faint.color(ink.on(ui).gamma_multiply(0.35)));
                    lines.push(line(name, smoothed(raw).collect(), ink));
                }
                false => lines.push(line(name, raw.collect(), ink)),
            }
        }
        plot.show(ui, |plot| {
            lines.into_iter().for_each(|line| plot.line(line))
        });
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
mod tests {
    use super::*;

    #[test]
    fn a_smoothed_curve_starts_at_the_first_value_and_follows() {
        let raw = (0..100).map(|step| [f64::from(step), if step == 0 { 4.0 } else { 1.0 }]);
        let smooth: Vec<[f64; 2]> = smoothed(raw).collect();
        assert_eq!(smooth[0], [0.0, 4.0]);
        assert_eq!(smooth[1], [1.0, 2.5]);
        assert!(smooth.is_sorted_by(|before, after| before[1] >= after[1]));
        assert!(smooth[99][1] < 1.01);
    }
}
