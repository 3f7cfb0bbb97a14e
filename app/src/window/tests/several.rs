//! Several things at once: a run and a file, an errand that takes long and others.

use super::{files, outside::reads, outside::window, *};
use crate::window::{errand::Errand, judging::Case, keys, purpose::Purpose};
use bayesadapter::session::{self, Ending};
use egui::{Event as Input, Key, KeyboardShortcut};

#[test]
fn what_a_run_leaves_does_not_take_the_place_of_the_user_s_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = files::write(folder.path(), "own.safetensors", &files::posterior());
    let mut harness = window();
    harness.state_mut().run_folder = folder.path().join("run");
    harness.state_mut().fulfil(Wish::Open(path));
    // As if a run went on.
    harness.state_mut().own_file = true;
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    let (method, ending) = (Method::Pse, Ok(Ending::Finished));
    harness.state_mut().tell(&News::Ended { method, ending });
    harness.run_steps(2);
    assert!(harness.query_by_label_contains("is finished").is_some());
    assert!(harness.state().notices.is_empty());
    harness.get_by_label("Open its posterior").click();
    // There is none, which is told.
    assert!(reads(&mut harness, "posterior.safetensors"));
    assert!(harness.query_by_label_contains("is finished").is_none());
}

#[test]
fn other_refusals_do_not_hide_the_file_that_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = files::write(folder.path(), "own.safetensors", &files::posterior());
    let mut harness = window();
    harness.state_mut().fulfil(Wish::Open(path));
    let refused = News::Refused("something else went wrong".to_owned());
    harness.state_mut().tell(&refused);
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    assert!(reads(&mut harness, "something else went wrong"));
}

#[test]
fn a_notice_of_many_lines_stays_whole_beside_another_and_is_told_once() {
    let mut harness = window();
    let lines: Vec<String> = (1..=9).map(|at| format!("- layout {at}")).collect();
    let long = format!("pictures has none of the layouts:\n{}", lines.join("\n"));
    for text in [long.as_str(), "the disk is full", long.as_str()] {
        harness.state_mut().tell(&News::Refused(text.to_owned()));
    }
    harness.run_steps(3);
    // The latest is the last.
    assert_eq!(harness.state().notices, ["the disk is full", long.as_str()]);
    assert!(harness.query_by_label("the disk is full").is_some());
    let shown = harness
        .get_by_label_contains("has none of the layouts")
        .rect();
    let page = harness.get_by_label("Digits demo").rect();
    assert!(shown.height() > 9.0 * 12.0, "{shown:?}");
    assert!(shown.bottom() < page.top(), "{shown:?} and {page:?}");
    for number in 0..9 {
        let told = News::Refused(format!("complaint {number}"));
        harness.state_mut().tell(&told);
    }
    let kept = &harness.state().notices;
    assert_eq!((kept.len(), kept[4].as_str()), (5, "complaint 8"));
}

#[test]
fn a_comparison_that_ends_moves_nobody() {
    let mut harness = window();
    harness.state_mut().show_panel("Predict");
    let shown = harness.state().shown;
    harness.state_mut().tell(&compare::compared());
    assert_eq!(harness.state().shown, shown);
}

#[test]
fn what_belongs_to_a_file_and_is_missing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut settings = files::settings();
    settings.model.weights = Some("no/such/weights.pth".to_owned());
    settings.data.path = "no/such/data".to_owned();
    let table = files::table(&settings);
    let path = files::write(&run, "posterior.safetensors", &files::posterior_of(table));
    files::write(&run, "run.toml", settings.to_toml().unwrap().as_bytes());
    files::write(&run, "evaluations/pse.json", b"{ damaged");
    let mut harness = window();
    harness.state_mut().fulfil(Wish::Open(path));
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    for missing in ["no/such/weights.pth", "no/such/data", "pse.json"] {
        assert!(
            harness.query_by_label_contains(missing).is_some(),
            "{missing}"
        );
    }
    picture(&mut harness, "remarks");
}

#[test]
fn a_file_that_is_opened_in_a_run_is_shown_and_the_run_is_a_click_away() {
    let prepared = posterior::prepared();
    let mut harness = page("Posterior", &[prepared, phase(Phase::Training), opened()]);
    assert!(
        harness
            .query_by_label_contains("The run as it is now")
            .is_some()
    );
    harness.state_mut().panel.on_news(&News::FileWanted);
    harness.run_steps(3);
    assert!(
        harness
            .query_by_label("PSE posterior of digits-cnn")
            .is_some()
    );
    harness.get_by_label("The run").click();
    harness.run_steps(3);
    assert!(
        harness
            .query_by_label_contains("The run as it is now")
            .is_some()
    );
    harness.get_by_label("The file").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("norm1.gamma").is_some());
}

/// What the window does when these keys are pressed.
fn press(window: &mut Window, keys: KeyboardShortcut) -> Vec<Wish> {
    let input = egui::RawInput {
        events: vec![Input::Key {
            key: keys.logical_key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: keys.modifiers,
        }],
        ..Default::default()
    };
    let mut wishes = Vec::new();
    let _ = egui::Context::default().run_ui(input, |ui| wishes.extend(window.keys(ui.ctx())));
    wishes
}

#[test]
fn keys_open_save_and_stop() {
    let mut harness = window();
    let window = harness.state_mut();
    let asked = press(window, keys::OPEN);
    let opens = |wish: &Wish| matches!(wish, Wish::Choose(Purpose::Posterior));
    assert!(asked.iter().any(opens));
    // There is no report, and no run.
    assert!(press(window, keys::SAVE_REPORT).is_empty());
    assert!(press(window, keys::STOP).is_empty());
    window.reported = Some(PathBuf::from("runs/demo"));
    let asked = press(window, keys::SAVE_REPORT);
    assert!(matches!(asked[..], [Wish::Choose(Purpose::Save(_))]));
    let space = KeyboardShortcut::new(egui::Modifiers::NONE, Key::Space);
    assert!(press(window, space).is_empty());
}

#[test]
fn quick_errands_do_not_wait_for_long_ones() {
    let mut mail = crate::window::worker::Mail::default();
    let path = PathBuf::from("somewhere");
    mail.add(Errand::Compare(path.clone()));
    mail.add(Errand::Judge(Case::of(&path), session::connect().1));
    mail.add(Errand::Sort(path.clone()));
    mail.add(Errand::Report(path));
    assert!(matches!(mail.take_quick(), Some(Errand::Sort(_))));
    assert!(matches!(mail.take_quick(), Some(Errand::Report(_))));
    assert!(mail.take_quick().is_none());
    assert!(matches!(mail.take_long(), Some(Errand::Compare(_))));
    assert!(matches!(mail.take_long(), Some(Errand::Judge(..))));
    assert!(mail.is_empty());
}
