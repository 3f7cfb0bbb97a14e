//! Closing the window: nothing is lost by it.

use super::{outside::window, *};
use crate::window::closing::Closing;

fn ask_to_close(harness: &mut Harness<'_, Window>) {
    let root = harness.input_mut().viewports.entry(ViewportId::ROOT);
    root.or_default().events.push(ViewportEvent::Close);
    harness.run_steps(1);
    if let Some(root) = harness.input_mut().viewports.get_mut(&ViewportId::ROOT) {
        root.events.clear();
    }
}

fn commands(harness: &Harness<'_, Window>) -> Vec<ViewportCommand> {
    let root = &harness.output().viewport_output[&ViewportId::ROOT];
    root.commands.clone()
}

/// A window in which the demo has begun to learn, in this folder.
fn learning(folder: &std::path::Path) -> Harness<'static, Window> {
    let mut harness = window();
    harness.state_mut().out = folder.to_owned();
    harness.state_mut().fulfil(Wish::Demo(Method::Pse));
    let learns = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.run_steps(1);
        harness.state().phase() == Phase::Training
    });
    assert!(learns);
    harness
}

#[test]
fn closing_asks_while_a_run_goes_on_and_saves_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = learning(folder.path());
    ask_to_close(&mut harness);
    assert!(commands(&harness).contains(&ViewportCommand::CancelClose));
    harness.run_steps(3);
    picture(&mut harness, "closing");
    harness.get_by_label("Save it and close").click();
    assert!((0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.run_steps(1);
        commands(&harness).contains(&ViewportCommand::Close)
    }));
    let states = folder.path().join("demo-1/map/checkpoints");
    assert!(std::fs::read_dir(states).unwrap().next().is_some());
}

#[test]
fn who_stays_leaves_the_run_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = learning(folder.path());
    ask_to_close(&mut harness);
    harness.run_steps(2);
    harness.get_by_label("Stay").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("A run goes on").is_none());
    assert!(!commands(&harness).contains(&ViewportCommand::Close));
    assert!(harness.state().running());
    assert_eq!(harness.state().closing, Closing::No);
}

#[test]
fn a_run_that_cannot_be_saved_keeps_the_window_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = learning(folder.path());
    ask_to_close(&mut harness);
    harness.run_steps(3);
    // A file in the place of the folder: nothing can be written there.
    let states = folder.path().join("demo-1/map/checkpoints");
    std::fs::rename(&states, folder.path().join("away")).unwrap();
    std::fs::write(&states, b"").unwrap();
    harness.get_by_label("Save it and close").click();
    harness.run_steps(1);
    while harness.state().running() {
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.run_steps(1);
        assert!(!commands(&harness).contains(&ViewportCommand::Close));
    }
    harness.run_steps(3);
    assert!(!commands(&harness).contains(&ViewportCommand::Close));
    let told = harness.query_all_by_label_contains("could not be saved");
    assert!(told.count() > 0);
}

#[test]
fn closing_waits_for_files_that_are_written() {
    for saved in [true, false] {
        let mut harness = window();
        harness.state_mut().saves = 1;
        ask_to_close(&mut harness);
        assert!(commands(&harness).contains(&ViewportCommand::CancelClose));
        harness.run_steps(2);
        assert!(harness.query_by_label("Files are being written.").is_some());
        harness.state_mut().tell(&match saved {
            true => News::Saved {
                path: PathBuf::from("report.html"),
                show: false,
            },
            false => News::NotSaved("report.html cannot be written: no space".to_owned()),
        });
        harness.run_steps(1);
        assert_eq!(commands(&harness).contains(&ViewportCommand::Close), saved);
        harness.run_steps(1);
        assert_eq!(
            harness.query_by_label_contains("no space").is_some(),
            !saved
        );
    }
}
