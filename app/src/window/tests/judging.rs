//! Judging a posterior file: as it goes on, again on other data, and until it is stopped.

use super::{files, outside::reads, outside::window, *};
use crate::window::{
    judging::{Case, Judgement, judge},
    platform::Computer,
    purpose::Purpose,
};
use bayesadapter::{
    evaluate::Evaluation,
    file::Header,
    models::Architecture,
    posterior::{IntoBayes, MeanField, Point},
    session::{self, RunSettings},
};
use burn::tensor::{Device, read_sync};
use std::path::Path;

/// A file that lies in no run, so that nobody judged it.
fn alone() -> View {
    let News::Opened(view) = opened() else {
        panic!("nothing is open");
    };
    View {
        evaluations: Vec::new(),
        ..(*view).clone()
    }
}

/// The network that a posterior started from, and the posterior.
fn start_and_posterior() -> [Evaluation; 2] {
    let mut all = synthetic::report().evaluations;
    all.remove(1);
    all.try_into().unwrap()
}

/// So many of 1000 pictures are done.
fn evaluating(of: &Evaluation, done: usize) -> News {
    News::JudgeSays(Event::Evaluating {
        method: of.method.clone(),
        done,
        of: 1000,
        curve: of.curve.clone().map(Box::new),
    })
}

#[test]
fn a_posterior_that_nobody_judged_can_be() {
    let view = alone();
    let path = view.path.clone();
    let opened = News::Opened(Arc::new(view));
    let [start, posterior] = start_and_posterior();
    for name in ["Ensemble", "Uncertainty", "Calibration"] {
        let mut harness = page(name, std::slice::from_ref(&opened));
        harness.get_by_label("Judge it on its own data").click();
        harness.run_steps(2);
        let asked = |wish: &Wish| matches!(wish, Wish::Judge(case) if *case == Case::of(&path));
        assert!(harness.state().wishes.iter().any(asked), "{name}");
        for news in [
            News::Judging(path.clone()),
            evaluating(&start, 250),
            News::JudgeSays(Event::Evaluated(Box::new(start.clone()))),
            evaluating(&posterior, 400),
        ] {
            harness.state_mut().panel.on_news(&news);
        }
        harness.run_steps(2);
        assert!(harness.query_by_label_contains("Judging PSE of").is_some());
        assert!(harness.query_by_label("Judge it on its own data").is_none());
        harness.get_by_label("Stop").click();
        harness.run_steps(2);
        let stops = |wish: &Wish| matches!(wish, Wish::StopJudging);
        assert!(harness.state().wishes.iter().any(stops), "{name}");
        let judged = News::Judged(Box::new(Judgement {
            case: Case::of(&path),
            data: data(),
            evaluations: vec![start.clone(), posterior.clone()],
        }));
        for news in [News::JudgingOver, judged] {
            harness.state_mut().panel.on_news(&news);
        }
        harness.run_steps(2);
        for method in ["MAP", "PSE"] {
            let seen = harness.query_all_by_label(method).next().is_some();
            assert!(seen, "{name}: {method}");
        }
        assert!(harness.query_by_label("Stop").is_none());
    }
}

#[test]
fn the_curve_of_a_file_grows_beside_the_network_that_it_started_from() {
    let view = alone();
    let [start, posterior] = start_and_posterior();
    let news = [
        News::Opened(Arc::new(view.clone())),
        News::Judging(view.path),
        News::JudgeSays(Event::Evaluated(Box::new(start))),
        evaluating(&posterior, 400),
    ];
    let mut harness = page("Ensemble", &news);
    assert!(harness.query_by_label_contains("so far").is_some());
    assert!(harness.query_by_label("MAP, the start").is_some());
    picture(&mut harness, "judging");
    harness.state_mut().panel.on_news(&News::JudgingOver);
    harness.run_steps(2);
    // It was stopped: there is nothing to show, and the user may begin again.
    assert!(harness.query_by_label("Judge it on its own data").is_some());
}

/// What a way of the menu asks for.
fn again(harness: &mut Harness<'_, Page>, way: &str) -> Wish {
    harness.get_by_label("Judge again…").click();
    harness.run_steps(3);
    harness.get_by_label(way).click();
    harness.run_steps(3);
    harness.state_mut().wishes.pop().unwrap()
}

#[test]
fn a_judged_file_can_be_judged_on_other_pictures() {
    let mut harness = page("Uncertainty", &[opened()]);
    let strangers = "with pictures of another kind…";
    let Wish::Choose(Purpose::JudgeOn(mut case)) = again(&mut harness, "on other data…") else {
        panic!("no data were asked for");
    };
    assert_eq!(case, Case::of(&case.file));
    let asked = again(&mut harness, strangers);
    assert!(matches!(asked, Wish::Choose(Purpose::JudgeWith(same)) if same == case));
    // What it was judged on stays when something else is chosen too.
    case.data = Some(PathBuf::from("others"));
    let judged = News::Judged(Box::new(Judgement {
        case: case.clone(),
        data: data(),
        evaluations: start_and_posterior().to_vec(),
    }));
    harness.state_mut().panel.on_news(&judged);
    harness.run_steps(2);
    let asked = again(&mut harness, strangers);
    assert!(matches!(asked, Wish::Choose(Purpose::JudgeWith(same)) if same == case));
    let asked = again(&mut harness, "on its own data");
    assert!(matches!(asked, Wish::Judge(own) if own == Case::of(&case.file)));
}

/// A posterior of few digits, and the weights that it started from; both untrained.
fn with_start(folder: &Path) -> PathBuf {
    let architecture: Architecture = "digits-cnn".parse().unwrap();
    let network = architecture.init(&Device::flex()).unwrap();
    let start = network.into_bayes(Point::train(10)).unwrap();
    let start = start.to_file(&Header::of(architecture)).unwrap();
    let start = files::write(folder, "start.safetensors", &start);
    let mut settings = files::settings();
    settings.model.weights = Some(start.display().to_string());
    let run = files::table(&settings);
    files::write(folder, "alone.safetensors", &files::posterior_of(run))
}

/// Pictures of another kind, a folder for each of two classes.
fn strangers(folder: &Path) -> PathBuf {
    for class in ["cat", "dog"] {
        for number in 0..3 {
            let name = format!("pets/{class}/{number}.png");
            files::write(folder, &name, &files::image(8, 8));
        }
    }
    folder.join("pets")
}

#[test]
fn a_file_is_judged_beside_its_start_and_with_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let path = with_start(folder.path());
    let (computer, (control, port)) = (Computer::default(), session::connect());
    let case = Case {
        strangers: Some(strangers(folder.path())),
        ..Case::of(&path)
    };
    let judged = read_sync(judge(&case, &computer, &port)).unwrap().unwrap();
    let methods = judged.evaluations.iter().map(|one| one.method.as_str());
    assert_eq!(methods.collect::<Vec<_>>(), ["MAP", "PSE"]);
    for evaluation in &judged.evaluations {
        let others = evaluation.out_of_distribution.as_ref().unwrap();
        assert_eq!((others.name.as_str(), others.examples.len()), ("pets", 6));
    }
    let told = |event: &Event| match event {
        Event::Evaluating { done, of, .. } => Some((*done, *of)),
        _ => None,
    };
    let events = control.events();
    let told: Vec<(usize, usize)> = events.iter().filter_map(told).collect();
    assert!(told.len() > 2 && told.last().is_some_and(|(done, of)| done == of));
    // Without the start there is nothing to compare with, and the file is judged all the same.
    std::fs::remove_file(folder.path().join("start.safetensors")).unwrap();
    let alone = read_sync(judge(&case, &computer, &port)).unwrap().unwrap();
    assert_eq!(alone.evaluations, judged.evaluations[1..]);
}

#[test]
fn other_data_are_judged_without_strangers_that_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let settings = RunSettings {
        data: session::DataSettings {
            out_of_distribution: Some("no/such/pictures".to_owned()),
            ..files::settings().data
        },
        ..files::settings()
    };
    let file = files::posterior_of(files::table(&settings));
    let path = files::write(folder.path(), "alone.safetensors", &file);
    let (computer, (_, port)) = (Computer::default(), session::connect());
    let case = Case::of(&path);
    let refused = read_sync(judge(&case, &computer, &port));
    let refused = format!("{:#}", refused.err().unwrap());
    assert!(refused.contains("no/such/pictures"), "{refused}");
    // A name that comes with the program stands for other data here.
    let data = Some(PathBuf::from("digits"));
    let judged = read_sync(judge(&Case { data, ..case }, &computer, &port));
    let judged = judged.unwrap().unwrap();
    assert_eq!(judged.data.path, "digits");
    assert!(judged.evaluations[0].out_of_distribution.is_none());
}

#[test]
fn of_its_own_data_only_what_was_set_aside_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("pictures");
    for class in 0..10 {
        for number in 0..20 {
            let name = format!("{class}/{number}.png");
            files::write(&pictures, &name, &files::image(8, 8));
        }
    }
    let mut settings = files::settings();
    settings.data.path = pictures.display().to_string();
    let file = files::posterior_of(files::table(&settings));
    let path = files::write(folder.path(), "alone.safetensors", &file);
    let (computer, (_, port)) = (Computer::default(), session::connect());
    let case = Case {
        // The same folder, written in another way.
        data: Some(pictures.join("0").join("..")),
        ..Case::of(&path)
    };
    let judged = read_sync(judge(&case, &computer, &port)).unwrap().unwrap();
    assert_eq!(judged.data, TestData::of(&settings));
    // A tenth of each class.
    assert_eq!(judged.evaluations[0].scores.examples, 20);
}

#[test]
fn a_picture_that_cannot_be_judged_is_told() {
    let mut harness = window();
    let message = "cat/17.png cannot be read and was passed over".to_owned();
    let warning = News::JudgeSays(Event::Warning { message });
    harness.state_mut().tell(&warning);
    harness.run_steps(2);
    assert!(harness.query_by_label_contains("cat/17.png").is_some());
}

#[test]
fn a_judging_is_followed_and_stopped_in_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = files::settings();
    // Long enough to be stopped, in short steps: a Gaussian has no end of draws.
    settings.evaluation.draws = 300;
    settings.evaluation.batch = 16;
    let file = files::file_of(MeanField::fine_tune(10), files::table(&settings));
    let path = files::write(folder.path(), "alone.safetensors", &file);
    let mut harness = window();
    harness.state_mut().fulfil(Wish::Open(path));
    assert!(reads(&mut harness, "MFG posterior of digits-cnn"));
    harness.state_mut().show_panel("Ensemble");
    harness.run_steps(2);
    harness.get_by_label("Judge it on its own data").click();
    assert!(reads(&mut harness, "alone.safetensors"));
    harness.get_by_label("Stop").click();
    assert!(reads(&mut harness, "Judge it on its own data"));
    assert!(harness.state().judging.is_none());
    assert!(harness.state().notices.is_empty());
}
