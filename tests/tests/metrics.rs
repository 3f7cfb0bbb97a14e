//! The metrics against scikit-learn, torchmetrics and SciPy.
//!
//! `golden/make_metrics.py` says how the values were made. They do not cover confidences on a bin edge or
//! exactly 1, probabilities of exactly 0, ties between classes, ties of confidence in adaptive bins and in
//! risk against coverage, the number of draws that is enough, or input that is refused: the unit tests of
//! `core/src/metrics` do. Ties of scores in detection and verification are covered.

use bayesadapter::metrics::{
    ConfidencePoint, DrawProbabilities, DrawScore, MI_BUCKETS, Predictions, TPR_95, accuracy,
    adaptive_ece, aupr, aurc, auroc, brier, classwise_ece, decompose, draw_curve, ece,
    error_above_confidence, fpr_at_tpr, nll, reliability_bins, top_k_accuracy, uncertainty_buckets,
    verification_accuracy,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Both sides sum in f64, in different orders.
const EXACT: f64 = 1e-12;
/// torchmetrics sums confidences in f32, and our means over draws are rounded to f32.
const SINGLE: f64 = 1e-6;

#[derive(Deserialize)]
struct Golden {
    classification: Vec<Classification>,
    detection: Vec<Detection>,
    draws: Draws,
    verification: Faces,
}

#[derive(Deserialize)]
struct Classification {
    name: String,
    classes: usize,
    labels: Vec<u32>,
    probabilities: Vec<f32>,
    expected: ClassificationScores,
}

#[derive(Deserialize)]
struct ClassificationScores {
    accuracy: f64,
    top_k: BTreeMap<usize, f64>,
    nll: f64,
    brier: f64,
    ece: BTreeMap<usize, f64>,
    classwise_ece: f64,
    adaptive_ece: BTreeMap<usize, f64>,
    aurc: f64,
    error_above: ErrorAbove,
}

#[derive(Deserialize)]
struct ErrorAbove {
    ood: Vec<f32>,
    thresholds: Vec<f32>,
    alone: Vec<Point>,
    mixed: Vec<Point>,
}

/// Threshold, count, error.
type Point = (f64, usize, Option<f64>);

#[derive(Deserialize)]
struct Detection {
    name: String,
    positives: Vec<f32>,
    negatives: Vec<f32>,
    expected: DetectionScores,
}

#[derive(Deserialize)]
struct DetectionScores {
    auroc: f64,
    aupr: f64,
    fpr95: f64,
    fpr80: f64,
}

#[derive(Deserialize)]
struct Draws {
    draws: usize,
    classes: usize,
    labels: Vec<u32>,
    probabilities: Vec<f32>,
    mean_network: Vec<f32>,
    expected: DrawResults,
}

/// Scores are accuracy and NLL.
#[derive(Deserialize)]
struct DrawResults {
    single: Vec<(f64, f64)>,
    ensemble: Vec<(f64, f64)>,
    mean_network: (f64, f64),
    mean: Vec<f64>,
    total: Vec<f64>,
    aleatoric: Vec<f64>,
    mutual_information: Vec<f64>,
    bucket_indices: Vec<Vec<usize>>,
    bucket_accuracies: Vec<f64>,
}

#[derive(Deserialize)]
struct Faces {
    similarities: Vec<f32>,
    same: Vec<bool>,
    folds: Vec<usize>,
    expected: FaceScores,
}

#[derive(Deserialize)]
struct FaceScores {
    thresholds: Vec<f32>,
    accuracies: Vec<f64>,
    mean: f64,
    standard_error: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/metrics.json"))
        .unwrap_or_else(|error| panic!("metrics.json: {error}; run make_metrics.py again"))
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    // Not `> tolerance`, which would let NaN through.
    let near = (found - expected).abs() <= tolerance;
    assert!(near, "{what} is {found}, expected {expected}");
}

#[track_caller]
fn all_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: number of elements");
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        close(&format!("{what}[{at}]"), found, expected, tolerance);
    }
}

#[track_caller]
fn same_points(what: &str, found: &[ConfidencePoint], expected: &[Point]) {
    assert_eq!(found.len(), expected.len(), "{what}: number of points");
    for (point, &(threshold, count, error)) in found.iter().zip(expected) {
        assert_eq!((point.threshold, point.count), (threshold, count), "{what}");
        assert_eq!(point.error.is_some(), error.is_some(), "{what}");
        if let (Some(found), Some(expected)) = (point.error, error) {
            close(&format!("{what} from {threshold}"), found, expected, EXACT);
        }
    }
}

#[track_caller]
fn same_scores(what: &str, found: &[DrawScore], expected: &[(f64, f64)], tolerance: f64) {
    let (accuracies, nlls): (Vec<f64>, Vec<f64>) = expected.iter().copied().unzip();
    let found_accuracies: Vec<f64> = found.iter().map(|score| score.accuracy).collect();
    let found_nlls: Vec<f64> = found.iter().map(|score| score.nll).collect();
    all_close(
        &format!("{what} accuracy"),
        &found_accuracies,
        &accuracies,
        EXACT,
    );
    all_close(&format!("{what} nll"), &found_nlls, &nlls, tolerance);
}

#[test]
fn classification() {
    let cases = golden().classification;
    assert!(cases.len() >= 3, "cases are missing");
    for case in &cases {
        let (name, expected) = (&case.name, &case.expected);
        let predictions =
            Predictions::new(&case.probabilities, case.classes, &case.labels).unwrap();
        close(name, accuracy(&predictions), expected.accuracy, EXACT);
        for (&k, &expected) in &expected.top_k {
            let found = top_k_accuracy(&predictions, k).unwrap();
            close(&format!("{name}: top {k}"), found, expected, EXACT);
        }
        close(name, nll(&predictions), expected.nll, EXACT);
        close(name, brier(&predictions), expected.brier, EXACT);
    }
}

#[test]
fn calibration() {
    for case in &golden().classification {
        let (name, expected) = (&case.name, &case.expected);
        let predictions =
            Predictions::new(&case.probabilities, case.classes, &case.labels).unwrap();
        for (&bins, &expected) in &expected.ece {
            let what = format!("{name}: ECE of {bins} bins");
            close(&what, ece(&predictions, bins).unwrap(), expected, SINGLE);
            let (confidences, correct) = (predictions.confidences(), predictions.correct());
            let diagram = reliability_bins(&confidences, &correct, bins).unwrap();
            let gaps = diagram.iter().filter_map(|bin| {
                let gap = bin.accuracy? - bin.mean_confidence?;
                Some(gap.abs() * bin.count as f64 / predictions.examples() as f64)
            });
            close(
                &format!("{what}, by its diagram"),
                gaps.sum(),
                expected,
                SINGLE,
            );
        }
        for (&bins, &expected) in &expected.adaptive_ece {
            let what = format!("{name}: adaptive ECE of {bins} bins");
            close(
                &what,
                adaptive_ece(&predictions, bins).unwrap(),
                expected,
                EXACT,
            );
        }
        let found = classwise_ece(&predictions, 15).unwrap();
        close(
            &format!("{name}: class-wise ECE"),
            found,
            expected.classwise_ece,
            SINGLE,
        );
    }
}

#[test]
fn selection() {
    for case in &golden().classification {
        let predictions =
            Predictions::new(&case.probabilities, case.classes, &case.labels).unwrap();
        let (confidences, correct) = (predictions.confidences(), predictions.correct());
        let area = aurc(&confidences, &correct).unwrap();
        close(
            &format!("{}: AURC", case.name),
            area,
            case.expected.aurc,
            EXACT,
        );
        let expected = &case.expected.error_above;
        let points = |ood: &[f32]| {
            error_above_confidence(&confidences, &correct, ood, &expected.thresholds).unwrap()
        };
        same_points(&case.name, &points(&[]), &expected.alone);
        same_points(&case.name, &points(&expected.ood), &expected.mixed);
    }
}

#[test]
fn detection() {
    let cases = golden().detection;
    assert!(cases.len() >= 3, "cases are missing");
    for case in &cases {
        let (name, expected) = (&case.name, &case.expected);
        let (positives, negatives) = (&case.positives, &case.negatives);
        close(
            name,
            auroc(positives, negatives).unwrap(),
            expected.auroc,
            EXACT,
        );
        close(
            name,
            aupr(positives, negatives).unwrap(),
            expected.aupr,
            EXACT,
        );
        let rate = |tpr| fpr_at_tpr(positives, negatives, tpr).unwrap();
        close(name, rate(TPR_95), expected.fpr95, EXACT);
        close(name, rate(0.8), expected.fpr80, EXACT);
    }
}

#[test]
fn draws() {
    let case = golden().draws;
    let draws = DrawProbabilities::new(&case.probabilities, case.draws, case.classes).unwrap();
    let curve = draw_curve(&draws, &case.labels, Some(&case.mean_network)).unwrap();
    let expected = &case.expected;
    same_scores("single", &curve.single, &expected.single, EXACT);
    same_scores("ensemble", &curve.ensemble, &expected.ensemble, SINGLE);
    let mean_network = [curve.mean_network.expect("it was given")];
    same_scores(
        "mean network",
        &mean_network,
        &[expected.mean_network],
        EXACT,
    );
}

#[test]
fn uncertainty() {
    let case = golden().draws;
    let draws = DrawProbabilities::new(&case.probabilities, case.draws, case.classes).unwrap();
    let (found, expected) = (decompose(&draws), &case.expected);
    let mean: Vec<f64> = found
        .mean_probabilities
        .iter()
        .copied()
        .map(f64::from)
        .collect();
    all_close("mean", &mean, &expected.mean, SINGLE);
    all_close("total", &found.total_entropy, &expected.total, EXACT);
    all_close(
        "aleatoric",
        &found.aleatoric_entropy,
        &expected.aleatoric,
        EXACT,
    );
    let information = &found.mutual_information;
    all_close("MI", information, &expected.mutual_information, EXACT);
    let predictions =
        Predictions::new(&found.mean_probabilities, case.classes, &case.labels).unwrap();
    let buckets = uncertainty_buckets(information, &predictions.correct(), MI_BUCKETS).unwrap();
    let (indices, accuracies): (Vec<_>, Vec<_>) = buckets
        .into_iter()
        .map(|bucket| (bucket.indices, bucket.accuracy.expect("no bucket is empty")))
        .unzip();
    assert_eq!(indices, expected.bucket_indices);
    all_close("buckets", &accuracies, &expected.bucket_accuracies, EXACT);
}

#[test]
fn verification() {
    let case = golden().verification;
    let found = verification_accuracy(&case.similarities, &case.same, &case.folds).unwrap();
    let expected = &case.expected;
    let thresholds: Vec<f64> = found.folds.iter().map(|fold| fold.threshold).collect();
    let accuracies: Vec<f64> = found.folds.iter().map(|fold| fold.accuracy).collect();
    let expected_thresholds: Vec<f64> =
        expected.thresholds.iter().copied().map(f64::from).collect();
    assert_eq!(thresholds, expected_thresholds);
    all_close("folds", &accuracies, &expected.accuracies, EXACT);
    close("mean", found.mean_accuracy, expected.mean, EXACT);
    close(
        "standard error",
        found.standard_error,
        expected.standard_error,
        EXACT,
    );
}
