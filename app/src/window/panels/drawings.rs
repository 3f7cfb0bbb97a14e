//! What is plotted of evaluations, for the window and for files alike.

use crate::{
    report::{Drawing, Mark, Series},
    window::look::{self, QUIET},
};
use bayesadapter::{evaluate::Evaluation, metrics::DrawScore};

/// Networks that are compared, by their names.
type Networks<'a> = &'a [(&'a str, &'a Evaluation)];

fn drawing(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Drawing {
    Drawing {
        title: title.to_owned(),
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        series,
    }
}

/// A line per network.
fn lines(networks: Networks<'_>, of: impl Fn(&Evaluation) -> Vec<[f64; 2]>) -> Vec<Series> {
    let networks = networks.iter().enumerate();
    let line = |(at, (name, evaluation)): (usize, &(&str, &Evaluation))| {
        Series::new(*name, look::of_method(at), Mark::Line, of(evaluation))
    };
    networks.map(line).collect()
}

/// Where confidence means what it says.
fn honest() -> Series {
    let ends = vec![[0.0, 0.0], [1.0, 1.0]];
    Series::new("honest", QUIET, Mark::Dashed, ends)
}

/// Accuracy against confidence.
pub fn reliability_of_all(networks: Networks<'_>) -> Drawing {
    let mut series = lines(networks, |one| {
        let bins = one.reliability.iter();
        bins.filter_map(|bin| Some([bin.mean_confidence?, bin.accuracy?]))
            .collect()
    });
    series.push(honest());
    drawing(
        "Reliability",
        "confidence",
        "share of right answers",
        series,
    )
}

/// Accuracy against the number of draws; a level line for a network without any.
pub fn accuracy_of_all(networks: Networks<'_>) -> Drawing {
    let draws = networks.iter().map(|(_, one)| one.draws);
    let most = draws.max().unwrap_or(1).max(2) as f64;
    let percent = |score: &DrawScore| 100.0 * score.accuracy;
    let series = lines(networks, |one| match &one.curve {
        Some(curve) => against_draws(&curve.ensemble, percent),
        None => [1.0, most]
            .map(|at| [at, 100.0 * one.scores.accuracy])
            .into(),
    });
    drawing(
        "Accuracy against draws",
        "draws S",
        "test accuracy, %",
        series,
    )
}

/// The share of wrong answers among those of at least a confidence.
pub fn error_above_confidence(networks: Networks<'_>) -> Drawing {
    let series = lines(networks, |one| {
        let points = one.error_above_confidence.iter();
        points
            .filter_map(|point| Some([point.threshold, 100.0 * point.error?]))
            .collect()
    });
    let title = "Wrong answers above a confidence";
    drawing(title, "least confidence", "wrong answers, %", series)
}

fn against_draws(scores: &[DrawScore], value: impl Fn(&DrawScore) -> f64) -> Vec<[f64; 2]> {
    let scores = scores.iter().enumerate();
    scores
        .map(|(at, score)| [at as f64 + 1.0, value(score)])
        .collect()
}
