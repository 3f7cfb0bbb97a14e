//! Bins by hand.

use super::*;
use crate::metrics::MAX_PARTS;

fn counts(bins: &[ReliabilityBin]) -> Vec<usize> {
    bins.iter().map(|bin| bin.count).collect()
}

#[test]
fn confidence_one_is_in_the_last_bin_and_zero_in_the_first() {
    for bins in [1, 2, 10, ECE_BINS, 1000] {
        let found = reliability_bins(&[0.0, -0.0, 1.0], &[false, false, true], bins).unwrap();
        assert_eq!(found.len(), bins);
        assert_eq!(found.iter().map(|bin| bin.count).sum::<usize>(), 3);
        assert!(found[0].count >= 2 && found[bins - 1].count >= 1);
        assert_eq!((found[0].lower, found[bins - 1].upper), (0.0, 1.0));
    }
}

#[test]
fn every_edge_belongs_to_the_bin_below() {
    for bins in 1..=40usize {
        let edges = upper_edges(bins);
        for (bin, &edge) in edges.iter().enumerate() {
            assert_eq!(bin_of(edge, &edges), bin, "{edge} of {bins} bins");
            if bin + 1 < bins {
                assert_eq!(bin_of(edge.next_up(), &edges), bin + 1);
            }
        }
    }
    // 0.2 is not a binary fraction, neither in f32 nor in f64, and still the edge between two bins.
    assert_eq!(bin_of(0.2, &upper_edges(15)), 2);
}

#[test]
fn empty_bins_have_no_mean() {
    let bins = reliability_bins(&[0.9, 0.8], &[true, false], 2).unwrap();
    assert_eq!(counts(&bins), [0, 2]);
    assert_eq!((bins[0].mean_confidence, bins[0].accuracy), (None, None));
    assert_eq!(bins[1].accuracy, Some(0.5));
    assert!((bins[1].mean_confidence.unwrap() - 0.85).abs() < 1e-7);
}

#[test]
fn error_by_hand() {
    // Bins of width 1/2: (0, .5] holds .5 (wrong); (.5, 1] holds .75 (right) and 1 (wrong).
    let probabilities = [0.5, 0.5, 0.75, 0.25, 1.0, 0.0];
    let predictions = Predictions::new(&probabilities, 2, &[1, 0, 1]).unwrap();
    let expected = (0.5 + (1.0f64 - 1.75).abs()) / 3.0;
    assert!((ece(&predictions, 2).unwrap() - expected).abs() < 1e-12);
    // One bin: |1 - 2.25| / 3.
    assert!((ece(&predictions, 1).unwrap() - 1.25 / 3.0).abs() < 1e-12);
}

#[test]
fn classwise_error_by_hand() {
    // Class 0: .75 (true) and .25 (not); class 1: .25 (not) and .75 (true). Every gap is .25.
    let predictions = Predictions::new(&[0.75, 0.25, 0.25, 0.75], 2, &[0, 1]).unwrap();
    assert_eq!(classwise_ece(&predictions, 2).unwrap(), 0.25);
    // One bin: the mean forecast of each class is right.
    assert_eq!(classwise_ece(&predictions, 1).unwrap(), 0.0);
    // Certain and right; the third class never occurs and is never expected.
    let certain = Predictions::new(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0], 3, &[0, 1]).unwrap();
    assert_eq!(classwise_ece(&certain, ECE_BINS).unwrap(), 0.0);
}

#[test]
fn adaptive_bins_have_equal_mass() {
    let confidences = [0.9, 0.5, 0.7, 0.6, 0.8];
    let correct = [true, false, true, true, false];
    let bins = adaptive_reliability_bins(&confidences, &correct, 2).unwrap();
    assert_eq!(counts(&bins), [3, 2]);
    assert_eq!((bins[0].lower, bins[0].upper), (0.5, f64::from(0.7f32)));
    assert_eq!(bins[0].accuracy, Some(2.0 / 3.0));
    assert_eq!(bins[1].accuracy, Some(0.5));
    let own = adaptive_reliability_bins(&confidences, &correct, 100).unwrap();
    assert_eq!(counts(&own), [1; 5]);
}

#[test]
fn adaptive_bins_do_not_depend_on_the_order_of_ties() {
    let saturated = [1.0f32; 4];
    let right_first = [true, true, false, false];
    let mixed = [true, false, false, true];
    let bins = adaptive_reliability_bins(&saturated, &right_first, 2).unwrap();
    assert_eq!(
        bins,
        adaptive_reliability_bins(&saturated, &mixed, 2).unwrap()
    );
    assert!(bins.iter().all(|bin| bin.accuracy == Some(0.5)));
    let probabilities = [1.0, 0.0].repeat(4);
    let predictions = Predictions::new(&probabilities, 2, &[0, 0, 1, 1]).unwrap();
    assert_eq!(adaptive_ece(&predictions, 2).unwrap(), 0.5);
}

#[test]
fn what_cannot_be_binned_is_refused() {
    let predictions = Predictions::new(&[1.0], 1, &[0]).unwrap();
    let no_bins = MetricError::Zero { what: "bins" };
    assert_eq!(ece(&predictions, 0), Err(no_bins.clone()));
    assert_eq!(adaptive_ece(&predictions, 0), Err(no_bins.clone()));
    assert_eq!(classwise_ece(&predictions, 0), Err(no_bins.clone()));
    assert_eq!(reliability_bins(&[0.5], &[true], 0), Err(no_bins));
    for found in [MAX_PARTS + 1, usize::MAX] {
        let too_many = MetricError::TooMany {
            what: "bins",
            found,
            limit: MAX_PARTS,
        };
        assert_eq!(ece(&predictions, found), Err(too_many.clone()));
        assert_eq!(adaptive_ece(&predictions, found), Err(too_many.clone()));
        assert_eq!(classwise_ece(&predictions, found), Err(too_many.clone()));
        assert_eq!(reliability_bins(&[0.5], &[true], found), Err(too_many));
    }
    assert_eq!(classwise_ece(&predictions, MAX_PARTS), Ok(0.0));
    let empty = reliability_bins(&[], &[], 5).unwrap_err();
    assert!(matches!(empty, MetricError::Empty { .. }));
    let short = reliability_bins(&[0.5, 0.5], &[true], 5).unwrap_err();
    assert!(matches!(
        short,
        MetricError::Length {
            what: "correct",
            ..
        }
    ));
    let nan = adaptive_reliability_bins(&[0.5, f32::NAN], &[true, true], 5).unwrap_err();
    assert!(matches!(nan, MetricError::Score { position: 1, .. }));
}
