//! The window as a whole: first page, keys, files, closing.

use super::*;

#[test]
fn the_demo_is_one_click_away() {
    let draw = |ui: &mut egui::Ui, (welcome, wishes): &mut (Welcome, Vec<Wish>)| {
        egui::CentralPanel::default().show(ui, |ui| welcome.ui(ui, "/tmp".as_ref(), false, wishes));
    };
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1280.0, 760.0))
        .build_ui_state(draw, (Welcome::default(), Vec::new()));
    look::apply(&harness.ctx);
    picture(&mut harness, "welcome");
    harness.get_by_label("Digits demo").click();
    harness.run_steps(2);
    let wishes = &harness.state().1;
    assert!(matches!(wishes[..], [Wish::Demo(Method::Pse)]));
}

#[test]
fn keys_turn_pages_and_a_missing_file_is_told() {
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1280.0, 800.0))
        .build_eframe(|creation| {
            look::apply(&creation.egui_ctx);
            Window::new()
        });
    harness.key_press(egui::Key::Num7);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("No network yet").is_some());
    let missing = PathBuf::from("no-such-posterior.safetensors");
    harness.state_mut().fulfil(Wish::Open(missing));
    let told = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.run_steps(1);
        harness
            .query_by_label_contains("no-such-posterior")
            .is_some()
    });
    assert!(told);
    harness.run_steps(3);
    picture(&mut harness, "notice");
    harness.get_by_label("Dismiss").click();
    harness.run_steps(3);
    assert!(
        harness
            .query_by_label_contains("no-such-posterior")
            .is_none()
    );
}
