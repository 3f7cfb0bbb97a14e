//! Accuracy and likelihood against the number of draws.

use super::methods;
use crate::report::{
    Chart, Report,
    figure::{Axis, HEIGHT, Unit, axes, figure, range_of, shares_of},
    look::{Key, Look},
    palette::{QUIET, TEXT},
    text::slug,
};
use anyhow::Result;
use bayesadapter::metrics::{DrawCurve, DrawScore};
use plotters::prelude::*;

/// Radius of a single draw, in units.
const DOT: u32 = 7;

/// What is plotted of a score.
struct Quantity {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    unit: Unit,
    better: &'static str,
    of: fn(&DrawScore) -> f64,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity {
        name: "accuracy",
        title: "Accuracy",
        label: "Accuracy",
        unit: Unit::Percent,
        better: "higher",
        of: |score| score.accuracy,
    },
    Quantity {
        name: "nll",
        title: "Negative log-likelihood",
        label: "NLL (nats per image)",
        unit: Unit::Number,
        better: "lower",
        of: |score| score.nll,
    },
];

pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    let mut charts = Vec::new();
    for (look, evaluation) in methods(report) {
        if let Some(curve) = &evaluation.curve {
            for quantity in &QUANTITIES {
                charts.push(chart(&evaluation.method, look, curve, quantity)?);
            }
        }
    }
    Ok(charts)
}

fn chart(method: &str, look: Look, curve: &DrawCurve, quantity: &Quantity) -> Result<Chart> {
    let points = |scores: &[DrawScore]| -> Vec<(f64, f64)> {
        let places = scores.iter().enumerate();
        places
            .map(|(place, score)| (place as f64 + 1.0, (quantity.of)(score)))
            .collect()
    };
    let (single, ensemble) = (points(&curve.single), points(&curve.ensemble));
    let mean_network = curve.mean_network.as_ref().map(quantity.of);
    let (ensemble_look, mean_look) = (Look::solid(look.ink), Look::dashed(TEXT));
    let mut legend = vec![
        (
            Key::Line(ensemble_look),
            "Ensemble of the first S draws".to_owned(),
        ),
        (Key::Points(QUIET), "Draw number S alone".to_owned()),
    ];
    if mean_network.is_some() {
        legend.push((Key::Line(mean_look), "Mean network".to_owned()));
    }
    let title = format!("{} of {method} against the number of draws", quantity.title);
    let elements = figure(&title, &legend, HEIGHT, |area| {
        let end = ensemble.len() as f64 + 0.5;
        let x = Axis::new("Number of draws, S", 0.0..end, Unit::Number);
        let values = single
            .iter()
            .chain(&ensemble)
            .map(|point| point.1)
            .chain(mean_network);
        let range = match quantity.unit {
            Unit::Percent => shares_of(values),
            _ => range_of(values),
        };
        let y = Axis::new(quantity.label, range, quantity.unit);
        let mut plot = axes(area, &x, &y)?;
        let dots = single
            .iter()
            .map(|&point| Circle::new(point, DOT, QUIET.colour().filled()));
        plot.draw_series(dots)?;
        if let Some(value) = mean_network {
            mean_look.line(&mut plot, &[(0.0, value), (end, value)])?;
        }
        ensemble_look.line(&mut plot, &ensemble)
    })?;
    Ok(Chart::new(
        format!("draws-{}-{}", quantity.name, slug(method)),
        title,
        format!(
            "How to read it: {} is better. The line shows what averaging over more draws gains; where it has \
             become flat, further draws cost time and bring nothing. A dot is one draw on its own.",
            quantity.better
        ),
        HEIGHT,
        &elements,
    ))
}
