//! Comparing networks.

use super::{data, files, opened, outside::window, page, picture, synthetic};
use crate::window::{
    compare::{Compared, Comparison, read},
    errand::{Content, Errand, Parcel},
    judging::{Case, Judgement},
    news::{News, Wish},
    platform::Computer,
    purpose::Purpose,
    worker::View,
};
use bayesadapter::{
    evaluate::Evaluation,
    session::{RunFolder, RunSettings},
};
use burn::tensor::read_sync;
use egui_kittest::kittest::Queryable;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

fn run(name: &str, evaluations: &[Evaluation]) -> Compared {
    Compared {
        path: PathBuf::from("runs").join(name),
        name: name.to_owned(),
        evaluations: evaluations.to_vec(),
    }
}

pub fn compared() -> News {
    let all = synthetic::report().evaluations;
    let pse = [all[0].clone(), all[2].clone()];
    News::Compared(Comparison {
        runs: vec![run("resnet20-mfg", &all[..2]), run("resnet20-pse", &pse)],
        left_out: None,
    })
}

/// A folder of a run that was judged, if there is something to say of it.
fn run_folder(path: &Path, evaluation: Option<&[u8]>) {
    drop(RunFolder::create(path, &RunSettings::default(), "a test").unwrap());
    if let Some(evaluation) = evaluation {
        files::write(path, "evaluations/pse.json", evaluation);
    }
}

#[test]
fn runs_that_cannot_be_compared_do_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path();
    run_folder(&runs.join("stopped"), None);
    run_folder(&runs.join("damaged"), Some(b"{ damaged"));
    let found = |path: &Path| read_sync(read(path, &Computer::default()));
    let refused = format!("{:#}", found(runs).err().unwrap());
    for reason in ["no run", "stopped: nothing was judged", "pse.json"] {
        assert!(refused.contains(reason), "{refused}");
    }
    let evaluation = synthetic::report().evaluations.remove(2);
    let judged = serde_json::to_vec(&evaluation).unwrap();
    run_folder(&runs.join("good"), Some(&judged));
    let some = found(runs).unwrap();
    let names: Vec<&str> = some.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["good"]);
    assert_eq!(some.runs[0].evaluations[0].labels, evaluation.labels);
    // The user sees them, and reads why the others are not there.
    let mut harness = window();
    harness.state_mut().show_panel("Compare");
    harness.state_mut().tell(&News::Compared(some));
    harness.run_steps(3);
    assert!(harness.query_by_label("Remove good PSE").is_some());
    for reason in ["stopped: nothing was judged", "pse.json"] {
        let told = harness.query_by_label_contains(reason);
        assert!(told.is_some(), "{reason}");
    }
    let alone = found(&runs.join("good")).unwrap();
    assert_eq!((alone.runs.len(), alone.left_out), (1, None));
}

#[test]
fn networks_stand_in_one_table() {
    let mut harness = page("Compare", &[compared()]);
    picture(&mut harness, "compare");
    for name in ["resnet20-mfg MAP", "resnet20-mfg MFG", "resnet20-pse PSE"] {
        assert!(harness.query_all_by_label(name).next().is_some(), "{name}");
    }
    // The network that both started from stands there once.
    let twice = "Remove resnet20-pse MAP";
    assert!(harness.query_by_label(twice).is_none());
    let remove = "Remove resnet20-mfg MAP";
    harness.get_by_label(remove).click();
    harness.run_steps(3);
    assert!(harness.query_by_label(remove).is_none());
    // A run that is added again takes the place of what was there.
    harness.state_mut().panel.on_news(&compared());
    harness.run_steps(3);
    assert!(harness.query_by_label("Remove resnet20-pse PSE").is_some());
    assert!(harness.query_by_label(remove).is_some());
}

#[test]
fn what_is_open_stands_there_by_itself() {
    let mut harness = page("Compare", &[opened()]);
    for name in ["pse MAP", "pse MFG", "pse PSE"] {
        assert!(harness.query_all_by_label(name).next().is_some(), "{name}");
    }
    // The same networks, added by the user: under the name of their run, and once.
    harness.state_mut().panel.on_news(&compared());
    harness.run_steps(3);
    assert!(harness.query_by_label("Remove resnet20-pse PSE").is_some());
    assert!(harness.query_by_label_contains("Remove pse").is_none());
    // Another file takes the place of the one that was open, and of nothing that was added.
    let News::Opened(view) = opened() else {
        panic!("nothing is open");
    };
    let mut other = (*view).clone();
    other.path = PathBuf::from("runs/other/posterior.safetensors");
    other.evaluations.truncate(1);
    other.evaluations[0].scores.accuracy = 0.25;
    let path = other.path.clone();
    let told = News::Opened(Arc::new(other));
    harness.state_mut().panel.on_news(&told);
    harness.run_steps(3);
    assert!(harness.query_by_label("Remove other MAP").is_some());
    assert!(harness.query_by_label("Remove resnet20-mfg MFG").is_some());
    // What it is worth on other data is told as that.
    let mut evaluation = view.evaluations[0].clone();
    evaluation.scores.accuracy = 0.5;
    let judged = News::Judged(Box::new(Judgement {
        case: Case {
            data: Some(PathBuf::from("data/pets")),
            ..Case::of(&path)
        },
        data: data(),
        evaluations: vec![evaluation],
    }));
    harness.state_mut().panel.on_news(&judged);
    harness.run_steps(3);
    let seen = |name: &str| harness.query_by_label(name).is_some();
    assert!(seen("Remove posterior on pets MAP") && !seen("Remove other MAP"));
}

#[test]
fn what_is_kept_stays_as_it_is_shown() {
    let News::Opened(view) = opened() else {
        panic!("nothing is open");
    };
    let mut harness = page("Compare", &[opened()]);
    // Twice is once.
    for _ in 0..2 {
        harness.get_by_label("Keep the open one").click();
        harness.run_steps(3);
    }
    assert!(harness.state().wishes.is_empty());
    let path = PathBuf::from("runs/other/posterior.safetensors");
    let other = View {
        path: path.clone(),
        evaluations: Vec::new(),
        ..(*view).clone()
    };
    harness
        .state_mut()
        .panel
        .on_news(&News::Opened(Arc::new(other)));
    harness.run_steps(3);
    assert!(harness.query_by_label("Remove pse PSE").is_some());
    // Nobody knows what this one is worth.
    harness.get_by_label("Keep the open one").click();
    harness.run_steps(3);
    let asked = harness.state_mut().wishes.pop();
    assert!(matches!(asked, Some(Wish::Do(Errand::Compare(of))) if of == path));
}

#[test]
fn the_table_is_saved_whole() {
    let mut harness = page("Compare", &[compared()]);
    harness.get_by_label("Save table…").click();
    harness.run_steps(2);
    let Some(Wish::Choose(Purpose::Save(Parcel {
        content: Content::Text(text),
        ..
    }))) = harness.state_mut().wishes.pop()
    else {
        panic!("nothing was asked for");
    };
    assert_eq!(text.lines().count(), 4);
    let commas = |line: &str| line.replace("\"accuracy, %\"", "").matches(',').count();
    assert!(text.lines().skip(1).all(|line| commas(line) == 7));
}
