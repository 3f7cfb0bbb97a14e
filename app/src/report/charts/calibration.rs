//! Reliability diagrams.

use super::methods;
use crate::report::{
    Chart, Report,
    figure::{Area, Axis, Unit, axes, figure},
    look::{Key, Look},
    palette::{FAINT, QUIET, TEXT},
    text::slug,
};
use anyhow::Result;
use bayesadapter::{evaluate::Evaluation, metrics::ReliabilityBin};
use plotters::prelude::*;

/// Heights in units.
const WHOLE: u32 = 860;
const COUNTS: u32 = 236;

/// Opacity of bars, through which the mesh is seen, and of the gaps in them.
const BAR: f64 = 0.75;
const GAP: f64 = 0.9;

pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    methods(report)
        .map(|(look, evaluation)| diagram(look, evaluation))
        .collect()
}

fn diagram(look: Look, evaluation: &Evaluation) -> Result<Chart> {
    let method = &evaluation.method;
    let title = format!("Reliability of {method}");
    let ideal = Look::dashed(FAINT);
    let legend = [
        (Key::Area(look.ink, BAR), "Accuracy".to_owned()),
        (Key::Area(TEXT, GAP), "Gap to the confidence".to_owned()),
        (Key::Line(ideal), "Calibrated".to_owned()),
    ];
    let bins = &evaluation.reliability;
    let elements = figure(&title, &legend, WHOLE, |area| {
        let below = area.dim_in_pixel().1.saturating_sub(COUNTS);
        let (upper, lower) = area.split_vertically(below);
        let x = Axis::new("", 0.0..1.0, Unit::Percent);
        let y = Axis::new("Accuracy", 0.0..1.004, Unit::Percent);
        let mut plot = axes(&upper, &x, &y)?;
        for bin in bins {
            let (Some(accuracy), Some(confidence)) = (bin.accuracy, bin.mean_confidence) else {
                continue;
            };
            plot.draw_series([
                bar(bin, [0.0, accuracy], 0.88, look.ink.colour().mix(BAR)),
                bar(bin, [accuracy, confidence], 0.3, TEXT.colour().mix(GAP)),
            ])?;
        }
        ideal.line(&mut plot, &[(0.0, 0.0), (1.0, 1.0)])?;
        counts(&lower, bins)
    })?;
    Ok(Chart::new(
        format!("reliability-{}", slug(method)),
        title,
        format!(
            "How to read it: each bar holds the images that {method} predicted with the confidence below it. \
             Where bars end at the dashed line, the network means what it says; where they end below it, it is \
             too sure. Bars of few images, as the counts show, say little."
        ),
        WHOLE,
        &elements,
    ))
}

/// A bar between two heights that takes a share of its bin's width.
fn bar(
    bin: &ReliabilityBin,
    heights: [f64; 2],
    width: f64,
    colour: RGBAColor,
) -> Rectangle<(f64, f64)> {
    let [low, high] = [heights[0].min(heights[1]), heights[0].max(heights[1])];
    let air = 0.5 * (1.0 - width) * (bin.upper - bin.lower);
    Rectangle::new(
        [(bin.lower + air, high), (bin.upper - air, low)],
        colour.filled(),
    )
}

/// How many examples each bin holds, by logarithm, since most are in the last one.
fn counts(area: &Area<'_>, bins: &[ReliabilityBin]) -> Result<()> {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    // From a half, so that a single example is seen.
    let range = -0.3..(most as f64).log10().max(1.0) + 0.15;
    let x = Axis::new("Confidence", 0.0..1.0, Unit::Percent);
    let y = Axis::new("Images", range.clone(), Unit::PowerOfTen);
    let mut plot = axes(area, &x, &y)?;
    let filled = bins.iter().filter(|bin| bin.count > 0);
    plot.draw_series(filled.map(|bin| {
        let heights = [range.start, (bin.count as f64).log10()];
        bar(bin, heights, 0.88, QUIET.colour().mix(1.0))
    }))?;
    Ok(())
}
