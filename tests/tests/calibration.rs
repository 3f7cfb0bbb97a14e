//! Temperature scaling and prediction sets: against scikit-learn, SciPy and MAPIE, and what they guarantee.
//!
//! `golden/make_calibration.py` says how the values were made, and what they do not cover; the unit tests of
//! `core/src/metrics` do that. Random data has labels that are drawn from known probabilities, so that the
//! right temperature and the right coverage are known too.

use bayesadapter::{
    evaluate::Calibration,
    metrics::{Conformal, ConformalMethod, Predictions, RapsPenalty, Temperature, accuracy, nll},
};
use bayesadapter_shaders::NoiseKey;
use serde::Deserialize;

/// Both sides sum in f64, in different orders.
const EXACT: f64 = 1e-12;
/// Minima are found to about 1e-8, and scaled probabilities are rounded to f32.
const SINGLE: f64 = 1e-6;

#[derive(Deserialize)]
struct Golden {
    temperature: Vec<Scaling>,
    conformal: Vec<Sets>,
}

#[derive(Deserialize)]
struct Scaling {
    name: String,
    classes: usize,
    labels: Vec<u32>,
    probabilities: Vec<f32>,
    expected: Scaled,
}

#[derive(Deserialize)]
struct Scaled {
    temperature: f64,
    nll_before: f64,
    nll_after: f64,
    /// Of the first rows.
    scaled: Vec<f64>,
}

#[derive(Deserialize)]
struct Sets {
    name: String,
    classes: usize,
    /// How many of the examples are for calibration; the others are scored.
    calibration: usize,
    labels: Vec<u32>,
    probabilities: Vec<f32>,
    expected: Vec<SetsOf>,
}

#[derive(Deserialize)]
struct SetsOf {
    method: ConformalMethod,
    coverage: f64,
    /// `k_reg` and `lambda`.
    penalty: Option<(usize, f64)>,
    threshold: f64,
    sets: Vec<Vec<u32>>,
    test_coverage: f64,
    mean_size: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/calibration.json"))
        .unwrap_or_else(|error| panic!("calibration.json: {error}; run make_calibration.py again"))
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    // Not `> tolerance`, which would let NaN through.
    let near = (found - expected).abs() <= tolerance;
    assert!(near, "{what} is {found}, expected {expected}");
}

#[test]
fn temperatures_and_scaled_probabilities_are_those_of_scikit_learn_and_scipy() {
    let cases = golden().temperature;
    assert!(cases.len() >= 3, "cases are missing");
    for case in &cases {
        let (name, expected) = (&case.name, &case.expected);
        let predictions =
            Predictions::new(&case.probabilities, case.classes, &case.labels).unwrap();
        close(name, nll(&predictions), expected.nll_before, SINGLE);
        let temperature = Temperature::fit(&predictions).unwrap();
        close(name, temperature.value(), expected.temperature, SINGLE);
        let mut scaled = case.probabilities.clone();
        temperature.apply(&mut scaled, case.classes).unwrap();
        for (&found, &expected) in scaled.iter().zip(&expected.scaled) {
            close(name, f64::from(found), expected, SINGLE);
        }
        let after = Predictions::new(&scaled, case.classes, &case.labels).unwrap();
        close(name, nll(&after), expected.nll_after, SINGLE);
        let fitted = Calibration::fit(&predictions, "", 0.9).unwrap();
        close(name, fitted.nll, expected.nll_before, SINGLE);
        close(
            name,
            fitted.tempered_nll.unwrap(),
            expected.nll_after,
            SINGLE,
        );
    }
}

#[test]
fn thresholds_sets_and_their_scores_are_those_of_mapie() {
    let cases = golden().conformal;
    assert!(cases.len() >= 2, "cases are missing");
    for case in &cases {
        let (rows, test_rows) = case.probabilities.split_at(case.calibration * case.classes);
        let (labels, test_labels) = case.labels.split_at(case.calibration);
        let calibration = Predictions::new(rows, case.classes, labels).unwrap();
        let test = Predictions::new(test_rows, case.classes, test_labels).unwrap();
        assert!(case.expected.len() >= 12, "methods are missing");
        for expected in &case.expected {
            let (method, coverage) = (expected.method, expected.coverage);
            let what = format!("{}: {method} at {coverage}", case.name);
            let sets = match expected.penalty {
                Some((k_reg, lambda)) => {
                    let penalty = RapsPenalty { k_reg, lambda };
                    Conformal::calibrate_raps(&calibration, coverage, penalty).unwrap()
                }
                None => Conformal::calibrate(&calibration, method, coverage).unwrap(),
            };
            assert_eq!(sets.method(), method, "{what}");
            let threshold = sets.threshold().expect("enough examples");
            close(&what, threshold, expected.threshold, EXACT);
            let found: Vec<Vec<u32>> = test.rows().map(|row| sets.set(row)).collect();
            assert_eq!(found, expected.sets, "{what}");
            let scores = sets.score(&test);
            close(&what, scores.coverage, expected.test_coverage, EXACT);
            close(&what, scores.mean_size, expected.mean_size, EXACT);
        }
    }
}

/// The default penalty is among the golden cases.
#[test]
fn raps_takes_its_default_penalty_unless_told() {
    let data = Data::new(1, 200, 20, 1.0);
    let default = Conformal::calibrate(&data.predictions(), ConformalMethod::Raps, 0.9).unwrap();
    let penalty = RapsPenalty {
        k_reg: 2,
        lambda: 0.01,
    };
    assert_eq!(
        default,
        Conformal::calibrate_raps(&data.predictions(), 0.9, penalty).unwrap()
    );
}

/// Examples whose labels are drawn from softmax(logits), and the probabilities of a network that says
/// softmax(sharpness * logits).
struct Data {
    classes: usize,
    labels: Vec<u32>,
    probabilities: Vec<f32>,
}

impl Data {
    fn new(seed: u64, examples: usize, classes: usize, sharpness: f64) -> Self {
        let key = NoiseKey {
            seed,
            ..NoiseKey::default()
        };
        let mut data = Self {
            classes,
            labels: Vec::new(),
            probabilities: Vec::new(),
        };
        let mut normals = vec![0.0; classes];
        for example in 0..examples as u32 {
            key.fill_normals(example, 0, &mut normals);
            let logits: Vec<f64> = normals.iter().map(|&n| 1.8 * f64::from(n)).collect();
            let chance = f64::from(key.later(1).uniform(example, 0));
            data.labels.push(drawn(&softmax(&logits, 1.0), chance));
            let row = softmax(&logits, sharpness);
            data.probabilities.extend(row.iter().map(|&p| p as f32));
        }
        data
    }

    fn predictions(&self) -> Predictions<'_> {
        Predictions::new(&self.probabilities, self.classes, &self.labels).unwrap()
    }

    /// The same examples from the last to the first.
    fn reversed(&self) -> Self {
        let rows = self.probabilities.chunks_exact(self.classes);
        Self {
            classes: self.classes,
            labels: self.labels.iter().rev().copied().collect(),
            probabilities: rows.rev().flatten().copied().collect(),
        }
    }

    fn split_at(&self, examples: usize) -> (Predictions<'_>, Predictions<'_>) {
        let (rows, other_rows) = self.probabilities.split_at(examples * self.classes);
        let (labels, other_labels) = self.labels.split_at(examples);
        (
            Predictions::new(rows, self.classes, labels).unwrap(),
            Predictions::new(other_rows, self.classes, other_labels).unwrap(),
        )
    }
}

fn softmax(logits: &[f64], sharpness: f64) -> Vec<f64> {
    let powers: Vec<f64> = logits.iter().map(|l| (sharpness * l).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// The class in whose share of 0..1 the chance falls.
fn drawn(probabilities: &[f64], chance: f64) -> u32 {
    let mut sum = 0.0;
    let passed = probabilities.iter().take_while(|&&p| {
        sum += p;
        sum < chance
    });
    passed.count().min(probabilities.len() - 1) as u32
}

#[test]
fn the_temperature_of_the_data_is_recovered() {
    // 8,000 examples know ln T to about 0.015.
    for sharpness in [0.5, 1.0, 2.0, 5.0] {
        let data = Data::new(3, 8_000, 10, sharpness);
        let found = Temperature::fit(&data.predictions()).unwrap().value();
        close("ln(T / sharpness)", (found / sharpness).ln(), 0.0, 0.05);
    }
}

#[test]
fn what_has_been_scaled_needs_no_further_temperature() {
    let mut data = Data::new(4, 2_000, 10, 2.0);
    let (before, right) = (nll(&data.predictions()), accuracy(&data.predictions()));
    let temperature = Temperature::fit(&data.predictions()).unwrap();
    temperature.apply(&mut data.probabilities, 10).unwrap();
    assert!(nll(&data.predictions()) < before - 0.1);
    assert_eq!(accuracy(&data.predictions()), right);
    let again = Temperature::fit(&data.predictions()).unwrap();
    close("the second temperature", again.value(), 1.0, 1e-5);
}

#[test]
fn the_order_of_the_examples_does_not_matter() {
    let data = Data::new(5, 777, 10, 1.5);
    let reversed = data.reversed();
    let (one, other) = (data.predictions(), reversed.predictions());
    let fit = |predictions| Temperature::fit(predictions).unwrap().value();
    close("T", fit(&other), fit(&one), SINGLE);
    for method in ConformalMethod::ALL {
        let calibrate = |predictions| Conformal::calibrate(predictions, method, 0.9).unwrap();
        assert_eq!(calibrate(&one), calibrate(&other));
    }
}

#[test]
fn json_brings_everything_back_exactly() {
    for seed in 0..60 {
        let data = Data::new(seed, 50, 10, 1.5);
        let temperature = Temperature::fit(&data.predictions()).unwrap();
        let text = serde_json::to_string(&temperature).unwrap();
        assert_eq!(
            serde_json::from_str::<Temperature>(&text).unwrap(),
            temperature
        );
        for method in ConformalMethod::ALL {
            let sets = Conformal::calibrate(&data.predictions(), method, 0.9).unwrap();
            let text = serde_json::to_string(&sets).unwrap();
            assert_eq!(serde_json::from_str::<Conformal>(&text).unwrap(), sets);
        }
    }
}

/// With scores that do not tie, the coverage over all calibration sets of n examples is exactly
/// ceil((n + 1) c) / (n + 1), whatever the network says. Half of the predictions are correct, and so the
/// ties of APS at 0 are far below the threshold.
#[test]
fn coverage_is_what_theory_says_even_of_small_calibration_sets() {
    const TESTS: usize = 40;
    for (examples, coverage, place, repeats) in [
        (19, 0.9, 18, 1_500),
        (20, 0.9, 19, 1_500),
        (40, 0.8, 33, 800),
        (400, 0.95, 381, 100),
    ] {
        let expected = place as f64 / (examples + 1) as f64;
        // The calibration set's threshold varies by a Beta distribution, the tests by a binomial one.
        let variance = expected * (1.0 - expected);
        let spread = variance / (examples + 2) as f64 + variance / TESTS as f64;
        let tolerance = 4.0 * (spread / repeats as f64).sqrt();
        for method in ConformalMethod::ALL {
            let covered: f64 = (0..repeats)
                .map(|seed| {
                    let data = Data::new(seed, examples + TESTS, 10, 2.0);
                    let (calibration, test) = data.split_at(examples);
                    let sets = Conformal::calibrate(&calibration, method, coverage).unwrap();
                    sets.score(&test).coverage
                })
                .sum();
            let what = format!("coverage by {method} of {examples} examples");
            close(&what, covered / repeats as f64, expected, tolerance);
        }
    }
}

#[test]
fn sets_of_a_higher_coverage_contain_those_of_a_lower_one() {
    let data = Data::new(6, 1_200, 10, 1.5);
    let (calibration, test) = data.split_at(1_000);
    for method in ConformalMethod::ALL {
        let sets = [0.3, 0.6, 0.8, 0.9, 0.99, 0.9999]
            .map(|coverage| Conformal::calibrate(&calibration, method, coverage).unwrap());
        let mut grown = 0;
        for row in test.rows() {
            for pair in sets.windows(2) {
                let (smaller, larger) = (pair[0].set(row), pair[1].set(row));
                assert!(!smaller.is_empty());
                assert!(
                    larger.starts_with(&smaller),
                    "{method}: {smaller:?}, {larger:?}"
                );
                grown += usize::from(larger.len() > smaller.len());
            }
            // 1,000 examples are too few for 0.9999.
            assert_eq!(sets[5].set(row).len(), 10);
        }
        assert!(grown > 200, "{method}: {grown} sets grew");
    }
}

/// Where the network says the probabilities that labels are drawn from, no sets of this coverage are smaller
/// than those of one threshold (Sadinle, Lei and Wasserman, 2019).
#[test]
fn threshold_sets_are_the_smallest_and_a_penalty_keeps_sets_short() {
    let data = Data::new(7, 12_000, 10, 1.0);
    let (calibration, test) = data.split_at(4_000);
    let scores = ConformalMethod::ALL.map(|method| {
        let sets = Conformal::calibrate(&calibration, method, 0.9).unwrap();
        sets.score(&test)
    });
    let [threshold, aps, raps] = scores;
    assert!(threshold.mean_size < aps.mean_size, "{scores:?}");
    assert!(threshold.mean_size < raps.mean_size, "{scores:?}");
    assert!(raps.largest < aps.largest, "{scores:?}");
}
