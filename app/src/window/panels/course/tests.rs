//! Long runs, runs that are set back, and averages.

use super::*;
use bayesadapter::train::{Position, Rates};

fn row(step: usize) -> HistoryRow {
    HistoryRow {
        step,
        epoch: step as f64 / 50.0,
        likelihood_loss: 1.0 / step as f64,
        matrix_complexity_loss: 0.1,
        complexity_loss: 0.1,
        accuracy: 0.9,
        lr: 1e-3,
        variational_lr: 0.0,
        ood_mutual_information: None,
        validation: None,
        seconds: step as f64 / 4.0,
    }
}

fn progress(step: usize) -> Progress {
    Progress {
        position: Position {
            step,
            ..Position::default()
        },
        steps: 50_000,
        epochs: 1000,
        likelihood_loss: 1.0,
        complexity_loss: 0.1,
        accuracy: 0.9,
        rates: Rates {
            lr: 1e-3,
            variational_lr: 0.1,
        },
        examples_per_second: 128.0,
        seconds_left: 1.0,
    }
}

fn steps(course: &Course) -> Vec<f64> {
    course.points.iter().map(|point| point.step).collect()
}

fn largest_gap(steps: &[f64]) -> f64 {
    let gaps = steps.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.fold(0.0, f64::max)
}

#[test]
fn a_run_that_is_set_back_is_drawn_anew_and_as_evenly_as_before() {
    let mut course = Course::new(Method::Pse, Path::new("runs/long"));
    (1..=5_000).for_each(|step| course.add(&progress(step)));
    course.add(&progress(3_000));
    let before = steps(&course);
    assert!(before.is_sorted() && before[before.len() - 1] == 3_000.0);
    // Every step is told twice.
    for step in 3_000..=20_000 {
        course.add(&progress(step));
        course.add(&progress(step));
    }
    let steps = steps(&course);
    let count = steps.len();
    assert!((MOST_POINTS / 2..=MOST_POINTS).contains(&count), "{count}");
    assert!(steps.is_sorted_by(|before, after| before < after));
    assert_eq!((steps[0], steps[count - 1]), (1.0, 20_000.0));
    assert!(largest_gap(&steps) < 3.0 * 20_000.0 / count as f64);
}

#[test]
fn a_long_history_becomes_few_points_from_first_to_last() {
    let view = View {
        history: (1..=50_000).map(row).collect(),
        pictures_per_step: Some(32),
        ..View::default()
    };
    let course = Course::of_history(&view, Path::new("runs/long"));
    let steps = steps(&course);
    let count = steps.len();
    assert!((MOST_POINTS / 2..=MOST_POINTS).contains(&count), "{count}");
    assert!(steps.is_sorted());
    assert_eq!((steps[0], steps[count - 1]), (1.0, 50_000.0));
    assert!(largest_gap(&steps) < 3.0 * 50_000.0 / count as f64);
    // Four steps of 32 pictures in a second.
    assert!(
        course
            .points
            .iter()
            .all(|at| at.pictures_per_second == 128.0)
    );
    let spread: Curve = ("variational lr", BLUE, |at| at.variational_lr.log10());
    let drawing = course.drawing("Rates", "", &[spread]);
    assert!(drawing.series[0].points.is_empty());
}

#[test]
fn a_smoothed_curve_starts_at_the_first_value_and_follows() {
    let raw = (0..100).map(|step| [f64::from(step), if step == 0 { 4.0 } else { 1.0 }]);
    let smooth: Vec<[f64; 2]> = smoothed(raw).collect();
    assert_eq!(smooth[0], [0.0, 4.0]);
    assert_eq!(smooth[1], [1.0, 2.5]);
    assert!(smooth.is_sorted_by(|before, after| before[1] >= after[1]));
    assert!(smooth[99][1] < 1.01);
}
