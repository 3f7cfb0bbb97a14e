//! What comes from outside: the clipboard, and the system's dialogs.

use super::{files, *};
use crate::window::purpose::Purpose;
use egui::{Color32, ColorImage};
use std::{future::ready, time::Duration};

pub fn window() -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1280.0, 800.0))
        .build_eframe(|creation| {
            look::apply(&creation.egui_ctx);
            Window::new()
        });
    harness.run_steps(2);
    harness
}

/// Draws frames until the words are seen.
pub fn reads(harness: &mut Harness<'_, Window>, words: &str) -> bool {
    (0..500).any(|_| {
        harness.run_steps(1);
        std::thread::sleep(Duration::from_millis(20));
        harness.query_by_label_contains(words).is_some()
    })
}

#[test]
fn a_pasted_picture_is_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let posterior = files::write(folder.path(), "posterior", &files::posterior());
    let mut harness = window();
    harness.state_mut().fulfil(Wish::Open(posterior));
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    let image = ColorImage::filled([20, 30], Color32::from_rgb(10, 200, 30));
    harness.event(egui::Event::PasteImage(Arc::new(image)));
    assert!(reads(&mut harness, "Mutual information"));
    assert!(harness.query_by_label("Probabilities").is_some());
    picture(&mut harness, "pasted");
}

#[test]
fn what_cannot_be_predicted_of_the_clipboard_is_told() {
    let mut harness = window();
    harness.event(egui::Event::Paste("no picture at all".to_owned()));
    assert!(reads(
        &mut harness,
        "The clipboard holds text, and no picture"
    ));
    let nothing = ColorImage::filled([0, 0], Color32::BLACK);
    harness.event(egui::Event::PasteImage(Arc::new(nothing)));
    assert!(reads(&mut harness, "no picture that can be used"));
    // A picture, but nobody who could say something of it.
    let image = ColorImage::filled([8, 8], Color32::WHITE);
    harness.event(egui::Event::PasteImage(Arc::new(image)));
    assert!(reads(&mut harness, "no posterior is open"));
}

#[test]
fn text_is_pasted_into_the_field_that_is_typed_in() {
    let mut harness = window();
    harness.key_press(egui::Key::Num1);
    harness.run_steps(3);
    let fields = harness.query_all_by_role(Role::TextInput);
    fields.into_iter().next().unwrap().focus();
    harness.run_steps(2);
    harness.event(egui::Event::Paste("some-folder".to_owned()));
    harness.run_steps(2);
    assert!(harness.state().notices.is_empty());
}

#[test]
fn a_chosen_file_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let posterior = files::write(folder.path(), "posterior", &files::posterior());
    let mut harness = window();
    let choosing = Box::pin(ready(Some(posterior.into())));
    harness
        .state_mut()
        .dialog
        .wait_for(choosing, Purpose::Posterior);
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    assert!(!harness.state().dialog.is_open());
}

#[test]
fn a_dialog_that_is_called_off_changes_nothing() {
    let mut harness = window();
    let long = std::time::Instant::now() + Duration::from_millis(450);
    let called_off = std::future::poll_fn(move |_| match std::time::Instant::now() < long {
        true => std::task::Poll::Pending,
        false => std::task::Poll::Ready(None),
    });
    let dialog = &mut harness.state_mut().dialog;
    dialog.wait_for(Box::pin(called_off), Purpose::Posterior);
    harness.run_steps(2);
    // Another one has to wait until this one is closed.
    assert!(harness.state().dialog.is_open());
    std::thread::sleep(Duration::from_millis(500));
    harness.run_steps(2);
    assert!(!harness.state().dialog.is_open());
    assert!(harness.state().notices.is_empty());
    assert!(harness.query_by_label("Digits demo").is_some());
}

#[test]
fn where_there_are_no_dialogs_the_window_says_what_to_do() {
    let mut harness = window();
    let never_there = Box::pin(ready(None));
    harness
        .state_mut()
        .dialog
        .wait_for(never_there, Purpose::Posterior);
    assert!(reads(&mut harness, "No file dialog can be opened here"));
    assert!(!harness.state().dialog.is_open());
    picture(&mut harness, "no-dialog");
}

#[test]
fn slow_frames_do_not_hide_that_there_are_no_dialogs() {
    let mut harness = window();
    let mut asked = false;
    let never_there = std::future::poll_fn(move |context| {
        if std::mem::replace(&mut asked, true) {
            return std::task::Poll::Ready(None);
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    });
    let dialog = &mut harness.state_mut().dialog;
    dialog.wait_for(Box::pin(never_there), Purpose::Posterior);
    assert!(matches!(dialog.poll(), Ok(None)));
    std::thread::sleep(Duration::from_millis(500));
    assert!(dialog.poll().is_err());
}
