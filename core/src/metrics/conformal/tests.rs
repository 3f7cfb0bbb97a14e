use super::*;

/// Ten examples of three classes: the label's score by [`ConformalMethod::Threshold`] is 0, 0.1, ... 0.9,
/// within the rounding of `f32`.
fn ladder() -> (Vec<f32>, Vec<u32>) {
    let rows = (0..10).flat_map(|step| {
        let rest = step as f32 / 10.0;
        [1.0 - rest, rest, 0.0]
    });
    (rows.collect(), vec![0; 10])
}

fn threshold_at(coverage: f64) -> Option<f64> {
    let (probabilities, labels) = ladder();
    let predictions = Predictions::new(&probabilities, 3, &labels).unwrap();
    let sets = Conformal::calibrate(&predictions, ConformalMethod::Threshold, coverage).unwrap();
    sets.threshold()
}

/// Sets of a threshold that was not calibrated.
fn sets_of(method: ConformalMethod, threshold: f64, raps: Option<RapsPenalty>) -> Conformal {
    Conformal {
        method,
        coverage: 0.9,
        examples: 100,
        threshold: Some(threshold),
        raps,
    }
}

#[test]
fn the_threshold_is_the_order_statistic_of_n_plus_one() {
    // ceil(11 * 0.5) = 6, ceil(11 * 0.8) = 9, ceil(11 * 0.9) = 10, ceil(11 * 0.91) = 11 of 10.
    for (coverage, expected) in [(0.5, 0.5), (0.8, 0.8), (0.9, 0.9), (1e-6, 0.0)] {
        let found = threshold_at(coverage).unwrap();
        assert!((found - expected).abs() < 1e-6, "{coverage}: {found}");
    }
    assert_eq!(threshold_at(0.91), None);
}

#[test]
fn products_that_rounding_lifts_above_a_whole_number_are_that_number() {
    // In `f64`, 100 * 0.55 is 55.00000000000001.
    assert_eq!(quantile_place(99, 0.55), 55);
    assert_eq!(quantile_place(99, 0.9), 90);
    assert_eq!(quantile_place(98, 0.99), 99);
    assert_eq!(quantile_place(99, 0.99), 99);
    assert_eq!(quantile_place(1, 1e-12), 1);
}

#[test]
fn thresholds_are_rounded_up() {
    for exact in [
        0.5,
        0.0,
        1.0 / 3.0,
        2.0 / 3.0,
        1.0 - 1e-9,
        123.456_789,
        -1e-4 / 3.0,
    ] {
        let rounded = rounded_up(exact);
        assert!(rounded >= exact && rounded - exact <= 2e-14 * exact.abs());
    }
}

#[test]
fn too_few_examples_give_sets_of_all_classes_and_a_file_without_infinity() {
    let few = Predictions::new(&[0.9, 0.06, 0.04], 3, &[0]).unwrap();
    for method in ConformalMethod::ALL {
        let sets = Conformal::calibrate(&few, method, 0.9).unwrap();
        assert_eq!(sets.set(&[0.1, 0.6, 0.3]), [1, 2, 0]);
        let text = serde_json::to_string(&sets).unwrap();
        assert!(text.contains("\"threshold\":null"), "{text}");
        assert_eq!(serde_json::from_str::<Conformal>(&text).unwrap(), sets);
    }
}

#[test]
fn threshold_sets_hold_the_top_class_where_none_passes() {
    let sets = sets_of(ConformalMethod::Threshold, 0.5, None);
    assert_eq!(sets.set(&[0.2, 0.4, 0.4]), [1]);
    assert_eq!(sets.set(&[0.5, 0.0, 0.5]), [0, 2]);
    assert_eq!(sets.set(&[0.0, 0.0, 1.0]), [2]);
    assert!(sets.set(&[]).is_empty());
}

#[test]
fn aps_scores_are_the_probability_ahead() {
    let row = [0.125, 0.5, 0.25, 0.125];
    let scores = |raps: Option<RapsPenalty>| {
        let method = raps.map_or(ConformalMethod::Aps, |_| ConformalMethod::Raps);
        let sets = sets_of(method, 0.0, raps);
        [0, 1, 2, 3].map(|label| sets.label_score(&row, label))
    };
    assert_eq!(scores(None), [0.75, 0.0, 0.5, 0.875]);
    // Ranks are 3, 1, 2, 4.
    let penalty = |k_reg| RapsPenalty {
        k_reg,
        lambda: 0.25,
    };
    assert_eq!(scores(Some(penalty(1))), [1.25, 0.0, 0.75, 1.625]);
    assert_eq!(scores(Some(penalty(3))), [0.75, 0.0, 0.5, 1.125]);
    assert_eq!(scores(Some(penalty(9))), scores(None));
}

#[test]
fn aps_sets_grow_until_the_threshold_is_passed() {
    let row = [0.125, 0.5, 0.25, 0.125];
    let set = |threshold| sets_of(ConformalMethod::Aps, threshold, None).set(&row);
    assert_eq!(set(0.0), [1]);
    assert_eq!(set(0.49), [1]);
    assert_eq!(set(0.5), [1, 2]);
    assert_eq!(set(0.75), [1, 2, 0]);
    assert_eq!(set(0.9), [1, 2, 0, 3]);
}

#[test]
fn the_usual_penalty_leaves_a_tenth_of_the_classes_free() {
    let free = [1, 2, 10, 25, 50, 1000].map(|classes| RapsPenalty::for_classes(classes).k_reg);
    assert_eq!(free, [1, 1, 1, 2, 5, 5]);
}

#[test]
fn signs_of_zero_do_not_change_the_order() {
    assert_eq!(ranking(&[-0.0, 0.0, 1.0, -0.0]), [2, 0, 1, 3]);
}

#[test]
fn scores_count_what_sets_hold() {
    let sets = sets_of(ConformalMethod::Threshold, 0.75, None);
    let probabilities = [
        0.5, 0.25, 0.25, // all three classes
        0.625, 0.25, 0.125, // two
        0.875, 0.125, 0.0, // one
        0.0, 1.0, 0.0, // one
    ];
    let predictions = Predictions::new(&probabilities, 3, &[2, 2, 0, 0]).unwrap();
    let expected = SetScores {
        coverage: 0.5,
        mean_size: 1.75,
        largest: 3,
        singletons: 0.5,
        singleton_coverage: Some(0.5),
    };
    assert_eq!(sets.score(&predictions), expected);
    let doubtful = Predictions::new(&[0.5, 0.5, 0.0], 3, &[0]).unwrap();
    assert_eq!(sets.score(&doubtful).singleton_coverage, None);
}

#[test]
fn wrong_settings_are_named() {
    let predictions = Predictions::new(&[0.5, 0.5], 2, &[0]).unwrap();
    for coverage in [0.0, 1.0, -0.5, 90.0, f64::NAN] {
        let error = Conformal::calibrate(&predictions, ConformalMethod::Aps, coverage).unwrap_err();
        let expected =
            format!("coverage is {coverage}, but a number above 0 and below 1 is needed");
        assert_eq!(error.to_string(), expected);
    }
    let by = |k_reg, lambda| {
        Conformal::calibrate_raps(&predictions, 0.5, RapsPenalty { k_reg, lambda }).unwrap_err()
    };
    assert_eq!(by(0, 0.1), MetricError::Zero { what: "k_reg" });
    for lambda in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(by(1, lambda), MetricError::Setting { .. }));
    }
}

#[test]
fn names_are_read_back_and_others_refused_with_the_known_ones() {
    for method in ConformalMethod::ALL {
        assert_eq!(method.to_string().parse::<ConformalMethod>(), Ok(method));
        let json = serde_json::to_string(&method).unwrap();
        assert_eq!(json, format!("\"{method}\""));
    }
    let error = "lac".parse::<ConformalMethod>().unwrap_err().to_string();
    assert!(error.contains("threshold, aps, raps"), "{error}");
}

#[test]
fn files_are_checked() {
    let sets = sets_of(
        ConformalMethod::Raps,
        0.75,
        Some(RapsPenalty::for_classes(10)),
    );
    let text = serde_json::to_string(&sets).unwrap();
    let expected = concat!(
        r#"{"method":"raps","coverage":0.9,"examples":100,"threshold":0.75,"#,
        r#""raps":{"k_reg":1,"lambda":0.01}}"#
    );
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<Conformal>(&text).unwrap(), sets);
    let refused = |from: &str, to: &str, why: &str| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        let error = serde_json::from_str::<Conformal>(&changed).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    };
    refused("0.9", "1.9", "coverage is 1.9");
    refused("\"k_reg\":1", "\"k_reg\":0", "k_reg is 0");
    refused("0.01", "-0.01", "lambda of RAPS is -0.01");
    refused("\"raps\",", "\"aps\",", "aps");
}
