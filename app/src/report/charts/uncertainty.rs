//! Buckets of rising uncertainty, and histograms of it.

use super::methods;
use crate::report::{
    Chart, Report,
    figure::{Axis, HEIGHT, Plot, Unit, axes, figure, shares_of},
    look::{Key, Look},
    palette::{BLUE, GREEN, VERMILION},
    text::{percent, slug},
};
use anyhow::Result;
use bayesadapter::evaluate::{Evaluation, Measure};
use plotters::prelude::*;

/// The least uncertainty that histograms tell apart, as a power of ten of nats.
const FLOOR: f64 = -4.0;

/// Bars per power of ten.
const BINS_PER_POWER: f64 = 5.0;

/// Opacity of the area below an outline.
const SHADE: f64 = 0.14;

pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    let mut charts = vec![buckets(report)?];
    for evaluation in &report.evaluations {
        charts.push(histogram(evaluation)?);
    }
    Ok(charts)
}

fn buckets(report: &Report) -> Result<Chart> {
    let points_of = |evaluation: &Evaluation| -> Vec<(f64, f64)> {
        let buckets = evaluation.buckets.iter().enumerate();
        buckets
            .filter_map(|(place, bucket)| Some((place as f64 + 1.0, bucket.accuracy?)))
            .collect()
    };
    let lines: Vec<(Look, Vec<(f64, f64)>)> = methods(report)
        .map(|(look, evaluation)| (look, points_of(evaluation)))
        .collect();
    let legend: Vec<(Key, String)> = methods(report)
        .map(|(look, evaluation)| {
            let name = format!("{} (by {})", evaluation.method, evaluation.ranked_by);
            (Key::MarkedLine(look), name)
        })
        .collect();
    let title = "Accuracy by uncertainty".to_owned();
    let elements = figure(&title, &legend, HEIGHT, |area| {
        let x_label = "Tenth of the images, from the surest (1) to the least sure (10)";
        let x = Axis::new(x_label, 0.5..10.5, Unit::Number).with_ticks(11);
        let all = lines
            .iter()
            .flat_map(|(_, points)| points.iter().map(|point| point.1));
        let y = Axis::new("Accuracy", shares_of(all), Unit::Percent);
        let mut plot = axes(area, &x, &y)?;
        for (look, points) in &lines {
            look.line(&mut plot, points)?;
            look.markers(&mut plot, points)?;
        }
        Ok(())
    })?;
    Ok(Chart::new(
        "uncertainty-buckets".to_owned(),
        title,
        "How to read it: the images are sorted by how unsure the network is and cut into ten equal parts. \
         If its uncertainty is worth anything, accuracy falls from left to right, and nearly all errors are \
         on the right."
            .to_owned(),
        HEIGHT,
        &elements,
    ))
}

/// One kind of examples in a histogram.
struct Group {
    name: String,
    look: Look,
    uncertainty: Vec<f64>,
}

fn groups(evaluation: &Evaluation, measure: Measure) -> Vec<Group> {
    let correct = evaluation.correct();
    let known = evaluation.examples.uncertainty(measure);
    let of = |wanted: bool| -> Vec<f64> {
        let known = known.iter().zip(&correct);
        known
            .filter(|&(_, &right)| right == wanted)
            .map(|(&value, _)| value)
            .collect()
    };
    let group = |name: String, look, uncertainty| Group {
        name,
        look,
        uncertainty,
    };
    let mut groups = vec![
        group("Right".to_owned(), Look::solid(BLUE), of(true)),
        group("Wrong".to_owned(), Look::dashed(VERMILION), of(false)),
    ];
    if let Some(strangers) = &evaluation.out_of_distribution {
        let uncertainty = strangers.examples.uncertainty(measure);
        let name = format!("Unknown ({})", strangers.name);
        groups.push(group(name, Look::dotted(GREEN), uncertainty));
    }
    groups.retain(|group| !group.uncertainty.is_empty());
    groups
}

fn histogram(evaluation: &Evaluation) -> Result<Chart> {
    let (method, measure) = (&evaluation.method, evaluation.ranked_by);
    let groups = groups(evaluation, measure);
    let all = groups.iter().flat_map(|group| &group.uncertainty);
    let most = all.copied().fold(1.0, f64::max).log10();
    let bins = ((most - FLOOR) * BINS_PER_POWER).floor() as usize + 1;
    let bars: Vec<Vec<f64>> = groups
        .iter()
        .map(|group| shares(&group.uncertainty, bins))
        .collect();
    let legend: Vec<(Key, String)> = groups
        .iter()
        .map(|group| (Key::Line(group.look), group.name.clone()))
        .collect();
    let title = capitalised(&format!("{measure} of {method}"));
    let elements = figure(&title, &legend, HEIGHT, |area| {
        let end = FLOOR + bins as f64 / BINS_PER_POWER;
        let x_label = capitalised(&format!("{measure} (nats)"));
        let x = Axis::new(x_label, FLOOR..end, Unit::PowerOfTenFrom);
        let highest = bars.iter().flatten().copied().fold(0.01, f64::max);
        let y = Axis::new("Share of the group", 0.0..1.05 * highest, Unit::Percent);
        let mut plot = axes(area, &x, &y)?;
        for (group, bars) in groups.iter().zip(&bars) {
            outline(&mut plot, group.look, bars)?;
        }
        Ok(())
    })?;
    Ok(Chart::new(
        format!("uncertainty-{}", slug(method)),
        title,
        caption(evaluation, measure),
        HEIGHT,
        &elements,
    ))
}

/// The share of values in each bin; those below the first are in it.
fn shares(values: &[f64], bins: usize) -> Vec<f64> {
    let mut shares = vec![0.0; bins];
    for value in values {
        let place = (value.log10() - FLOOR) * BINS_PER_POWER;
        // The logarithm of 0 is below all bins, and the cast takes it to the first.
        shares[(place as usize).min(bins - 1)] += 1.0 / values.len() as f64;
    }
    shares
}

fn outline(plot: &mut Plot<'_>, look: Look, bars: &[f64]) -> Result<()> {
    let edge = |bin: usize| FLOOR + bin as f64 / BINS_PER_POWER;
    let steps: Vec<(f64, f64)> = bars
        .iter()
        .enumerate()
        .flat_map(|(bin, &share)| [(edge(bin), share), (edge(bin + 1), share)])
        .collect();
    let shade = look.ink.colour().mix(SHADE);
    plot.draw_series(AreaSeries::new(steps.iter().copied(), 0.0, shade))?;
    look.line(plot, &steps)
}

fn caption(evaluation: &Evaluation, measure: Measure) -> String {
    let how = "How to read it: the further right an image, the less sure the network is of it; the scale \
               is logarithmic, and what is below 0.0001 is in the first step.";
    match &evaluation.out_of_distribution {
        Some(strangers) => {
            let Some(detection) = strangers.detection.by(measure) else {
                return how.to_owned();
            };
            format!(
                "{how} Images of {}, whose classes the network was never taught, should lie to the right of \
                 those that it gets right: {} of pairs are in that order (AUROC against all test images).",
                strangers.name,
                percent(detection.auroc, 1)
            )
        }
        None => format!("{how} Errors should lie to the right of what it gets right."),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_some_bin() {
        let found = shares(&[0.0, 1e-9, 0.999_9, 0.5], 20);
        assert_eq!(found[0], 0.5);
        assert_eq!(found[19], 0.25);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
