use super::*;
use crate::metrics::{accuracy, nll};

fn fit(probabilities: &[f32], classes: usize, labels: &[u32]) -> f64 {
    let predictions = Predictions::new(probabilities, classes, labels).unwrap();
    Temperature::fit(&predictions).unwrap().value()
}

#[test]
fn a_certain_and_correct_network_keeps_its_probabilities() {
    let labels = [0, 2, 1];
    let certain = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    assert_eq!(fit(&certain, 3, &labels), 1.0);
    assert_eq!(fit(&[1.0; 3], 1, &[0, 0, 0]), 1.0);
    assert_eq!(fit(&[0.25; 8], 4, &[1, 3]), 1.0);
}

#[test]
fn the_ends_of_the_range_are_reached_and_not_passed() {
    // Always correct: the likelihood has no maximum, and nothing is learnt of the temperature.
    assert_eq!(fit(&[0.9, 0.1], 2, &[0]), 1.0);
    // Nearly always correct with little confidence: the colder, the better.
    let timid = [0.5 + 1e-6, 0.5 - 1e-6].repeat(100_000);
    let mut labels = vec![0; 100_000];
    labels[7] = 1;
    assert_eq!(fit(&timid, 2, &labels), *TEMPERATURE_RANGE.start());
    // Always wrong: the hotter, the better.
    assert_eq!(fit(&[0.9, 0.1], 2, &[1]), *TEMPERATURE_RANGE.end());
    assert_eq!(fit(&[1.0, 0.0], 2, &[1]), *TEMPERATURE_RANGE.end());
}

#[test]
fn one_impossible_label_is_priced_by_the_floor() {
    // One of four certain predictions is wrong. The best odds are 3 : 1, and the odds of the floor are
    // 2^126 : 1, so T is 126 ln 2 / ln 3, about 79.5: past the end of the range.
    let probabilities = [1.0, 0.0].repeat(4);
    assert_eq!(fit(&probabilities, 2, &[0, 0, 0, 1]), 20.0);
    // One of a hundred thousand: 126 ln 2 / ln 99,999.
    let mut labels = vec![0; 100_000];
    labels[77] = 1;
    let expected = 126.0 * 2f64.ln() / 99_999f64.ln();
    let found = fit(&[1.0, 0.0].repeat(100_000), 2, &labels);
    assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
}

#[test]
fn what_is_minimised_is_the_nll_of_what_is_applied() {
    let mut probabilities = vec![0.7, 0.2, 0.1, 0.0, 0.25, 0.75, 0.005, 0.005, 0.99];
    let labels = [1, 2, 0];
    let predictions = Predictions::new(&probabilities, 3, &labels).unwrap();
    let (expected, before) = (LogOffsets::of(&predictions), accuracy(&predictions));
    let temperature = Temperature::new(3.5).unwrap();
    temperature.apply(&mut probabilities, 3).unwrap();
    let scaled = Predictions::new(&probabilities, 3, &labels).unwrap();
    assert!((nll(&scaled) - expected.nll(3.5)).abs() < 1e-6);
    assert_eq!(accuracy(&scaled), before);
}

#[test]
fn a_temperature_of_one_keeps_every_bit() {
    let probabilities = [0.1f32, 0.2, 0.699_99, 1e-40, 0.0, 1.000_5];
    let mut same = probabilities;
    Temperature::default().apply(&mut same, 3).unwrap();
    assert_eq!(same.map(f32::to_bits), probabilities.map(f32::to_bits));
}

#[test]
fn extreme_temperatures_stay_finite() {
    let scaled = |value: f64| {
        let mut row = [0.5f32, 0.3, 0.2, 0.0];
        Temperature::new(value).unwrap().apply(&mut row, 4).unwrap();
        row
    };
    assert_eq!(scaled(f64::MIN_POSITIVE), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(scaled(f64::MAX), [0.25; 4]);
}

#[test]
fn wrong_input_is_refused_and_left_alone() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Temperature::new(value).unwrap_err().to_string();
        let expected = format!("temperature is {value}, but a positive, finite number is needed");
        assert_eq!(error, expected);
    }
    let hot = Temperature::new(2.0).unwrap();
    let mut logits = [0.5, 0.5, 3.0, 1.0];
    assert!(matches!(
        hot.apply(&mut logits, 2),
        Err(MetricError::RowSum { example: 1, .. })
    ));
    assert_eq!(logits, [0.5, 0.5, 3.0, 1.0]);
    assert!(matches!(
        hot.apply(&mut [0.5, 0.5, 1.0], 2),
        Err(MetricError::Length { expected: 4, .. })
    ));
    assert_eq!(
        hot.apply(&mut [], 0),
        Err(MetricError::Zero { what: "classes" })
    );
    assert_eq!(hot.apply(&mut [], 2), Ok(()));
}

#[test]
fn files_hold_a_number_that_is_checked() {
    let text = serde_json::to_string(&Temperature::new(1.5).unwrap()).unwrap();
    assert_eq!(text, "1.5");
    assert_eq!(
        serde_json::from_str::<Temperature>("1.5").unwrap().value(),
        1.5
    );
    let error = serde_json::from_str::<Temperature>("-1").unwrap_err();
    assert!(error.to_string().contains("positive"), "{error}");
}
