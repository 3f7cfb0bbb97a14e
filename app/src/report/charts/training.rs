//! Losses and accuracy during training.

use super::{lines, look_of};
use crate::report::{
    Chart, Report, TrainingPoint, TrainingRun,
    figure::{Axis, HEIGHT, Unit, axes, figure, range_of, shares_of},
    look::Look,
};
use anyhow::Result;

/// Points that a curve may have; neighbours are averaged, since single steps are noisy.
const MOST_POINTS: usize = 120;

struct Quantity {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    unit: Unit,
    caption: &'static str,
    of: fn(&TrainingPoint) -> Option<f64>,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity {
        name: "training-likelihood",
        title: "Likelihood loss",
        label: "Loss (nats per image)",
        unit: Unit::Number,
        caption: "How to read it: the line should fall, and then stay; if it rises at the end, training \
                  has become unstable.",
        of: |point| Some(point.likelihood_loss),
    },
    Quantity {
        name: "training-complexity",
        title: "Complexity loss",
        label: "Loss (nats per image)",
        unit: Unit::Number,
        caption: "How to read it: the line says how much the distribution over the weights costs; methods \
                  measure it up to different constants, so look at the shape of a line and not at its height.",
        of: |point| Some(point.complexity_loss),
    },
    Quantity {
        name: "training-accuracy",
        title: "Training accuracy",
        label: "Accuracy",
        unit: Unit::Percent,
        caption: "How to read it: the share of training images that is predicted correctly, with random \
                  weights and altered images, so it may be below the accuracy on test images.",
        of: |point| point.accuracy,
    },
];

pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    let mut charts = Vec::new();
    for quantity in &QUANTITIES {
        charts.extend(chart(report, quantity)?);
    }
    Ok(charts)
}

struct Curve<'a> {
    look: Look,
    method: &'a str,
    points: Vec<(f64, f64)>,
}

fn chart(report: &Report, quantity: &Quantity) -> Result<Option<Chart>> {
    let points_of = |run: &TrainingRun| {
        let points = run.points.iter();
        points
            .filter_map(|point| Some((point.step as f64, (quantity.of)(point)?)))
            .collect()
    };
    let curves: Vec<Curve<'_>> = report
        .training
        .iter()
        .map(|run| Curve {
            look: look_of(report, &run.method),
            method: &run.method,
            points: averaged(points_of(run)),
        })
        .filter(|curve| !curve.points.is_empty())
        .collect();
    if curves.is_empty() {
        return Ok(None);
    }
    let legend = lines(curves.iter().map(|curve| (curve.look, curve.method)));
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
        for curve in &curves {
            curve.look.line(&mut plot, &curve.points)?;
        }
        Ok(())
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
