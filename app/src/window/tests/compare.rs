//! Comparing networks, and taking plots away.

use super::{page, picture, synthetic};
use crate::{
    report::Format,
    window::{
        compare::Compared,
        errand::{Content, Errand, Parcel},
        news::{News, Wish},
        platform::Computer,
        purpose::Purpose,
    },
};
use bayesadapter::evaluate::Evaluation;
use burn::tensor::read_sync;
use egui_kittest::kittest::Queryable;
use std::path::PathBuf;

fn run(name: &str, evaluations: &[Evaluation]) -> Compared {
    Compared {
        path: PathBuf::from("runs").join(name),
        name: name.to_owned(),
        evaluations: evaluations.to_vec(),
    }
}

fn compared() -> News {
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
fn a_plot_is_saved_as_a_picture_and_as_numbers() {
    let mut harness = page("Compare", &[compared()]);
    let folder = tempfile::tempdir().unwrap();
    for (format, label) in [
        (Format::Png, "as a PNG picture…"),
        (Format::Csv, "its numbers as CSV…"),
    ] {
        harness.get_by_label("Save Reliability").click();
        harness.run_steps(3);
        if format == Format::Png {
            picture(&mut harness, "save-menu");
        }
        harness.get_by_label(label).click();
        harness.run_steps(3);
        let Some(Wish::Choose(Purpose::Save(parcel))) = harness.state_mut().wishes.pop() else {
            panic!("nothing was asked for");
        };
        assert_eq!(parcel.name, format!("reliability.{}", format.ending()));
        let path = folder.path().join(&parcel.name);
        let errand = Errand::Save(parcel, path.clone());
        let done = read_sync(errand.run(&Computer::default())).unwrap();
        assert!(matches!(done, News::Saved { path: saved, .. } if saved == path));
        let bytes = std::fs::read(path).unwrap();
        match format {
            Format::Csv => {
                let text = String::from_utf8(bytes).unwrap();
                assert!(text.starts_with("series,confidence,share of right answers\n"));
                assert!(text.contains("\nresnet20-pse PSE,"));
            }
            _ => {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/window");
                std::fs::write(format!("{folder}/saved-plot.png"), &bytes).unwrap();
                assert!(image::load_from_memory(&bytes).is_ok());
            }
        }
    }
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
