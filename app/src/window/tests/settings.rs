//! Single settings of a run, changed on the page where it is set up.

use super::{
    setup::{saved, settings},
    *,
};
use crate::window::sort::Found;
use bayesadapter::{data::Augmentation, session::RunSettings};

/// The page with settings of which nothing was looked at yet, and all that it hides at first.
fn set_up(settings: &RunSettings) -> Harness<'static, Page> {
    let found = Found::Settings(Box::new(settings.clone()));
    let mut harness = page("Set up", &[News::Sorted(found)]);
    harness.get_by_label("More settings").click_accesskit();
    harness.run_steps(20);
    harness
}

/// Presses what has a name, wherever it is on the page.
fn press(harness: &mut Harness<'_, Page>, name: &str) {
    harness.get_by_label(name).click_accesskit();
    harness.run_steps(3);
}

/// Nothing but a square of this side.
fn cutout(side: usize) -> Option<Augmentation> {
    Some(Augmentation {
        cutout: side,
        ..Augmentation::default()
    })
}

#[test]
fn numbers_of_splits_augmentation_ood_images_and_prediction_sets_are_set() {
    let mut settings = settings();
    settings.posterior.method = Method::Mfg;
    settings.data.ood_train = vec!["noise".to_owned()];
    settings.data.augmentation = Some(Augmentation::default());
    let mut harness = set_up(&settings);
    assert!(harness.query_by_label("a quarter of the batch").is_some());
    press(&mut harness, "Natural gradient");
    for (name, value) in [
        ("Split seed", 7.0),
        ("CutOut size", 3.0),
        ("OOD batch", 20.0),
        ("Coverage of prediction sets", 0.8),
    ] {
        harness.get_by_label(name).set_value_accesskit(value);
        harness.run_steps(3);
    }
    picture(&mut harness, "set-up-ood");
    settings.data.split_seed = Some(7);
    settings.data.augmentation = cutout(3);
    settings.training.ood_batch = Some(20);
    settings.training.rates.natural_gradient = false;
    settings.evaluation.coverage = 0.8;
    assert_eq!(saved(&mut harness), settings);
    // Without the square, and with as many OOD images as before.
    press(&mut harness, "cutout");
    press(&mut harness, "A quarter of the batch");
    settings.data.augmentation = cutout(0);
    settings.training.ood_batch = None;
    assert_eq!(saved(&mut harness), settings);
    // The box ticks half the side of the digits.
    press(&mut harness, "cutout");
    assert_eq!(saved(&mut harness).data.augmentation, cutout(4));
}

#[test]
fn settings_are_shown_where_they_have_a_meaning() {
    for (method, ood, expected) in [
        (Method::Mfg, true, [true, true]),
        (Method::Pse, true, [false, true]),
        (Method::Pse, false, [false, false]),
        (Method::Map, false, [false, false]),
    ] {
        let mut settings = settings();
        settings.posterior.method = method;
        let ood_train = &mut settings.data.ood_train;
        ood_train.extend(ood.then(|| "noise".to_owned()));
        let harness = set_up(&settings);
        let is_shown = |name: &str| harness.query_all_by_label(name).next().is_some();
        let found = ["Natural gradient", "OOD batch"].map(is_shown);
        assert_eq!(found, expected, "{method}");
    }
}

#[test]
fn augmentation_is_what_suits_the_images_until_it_is_chosen() {
    let mut harness = setup::set_up(&settings());
    let shown = |harness: &Harness<'_, Page>| harness.query_by_label("CutOut size").is_some();
    assert!(!shown(&harness));
    press(&mut harness, "what suits the images");
    assert!(shown(&harness));
    // Of 8 x 8 pixels none is moved.
    let chosen = saved(&mut harness).data.augmentation;
    assert_eq!(chosen, Some(Augmentation::default()));
    press(&mut harness, "what suits the images");
    assert!(!shown(&harness));
    assert_eq!(saved(&mut harness).data.augmentation, None);
}
