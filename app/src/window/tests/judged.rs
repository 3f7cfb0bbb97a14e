//! The pages that show what networks are worth.

use super::*;
use crate::{
    report::Format,
    window::album::{Album, Wanted},
};
use bayesadapter::evaluate::ImageSet;
use egui_kittest::kittest::NodeT;

#[test]
fn the_ensemble_is_told_while_it_is_judged() {
    let mut evaluations = synthetic::report().evaluations;
    let curve = evaluations.remove(2).curve.map(Box::new);
    let told = News::Run(Event::Evaluating {
        method: "PSE".to_owned(),
        done: 100,
        of: 1000,
        curve,
    });
    let harness = page("Ensemble", &[told]);
    assert!(
        harness
            .query_by_label_contains("of the test images so far")
            .is_some()
    );
}

#[test]
fn a_click_on_a_confidence_asks_for_its_pictures() {
    let mut harness = page("Calibration", &judged());
    let over = harness.query_all_by_label("ECE").next().unwrap().rect();
    click(&mut harness, over.left_bottom() + Vec2::new(290.0, 250.0));
    let asked = asked(&harness).unwrap();
    assert!(!asked.positions.is_empty());
    assert_eq!(asked.data, data());
    assert!(
        harness
            .query_by_label_contains("by rising confidence")
            .is_some()
    );
}

#[test]
fn evaluations_fill_three_pages() {
    let news = judged();
    for (name, label) in [
        ("Ensemble", "Test accuracy, %"),
        ("Uncertainty", "Reject the least sure by mutual information"),
        ("Calibration", "classwise"),
    ] {
        let mut harness = page(name, &news);
        assert!(harness.query_all_by_label(label).next().is_some(), "{name}");
        picture(&mut harness, &name.to_lowercase());
    }
}

#[test]
fn a_click_on_a_bucket_asks_for_its_pictures() {
    let mut harness = page("Uncertainty", &judged());
    let over = harness.get_by_label_contains("click a bar").rect();
    click(&mut harness, over.left_bottom() + Vec2::new(380.0, 180.0));
    let wanted = asked(&harness).unwrap();
    let bucket = synthetic::report().evaluations.remove(2).buckets.remove(9);
    let all = bucket.indices.len();
    assert_eq!(wanted.positions, bucket.indices[..200]);
    let one = Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap();
    let mut pictures = vec![Ok(one); 200];
    pictures[1] = Err("cat/17.png is no picture".to_owned());
    let pictures = Ok(pictures);
    let found = News::Pictures(Arc::new(Album { wanted, pictures }));
    harness.state_mut().panel.on_news(&found);
    harness.run_steps(3);
    let seen =
        |harness: &Harness<'_, Page>, label: &str| harness.query_by_label_contains(label).is_some();
    assert!(seen(&harness, "Pictures of bucket 10"));
    assert!(seen(&harness, &format!("1 to 200 of {all}")));
    picture(&mut harness, "bucket");
    // The others are on further pages, and the other way round the last come first.
    harness.get_by_label("Next").click();
    harness.run_steps(2);
    let rest = &bucket.indices[200..all.min(400)];
    assert_eq!(asked(&harness).unwrap().positions, rest);
    harness.get_by_label("the least sure first").click();
    harness.run_steps(2);
    let last = bucket.indices.iter().rev().take(200);
    assert!(asked(&harness).unwrap().positions.iter().eq(last));
    // What was asked for before is not taken for it.
    harness.state_mut().panel.on_news(&found);
    harness.run_steps(2);
    assert!(seen(&harness, "are being fetched"));
}

#[test]
fn pictures_that_were_passed_over_are_counted() {
    let mut news = judged();
    for one in &mut news {
        if let News::Run(Event::Evaluated(evaluation)) = one {
            evaluation.passed_over = vec![0];
        }
    }
    let mut harness = page("Uncertainty", &news);
    let over = harness.get_by_label_contains("click a bar").rect();
    click(&mut harness, over.left_bottom() + Vec2::new(380.0, 180.0));
    let wanted = asked(&harness).unwrap();
    let evaluation = synthetic::report().evaluations.remove(2);
    let numbers = evaluation.buckets[9].indices.iter().map(|at| at + 1);
    assert!(wanted.positions.into_iter().eq(numbers.take(200)));
    assert_eq!(wanted.there_were, evaluation.labels.len() + 1);
}

/// The pictures that the page asked for last.
pub fn asked(harness: &Harness<'_, Page>) -> Option<Wanted> {
    let wishes = harness.state().wishes.iter().rev();
    wishes.clone().find_map(|wish| match wish {
        Wish::Pictures(wanted) => Some(wanted.clone()),
        _ => None,
    })
}

#[test]
fn rejecting_the_least_sure_leaves_the_numbers_of_the_others() {
    let mut harness = page("Uncertainty", &judged());
    let evaluation = synthetic::report().evaluations.remove(2);
    let mut sorted: Vec<usize> = (0..evaluation.labels.len()).collect();
    let uncertainty = evaluation.examples.uncertainty(evaluation.ranked_by);
    sorted.sort_by(|&a, &b| uncertainty[a].total_cmp(&uncertainty[b]));
    harness.get_by_role(Role::Slider).focus();
    harness.run_steps(2);
    let mut before = sorted.len() + 1;
    for _ in 0..3 {
        let label = harness.get_by_label_contains("pictures kept");
        let text = label.accesskit_node().value().unwrap();
        let kept: usize = text.split(' ').next().unwrap().parse().unwrap();
        assert!(kept < before, "{kept} after {before}");
        before = kept;
        let is_right = |&&at: &&usize| evaluation.examples.predicted[at] == evaluation.labels[at];
        let right = sorted[..kept].iter().filter(is_right).count();
        let percent = format!(
            ", {:.2} % of them right",
            100.0 * right as f64 / kept as f64
        );
        assert!(text.contains(&percent), "{text}, and not {percent}");
        for _ in 0..10 {
            harness.key_press(egui::Key::ArrowRight);
            harness.run_steps(1);
        }
        harness.run_steps(2);
    }
    assert!(before < sorted.len());
}

#[test]
fn the_curve_of_what_is_kept_is_in_the_order_of_rejection() {
    let mut harness = page("Uncertainty", &judged());
    let (menu, name) = ("Save Error among what is kept", "error-among-what-is-kept");
    let csv = take_away::saved(&mut harness, menu, Format::Csv, name);
    let csv = String::from_utf8(csv).unwrap();
    for evaluation in &synthetic::report().evaluations {
        let uncertainty = evaluation.examples.uncertainty(evaluation.ranked_by);
        let mut sorted: Vec<usize> = (0..evaluation.labels.len()).collect();
        sorted.sort_by(|&a, &b| uncertainty[a].total_cmp(&uncertainty[b]));
        let is_wrong = |&&at: &&usize| evaluation.examples.predicted[at] != evaluation.labels[at];
        let start = format!("{},", evaluation.method);
        let rows: Vec<&str> = csv
            .lines()
            .filter_map(|row| row.strip_prefix(&start))
            .collect();
        assert!(
            rows.len() > 100,
            "{}: {} rows",
            evaluation.method,
            rows.len()
        );
        for row in rows {
            let (share, error) = row.split_once(',').unwrap();
            let [share, error] = [share, error].map(|number| number.parse::<f64>().unwrap());
            let kept = (share / 100.0 * sorted.len() as f64).round() as usize;
            let wrong = sorted[..kept].iter().filter(is_wrong).count();
            let expected = 100.0 * wrong as f64 / kept as f64;
            assert!((error - expected).abs() < 1e-9, "{error} and {expected}");
        }
    }
}

#[test]
fn uncertainty_is_that_of_the_images_that_were_evaluated() {
    let mut news = judged();
    for one in &mut news {
        if let News::Run(Event::Evaluated(evaluation)) = one {
            evaluation.set = ImageSet::Validation;
        }
    }
    let mut harness = page("Uncertainty", &news);
    let menu = "Save Share of pictures by mutual information";
    let name = "share-of-pictures-by-mutual-information";
    let csv = take_away::saved(&mut harness, menu, Format::Csv, name);
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains("\nvalidation images,") && csv.contains("\nSVHN,"));
    assert!(!csv.contains("test images"));
}

#[test]
fn a_run_and_a_file_are_not_mixed() {
    let of_run = synthetic::report().evaluations;
    let opened = opened();
    let News::Opened(view) = &opened else {
        panic!("nothing is open");
    };
    let mut file = (**view).clone();
    file.path = PathBuf::from("elsewhere/other/posterior.safetensors");
    file.evaluations.truncate(2);
    file.evaluations[0].scores.accuracy = 0.25;
    file.data = Some(TestData {
        path: "digits".to_owned(),
        split: Some(("none".to_owned(), 1)),
        set: Default::default(),
    });
    let mut news = vec![News::Opened(Arc::new(file)), began(Method::Pse)];
    let told = |at: usize| News::Run(Event::Evaluated(Box::new(of_run[at].clone())));
    news.extend([told(0), told(2)]);
    let mut harness = page("Ensemble", &news);
    let networks = |harness: &Harness<'_, Page>| {
        let of = |name: &str| harness.query_all_by_label(name).count();
        ["MAP", "MFG", "PSE"].map(of)
    };
    // The run comes first, and has no MFG.
    assert_eq!(networks(&harness), [1, 0, 1]);
    assert!(harness.query_by_label("25.00").is_none());
    harness.get_by_label_contains("The file other").click();
    harness.run_steps(3);
    assert_eq!(networks(&harness), [1, 1, 0]);
    assert!(harness.query_by_label("25.00").is_some());
    // More of the run changes nothing of the file.
    harness.state_mut().panel.on_news(&told(1));
    harness.run_steps(3);
    assert_eq!(networks(&harness), [1, 1, 0]);
    harness.get_by_label_contains("The run runs").click();
    harness.run_steps(3);
    assert_eq!(networks(&harness), [1, 1, 1]);

    let mut harness = page("Uncertainty", &news);
    harness.state_mut().panel.on_news(&News::FileWanted);
    harness.run_steps(3);
    let over = harness.get_by_label_contains("click a bar").rect();
    click(&mut harness, over.left_bottom() + Vec2::new(380.0, 180.0));
    assert_eq!(asked(&harness).unwrap().data.path, "digits");
}
