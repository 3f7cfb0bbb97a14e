//! Pages that follow a run while it learns.

use super::{judged::asked, outside::window, *};
use crate::window::runner::{Plan, Runner};
use bayesadapter::{
    evaluate::ImageSet,
    session::{DeviceChoice, Interim, Scrub},
};
use std::time::Duration;

/// Test pictures, and those of them that are looked at.
const ALL: usize = 1352;
const SOME: usize = 256;

/// The number of a picture that is looked at.
fn number(at: usize) -> usize {
    at * ALL / SOME
}

/// What the run is worth after so many steps.
fn interim(step: usize) -> News {
    let behaviour = synthetic::Behaviour {
        draws: 20,
        spread: 2.0,
        sharpness: 1.8,
    };
    let mut evaluation = synthetic::evaluation("PSE", SOME, 128, &behaviour);
    let chosen: Vec<usize> = (0..SOME).map(number).collect();
    let others = (0..ALL).filter(|number| !chosen.contains(number));
    evaluation.passed_over = others.collect();
    let position = Position {
        step,
        ..Position::default()
    };
    News::Run(Event::Interim(Box::new(Interim {
        position,
        steps: 840,
        evaluation,
    })))
}

fn learning() -> [News; 3] {
    [began(Method::Pse), phase(Phase::Training), progress(14)]
}

fn tell(harness: &mut Harness<'_, Page>, news: &News) {
    harness.state_mut().panel.on_news(news);
    harness.run_steps(3);
}

/// How often the page asked what the run is worth.
fn looks(harness: &Harness<'_, Page>) -> usize {
    let look = |wish: &&Wish| matches!(wish, Wish::Tell(Command::JudgeNow));
    harness.state().wishes.iter().filter(look).count()
}

fn says<State>(harness: &Harness<'_, State>, words: &str) -> bool {
    harness.query_all_by_label_contains(words).next().is_some()
}

#[test]
fn three_pages_follow_a_run_and_end_with_its_result() {
    for name in ["Ensemble", "Uncertainty", "Calibration"] {
        let mut harness = page(name, &learning());
        assert!(says(&harness, "on its way"), "{name}");
        assert_eq!(looks(&harness), 1, "{name}");
        // While the answer is on its way, nothing more is asked.
        tell(&mut harness, &progress(28));
        assert_eq!(looks(&harness), 1, "{name}");
        tell(&mut harness, &interim(28));
        let words = "PSE at step 28 of 840: 256 of 1352 test images, 20 draws; the run goes on";
        assert!(says(&harness, words), "{name}");
        assert_eq!(looks(&harness), 2, "{name}");
        // Nothing was learnt since.
        tell(&mut harness, &interim(29));
        assert_eq!(looks(&harness), 2, "{name}");
        tell(&mut harness, &progress(42));
        assert_eq!(looks(&harness), 3, "{name}");
        picture(&mut harness, &format!("{}-live", name.to_lowercase()));
        tell(&mut harness, &phase(Phase::Paused));
        assert!(says(&harness, "the run is paused"), "{name}");
        tell(&mut harness, &phase(Phase::Evaluating));
        let result = synthetic::report().evaluations.remove(2);
        tell(&mut harness, &News::Run(Event::Evaluated(Box::new(result))));
        assert!(!says(&harness, "at step"), "{name}");
        assert!(says(&harness, "PSE"), "{name}");
    }
}

#[test]
fn what_was_seen_on_validation_images_says_so() {
    let mut look = interim(28);
    if let News::Run(Event::Interim(seen)) = &mut look {
        seen.evaluation.set = ImageSet::Validation;
    }
    let start = synthetic::report().evaluations.remove(0);
    let start = News::Run(Event::Evaluated(Box::new(start)));
    let harness = page("Ensemble", &[began(Method::Pse), start, look]);
    for words in [
        "256 of 1352 validation images",
        "PSE, validation images",
        "Validation accuracy, %",
        "MAP, the start, on test images",
    ] {
        assert!(says(&harness, words), "{words}");
    }
    assert!(!says(&harness, "Test accuracy"));
}

#[test]
fn a_run_that_was_stopped_is_shown_as_it_was_seen_last() {
    let mut harness = page("Ensemble", &learning());
    tell(&mut harness, &interim(28));
    let (method, ending) = (Method::Pse, Ok(bayesadapter::session::Ending::Stopped));
    tell(&mut harness, &News::Ended { method, ending });
    assert!(says(&harness, "the run has not come to its end"));
    let before = looks(&harness);
    tell(&mut harness, &News::Over(Ok(())));
    assert_eq!(looks(&harness), before);
}

#[test]
fn who_looks_at_a_file_does_not_hold_up_the_run() {
    for name in ["Ensemble", "Uncertainty", "Calibration"] {
        let mut harness = page(name, &[opened(), News::FileWanted]);
        for news in learning() {
            tell(&mut harness, &news);
        }
        assert_eq!(looks(&harness), 0, "{name}");
    }
}

#[test]
fn the_pictures_of_a_look_are_those_of_the_test_and_stay_while_they_are_seen() {
    let mut harness = page("Uncertainty", &learning());
    tell(&mut harness, &interim(28));
    let over = harness.get_by_label_contains("click a bar").rect();
    click(&mut harness, over.left_bottom() + Vec2::new(380.0, 180.0));
    let wanted = asked(&harness).unwrap();
    let News::Run(Event::Interim(seen)) = interim(28) else {
        panic!("no look");
    };
    let bucket = seen.evaluation.buckets[9].indices.iter();
    let numbers: Vec<usize> = bucket.map(|&at| number(at)).collect();
    assert_eq!((wanted.positions, wanted.there_were), (numbers, ALL));
    // The answer to a question from before comes now.
    tell(&mut harness, &interim(56));
    assert!(says(&harness, "at step 28 of 840"));
    assert!(says(&harness, "Pictures of bucket 10"));
    let before = looks(&harness);
    tell(&mut harness, &progress(70));
    assert_eq!(looks(&harness), before);
    harness.get_by_label("Follow the run").click();
    harness.run_steps(3);
    assert!(!says(&harness, "Pictures of bucket 10"));
    assert_eq!(looks(&harness), before + 1);
    tell(&mut harness, &interim(70));
    assert!(says(&harness, "at step 70 of 840"));
}

#[test]
fn what_is_counted_is_counted_again_when_the_run_is_seen_again() {
    let mut harness = page("Uncertainty", &learning());
    tell(&mut harness, &interim(28));
    assert!(says(&harness, "pictures kept"));
    assert!(!says(&harness, "100.00 % of them right"));
    let mut better = interim(42);
    if let News::Run(Event::Interim(seen)) = &mut better {
        let evaluation = &mut seen.evaluation;
        evaluation.labels.clone_from(&evaluation.examples.predicted);
    }
    tell(&mut harness, &better);
    assert!(says(&harness, "100.00 % of them right"));
}

#[test]
fn what_the_user_chose_stays_when_the_run_is_seen_again() {
    let start = synthetic::report().evaluations.remove(0);
    let mut news: Vec<News> = learning().into();
    news.push(News::Run(Event::Evaluated(Box::new(start))));
    let mut harness = page("Uncertainty", &news);
    assert!(says(&harness, "on its way"));
    tell(&mut harness, &interim(28));
    assert!(!says(&harness, "on its way"));
    // The network that learns is shown first; the one that it started from has no draws.
    assert!(says(&harness, "least sure by mutual information"));
    harness.get_by_role_and_label(Role::Button, "MAP").click();
    harness.run_steps(3);
    assert!(says(&harness, "least sure by entropy"));
    tell(&mut harness, &interim(42));
    assert!(says(&harness, "least sure by entropy"));
}

/// The draws that the page asked the run for.
fn draws(harness: &Harness<'_, Page>) -> Vec<Scrub> {
    let wishes = harness.state().wishes.iter();
    let draw = |wish: &Wish| match wish {
        Wish::Tell(Command::ShowDraw(scrub)) => Some(scrub.clone()),
        _ => None,
    };
    wishes.filter_map(draw).collect()
}

#[test]
fn the_slider_asks_the_run_and_its_draw_is_seen_to_change() {
    let news = [posterior::prepared(), phase(Phase::Training), progress(140)];
    let mut harness = page("Posterior", &news);
    let layer = News::Run(Event::Layer(Box::new(layer("conv1.weight"))));
    tell(&mut harness, &layer);
    harness.get_by_role(Role::Slider).focus();
    harness.run_steps(2);
    for _ in 0..3 {
        harness.key_press(egui::Key::ArrowRight);
        harness.run_steps(2);
    }
    let scrub = draws(&harness).pop().unwrap();
    let layer = "conv1.weight".to_owned();
    let draw = Some(2);
    assert_eq!(scrub, Scrub { draw, layer });
    let answer = |said: &str| Glimpse {
        picture: Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap(),
        truth: "3".to_owned(),
        said: said.to_owned(),
        probability: 0.42,
    };
    let drawn = |said| {
        News::Run(Event::Draw(Box::new(Scrubbed {
            kernels: super::layer(&scrub.layer).kernels,
            answers: vec![answer(said); 8],
            scrub: scrub.clone(),
        })))
    };
    tell(&mut harness, &drawn("5"));
    assert!(says(&harness, "Draw 2:"));
    assert!(says(&harness, "What draw 2 says of a few test pictures"));
    picture(&mut harness, "posterior-live-draw");
    // As the run goes on, the same draw is asked for again, and not before.
    let before = draws(&harness).len();
    harness.run_steps(60);
    assert_eq!(draws(&harness).len(), before);
    tell(&mut harness, &progress(154));
    assert_eq!(draws(&harness).len(), before + 1);
    assert_eq!(draws(&harness).pop(), Some(scrub.clone()));
    tell(&mut harness, &drawn("3"));
    // When it has learnt, nobody answers.
    tell(&mut harness, &phase(Phase::Evaluating));
    tell(&mut harness, &progress(168));
    assert_eq!(draws(&harness).len(), before + 1);
}

/// The demo, with fewer steps.
fn short_demo(folder: &std::path::Path) -> Vec<Plan> {
    let mut plans = Plan::demo(Method::Pse, folder);
    for (plan, epochs) in plans.iter_mut().zip([4, 12]) {
        plan.settings.device = DeviceChoice::Cpu;
        plan.settings.training.epochs = epochs;
    }
    plans
}

/// Draws frames until the window is as it should be.
fn wait(harness: &mut Harness<'_, Window>, is_so: impl Fn(&Harness<'_, Window>) -> bool) -> bool {
    (0..9_000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        harness.run_steps(1);
        is_so(harness)
    })
}

#[test]
fn the_demo_is_seen_on_every_page_while_it_learns() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = window();
    let state = harness.state_mut();
    let (computer, bell) = (state.computer.clone(), state.bell.clone());
    state.runner = Some(Runner::new(short_demo(folder.path()), computer, bell));
    state.tell(&News::Starting { anew: true });
    state.show_panel("Uncertainty");
    assert!(wait(&mut harness, |now| says(now, "PSE at step")));
    for name in ["Ensemble", "Calibration", "Uncertainty"] {
        harness.state_mut().show_panel(name);
        harness.run_steps(2);
        let seen = says(&harness, "256 of 270 validation images, 20 draws");
        assert!(seen, "{name}");
    }
    harness.state_mut().show_panel("Posterior");
    let words = "What the mean network says of";
    assert!(wait(&mut harness, |now| says(now, words)));
    // Then the result takes its place.
    harness.state_mut().show_panel("Uncertainty");
    assert!(wait(&mut harness, |now| !now.state().running()));
    assert!(wait(&mut harness, |now| !says(now, "at step")));
    assert!(harness.state().notices.is_empty());
}
