//! How the window looks: light or dark, and how large.

use egui::{Button, ThemePreference, Ui, gui_zoom};

/// A menu for it. The context remembers what is chosen, from one start to the next.
pub fn show(ui: &mut Ui) {
    ui.menu_button("View", |ui| {
        let mut theme = ui.ctx().options(|options| options.theme_preference);
        for (preference, name) in [
            (ThemePreference::System, "As the system"),
            (ThemePreference::Light, "Light"),
            (ThemePreference::Dark, "Dark"),
        ] {
            ui.radio_value(&mut theme, preference, name);
        }
        ui.ctx().set_theme(theme);
        ui.separator();
        zoom(
            ui,
            "Larger",
            &gui_zoom::kb_shortcuts::ZOOM_IN,
            gui_zoom::zoom_in,
        );
        zoom(
            ui,
            "Smaller",
            &gui_zoom::kb_shortcuts::ZOOM_OUT,
            gui_zoom::zoom_out,
        );
        zoom(
            ui,
            "Usual size",
            &gui_zoom::kb_shortcuts::ZOOM_RESET,
            |ctx| {
                ctx.set_zoom_factor(1.0);
            },
        );
    })
    .response
    .on_hover_text("Light or dark, and the size of everything");
}

fn zoom(
    ui: &mut Ui,
    name: &str,
    keys: &egui::KeyboardShortcut,
    change: impl FnOnce(&egui::Context),
) {
    let keys = ui.ctx().format_shortcut(keys);
    if ui.add(Button::new(name).shortcut_text(keys)).clicked() {
        change(ui.ctx());
    }
}
