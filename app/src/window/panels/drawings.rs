//! What is plotted of evaluations, for the window and for files alike.

use crate::{
    report::{Drawing, Mark, Series},
    window::look::{self, BLUE, Ink, QUIET, VERMILION},
};
use bayesadapter::{
    evaluate::Evaluation,
    metrics::{DrawScore, Histogram},
};

/// Bars of a histogram.
const BARS: usize = 30;
/// Points of a curve over all test pictures.
const STEPS: usize = 200;

/// Networks that are compared, by their names.
pub type Networks<'a> = &'a [(&'a str, &'a Evaluation)];

pub fn drawing(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Drawing {
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

/// A score against the number of draws.
pub fn against_draws(scores: &[DrawScore], value: impl Fn(&DrawScore) -> f64) -> Vec<[f64; 2]> {
    let scores = scores.iter().enumerate();
    scores
        .map(|(at, score)| [at as f64 + 1.0, value(score)])
        .collect()
}

/// The networks of a run, by their methods.
pub fn by_method(evaluations: &[Evaluation]) -> Vec<(&str, &Evaluation)> {
    let evaluations = evaluations.iter();
    evaluations.map(|one| (one.method.as_str(), one)).collect()
}

/// Right answers among the first, the first two, the first three … pictures, from the one that the network is surest of.
pub fn right_among_surest(evaluation: &Evaluation) -> Vec<usize> {
    let correct = evaluation.correct();
    let mut right = 0;
    let count = |at: usize| {
        right += usize::from(correct.get(at) == Some(&true));
        right
    };
    evaluation.by_rising_uncertainty().map(count).collect()
}

/// The share of wrong answers among those that are kept. Each network keeps what it is surest of by its own measure,
/// which is how the user's share is rejected too.
pub fn risks(networks: Networks<'_>) -> Vec<Series> {
    lines(networks, |one| {
        let right = right_among_surest(one);
        let all = right.len();
        let every = all.div_ceil(STEPS).max(1);
        let shown = (1..=all).filter(|&kept| kept.is_multiple_of(every) || kept == all);
        let percent = |part: usize, of: usize| 100.0 * part as f64 / of as f64;
        let point = |kept: usize| [percent(kept, all), percent(kept - right[kept - 1], kept)];
        shown.map(point).collect()
    })
}

/// These risks, and where the user stands.
pub fn risk_coverage(mut series: Vec<Series>, kept: f64) -> Drawing {
    let points = series.iter().flat_map(|series| &series.points);
    let most = points.map(|[_, risk]| *risk).fold(0.0, f64::max);
    let here = vec![[kept, 0.0], [kept, most]];
    series.push(Series::new("", QUIET, Mark::Dashed, here));
    let x_label = "share that is kept, the surest first, %";
    drawing(
        "Error among what is kept",
        x_label,
        "wrong answers, %",
        series,
    )
}

/// Accuracy of ten buckets of rising uncertainty.
pub fn buckets(evaluation: &Evaluation) -> Drawing {
    let buckets = evaluation.buckets.iter().enumerate();
    let points = buckets.filter_map(|(at, one)| Some([at as f64 + 1.0, 100.0 * one.accuracy?]));
    let bars = Mark::Bars { width: 0.86 };
    let series = Series::new(&evaluation.method, BLUE, bars, points.collect());
    let title = format!(
        "Accuracy by {} of {}",
        evaluation.ranked_by, evaluation.method
    );
    drawing(
        &title,
        "bucket, from the surest",
        "accuracy, %",
        vec![series],
    )
}

/// Uncertainty of the images that a network was evaluated on, and of OOD images.
pub fn uncertainty(evaluation: &Evaluation) -> Drawing {
    let measure = evaluation.ranked_by;
    let known = evaluation.examples.uncertainty(measure);
    let own = format!("{} images", evaluation.set);
    let mut kinds = vec![(own.as_str(), BLUE, known)];
    if let Some(other) = &evaluation.out_of_distribution {
        kinds.push((&other.name, VERMILION, other.examples.uncertainty(measure)));
    }
    let values = kinds.iter().flat_map(|(_, _, values)| values);
    let most = values.copied().fold(1e-9, f64::max);
    let series = kinds.iter().map(|(name, ink, values)| {
        let histogram = Histogram::within(values.iter().copied(), 0.0, most, BARS);
        shares(name, *ink, &histogram)
    });
    let title = format!("Share of pictures by {measure}");
    let x_label = format!("{measure}, nats");
    drawing(&title, &x_label, "share, %", series.collect())
}

/// Shares of a histogram, in percent.
pub fn shares(name: &str, ink: Ink, histogram: &Histogram) -> Series {
    let shares = histogram.shares().map(|(at, share)| [at, 100.0 * share]);
    let bars = Mark::Bars {
        width: histogram.width,
    };
    Series::new(name, ink, bars, shares.collect())
}
