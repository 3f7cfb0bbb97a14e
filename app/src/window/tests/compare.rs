//! Comparing networks.

use super::{page, picture, synthetic};
use crate::window::{
    compare::Compared,
    errand::{Content, Parcel},
    news::{News, Wish},
    purpose::Purpose,
};
use bayesadapter::evaluate::Evaluation;
use egui_kittest::kittest::Queryable;
use std::path::PathBuf;

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
    News::Compared(vec![
        run("resnet20-mfg", &all[..2]),
        run("resnet20-pse", &pse),
    ])
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
    assert!(text.lines().skip(1).all(|line| commas(line) == 6));
}
