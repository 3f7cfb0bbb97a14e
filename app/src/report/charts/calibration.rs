//! Reliability diagrams.

use crate::report::{
    Chart, Report,
    figure::{Area, Axis, Unit, axes, figure, font},
    look::{Key, Look},
    palette::{FAINT, QUIET, TEXT},
    text::slug,
};
use anyhow::Result;
use bayesadapter::{evaluate::Evaluation, metrics::ReliabilityBin};
use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};
use std::fmt::Write;

/// Heights in units.
const WHOLE: u32 = 880;
const COUNTS: u32 = 256;

/// Size of the counts in units: five digits are as wide as one of fifteen bins.
const NUMBER_SIZE: u32 = 17;

/// Opacity of bars, through which the mesh is seen, and of the gaps in them.
const BAR: f64 = 0.75;
const GAP: f64 = 0.9;

pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    let evaluations = report.evaluations.iter().enumerate();
    let chart = |(place, evaluation): (usize, &Evaluation)| {
        let name = format!("reliability-{}", slug(&evaluation.method));
        Reliability::of(place, evaluation).chart(name)
    };
    evaluations.map(chart).collect()
}

/// The reliability diagram of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability {
    method: String,
    /// Of the network among those that are compared, which gives it its colour.
    place: usize,
    bins: Vec<ReliabilityBin>,
}

impl Reliability {
    /// Of the network at a place among those that are compared.
    pub fn of(place: usize, evaluation: &Evaluation) -> Self {
        Self {
            method: evaluation.method.clone(),
            place,
            bins: evaluation.reliability.clone(),
        }
    }

    pub fn title(&self) -> String {
        format!("Reliability of {}", self.method)
    }

    /// A row per bin; of an empty one there are no shares.
    pub fn csv(&self) -> String {
        let share = |share: Option<f64>| share.map_or(String::new(), |share| share.to_string());
        let mut text =
            "confidence from,confidence to,pictures,mean confidence,share of right answers\n"
                .to_owned();
        for bin in &self.bins {
            let (confidence, accuracy) = (share(bin.mean_confidence), share(bin.accuracy));
            let (lower, upper, count) = (bin.lower, bin.upper, bin.count);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{lower},{upper},{count},{confidence},{accuracy}");
        }
        text
    }

    /// The chart under a name for its file.
    pub fn chart(&self, name: String) -> Result<Chart> {
        let (look, ideal) = (Look::of_method(self.place), Look::dashed(FAINT));
        let (method, title) = (&self.method, self.title());
        let legend = [
            (Key::Area(look.ink, BAR), "Accuracy".to_owned()),
            (Key::Area(TEXT, GAP), "Gap to the confidence".to_owned()),
            (Key::Line(ideal), "Calibrated".to_owned()),
        ];
        let elements = figure(&title, &legend, WHOLE, |area| {
            let below = area.dim_in_pixel().1.saturating_sub(COUNTS);
            let (upper, lower) = area.split_vertically(below);
            let x = Axis::new("", 0.0..1.0, Unit::Percent);
            let y = Axis::new("Accuracy", 0.0..1.004, Unit::Percent);
            let mut plot = axes(&upper, &x, &y)?;
            for bin in &self.bins {
                let (Some(accuracy), Some(confidence)) = (bin.accuracy, bin.mean_confidence) else {
                    continue;
                };
                plot.draw_series([
                    bar(bin, [0.0, accuracy], 0.88, look.ink.colour().mix(BAR)),
                    bar(bin, [accuracy, confidence], 0.3, TEXT.colour().mix(GAP)),
                ])?;
            }
            ideal.line(&mut plot, &[(0.0, 0.0), (1.0, 1.0)])?;
            counts(&lower, &self.bins)
        })?;
        let caption = format!(
            "How to read it: each bar holds the images that {method} predicted with the confidence below it. \
             Where bars end at the dashed line, the network means what it says; where they end below it, it is \
             too sure. Bars of few images, as the counts show, say little."
        );
        Ok(Chart::new(name, title, caption, WHOLE, &elements))
    }
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
    let height = (most as f64).log10().max(1.0);
    // Above the highest there is room for its number.
    let range = -0.3..height + 0.25 * (height + 0.3);
    let x = Axis::new("Confidence", 0.0..1.0, Unit::Percent);
    let y = Axis::new("Images", range.clone(), Unit::PowerOfTen);
    let mut plot = axes(area, &x, &y)?;
    let filled = bins.iter().filter(|bin| bin.count > 0);
    let numbers = filled.clone().map(|bin| {
        let middle = (0.5 * (bin.lower + bin.upper), (bin.count as f64).log10());
        let style = font(NUMBER_SIZE, TEXT, Pos::new(HPos::Center, VPos::Bottom));
        EmptyElement::at(middle) + Text::new(bin.count.to_string(), (0, -4), style)
    });
    plot.draw_series(numbers)?;
    plot.draw_series(filled.map(|bin| {
        let heights = [range.start, (bin.count as f64).log10()];
        bar(bin, heights, 0.88, QUIET.colour().mix(1.0))
    }))?;
    Ok(())
}
