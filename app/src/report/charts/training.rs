//! Losses, accuracy and calibration during training, on the training and on the validation set.

use super::look_of;
use crate::report::{
    Chart, Report, TrainingPoint, TrainingRun,
    figure::{Axis, HEIGHT, Plot, Unit, axes, figure, range_of, shares_of},
    look::{Key, Look},
};
use anyhow::Result;
use bayesadapter::session::ValidationScores;

/// Points that a curve may have; neighbours are averaged, since single steps are noisy.
const MOST_POINTS: usize = 120;

/// Markers on a curve; more would run into each other.
const MOST_MARKERS: usize = 20;

struct Quantity {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    unit: Unit,
    caption: &'static str,
    /// Whether it depends on images, so that the legend names their set.
    of_images: bool,
    training: fn(&TrainingPoint) -> Option<f64>,
    validation: fn(&ValidationScores) -> Option<f64>,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "training-likelihood",
        title: "Negative log-likelihood during training",
        label: "NLL (nats per image)",
        unit: Unit::Number,
        caption: "How to read it: the lines should fall, and then stay; if they rise at the end, training has become \
                  unstable. If that of the validation set (with markers) rises while that of the training set falls, \
                  the network learns its training images by heart.",
        of_images: true,
        training: |point| Some(point.likelihood_loss),
        validation: |scores| Some(scores.nll),
    },
    Quantity {
        name: "training-complexity",
        title: "Complexity loss",
        label: "Loss (nats per image)",
        unit: Unit::Number,
        caption: "How to read it: the line says how much the distribution over the weights costs; methods \
                  measure it up to different constants, so look at the shape of a line and not at its height.",
        of_images: false,
        training: |point| Some(point.complexity_loss),
        validation: |_| None,
    },
    Quantity {
        name: "training-accuracy",
        title: "Accuracy during training",
        label: "Accuracy",
        unit: Unit::Percent,
        caption: "How to read it: the share of images that is predicted correctly. On the training set it is that of \
                  random weights and altered images, so it may be below that of the validation set (with markers), \
                  for which several draws are averaged.",
        of_images: true,
        training: |point| point.accuracy,
        validation: |scores| Some(scores.accuracy),
    },
    Quantity {
        name: "validation-ece",
        title: "Calibration error during training",
        label: "ECE",
        unit: Unit::Number,
        caption: "How to read it: the expected calibration error (ECE) is how far confidence is from accuracy on \
                  average; lower is better. A line that rises shows that the network becomes too sure.",
        of_images: true,
        training: |_| None,
        validation: |scores| Some(scores.ece),
    },
];

pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    let mut charts = Vec::new();
    for quantity in &QUANTITIES {
        charts.extend(chart(report, quantity)?);
    }
    Ok(charts)
}

struct Curve {
    look: Look,
    /// With markers, as that of the validation set has.
    marked: bool,
    name: String,
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// What the legend shows.
    fn key(&self) -> (Key, String) {
        let key = match self.marked {
            true => Key::MarkedLine(self.look),
            false => Key::Line(self.look),
        };
        (key, self.name.clone())
    }

    fn draw(&self, plot: &mut Plot<'_>) -> Result<()> {
        self.look.line(plot, &self.points)?;
        if !self.marked {
            return Ok(());
        }
        let apart = self.points.len().div_ceil(MOST_MARKERS).max(1);
        let some: Vec<(f64, f64)> = self.points.iter().copied().step_by(apart).collect();
        self.look.markers(plot, &some)
    }
}

impl Quantity {
    /// The curves of a run on the training and on the validation set, without points where it has none.
    fn curves(&self, report: &Report, run: &TrainingRun) -> [Curve; 2] {
        let curve = |set: &str, marked: bool, points: Vec<(f64, f64)>| Curve {
            look: look_of(report, &run.method),
            marked,
            name: match self.of_images {
                true => format!("{}, {set} set", run.method),
                false => run.method.clone(),
            },
            points: averaged(points),
        };
        let training = run.points.training.iter().filter_map(|point| {
            let value = (self.training)(point)?;
            Some((point.step as f64, value))
        });
        let validation = run.points.validation.iter().filter_map(|point| {
            let value = (self.validation)(&point.scores)?;
            Some((point.step as f64, value))
        });
        [
            curve("training", false, training.collect()),
            curve("validation", true, validation.collect()),
        ]
    }
}

fn chart(report: &Report, quantity: &Quantity) -> Result<Option<Chart>> {
    let curves = report.training.iter();
    let curves: Vec<Curve> = curves
        .flat_map(|run| quantity.curves(report, run))
        .filter(|curve| !curve.points.is_empty())
        .collect();
    if curves.is_empty() {
        return Ok(None);
    }
    let legend: Vec<(Key, String)> = curves.iter().map(Curve::key).collect();
    let elements = figure(quantity.title, &legend, HEIGHT, |area| {
        let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
        let last = points().map(|point| point.0).fold(1.0, f64::max);
        let x = Axis::new("Step", 0.0..1.01 * last, Unit::Number);
        let values = points().map(|point| point.1);
        let range = match quantity.unit {
            Unit::Percent => shares_of(values),
            _ => range_of(values),
        };
        let mut plot = axes(area, &x, &Axis::new(quantity.label, range, quantity.unit))?;
        curves.iter().try_for_each(|curve| curve.draw(&mut plot))
    })?;
    Ok(Some(Chart::new(
        quantity.name.to_owned(),
        quantity.title.to_owned(),
        quantity.caption.to_owned(),
        HEIGHT,
        &elements,
    )))
}

/// Means of neighbours, of what is finite: training that has diverged must not hide how it began.
fn averaged(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.retain(|(_, value)| value.is_finite());
    let together = points.len().div_ceil(MOST_POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let count = points.len() as f64;
        let sum = points
            .iter()
            .fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (sum.0 / count, sum.1 / count)
    };
    points.chunks(together).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_averaged_and_what_is_no_number_is_left_out() {
        let mut points: Vec<(f64, f64)> = (0..1_000).map(|step| (f64::from(step), 2.0)).collect();
        points[3].1 = f64::NAN;
        let few = averaged(points);
        assert!(few.len() <= MOST_POINTS && few.iter().all(|point| point.1 == 2.0));
        assert_eq!(averaged(vec![(1.0, f64::INFINITY)]), []);
        assert_eq!(averaged(vec![(1.0, 3.0)]), [(1.0, 3.0)]);
    }
}
