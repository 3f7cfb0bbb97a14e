//! The foot of the page: what computes, and the posterior for taking away.

use super::{super::Window, deliver};
use bayesadapter::{disk, session::DeviceChoice};
use egui::{ComboBox, RichText, Ui};

/// The choices, and what they are called.
const CHOICES: [(DeviceChoice, &str); 3] = [
    (DeviceChoice::Auto, "Automatic"),
    (DeviceChoice::Cpu, "CPU"),
    (DeviceChoice::Gpu, "WebGPU"),
];

/// Draws the foot, and does what is clicked in it.
pub fn foot(window: &mut Window, ui: &mut Ui) {
    egui::Panel::bottom("foot").show(ui, |ui| {
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            device(window, ui);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                download(window, ui);
                ui.label(RichText::new("Nothing leaves this computer.").weak());
            });
        });
        ui.add_space(2.0);
    });
}

fn device(window: &mut Window, ui: &mut Ui) {
    let before = window.computer.choice();
    let mut choice = before;
    let name = CHOICES.iter().find(|(one, _)| *one == before);
    ComboBox::from_id_salt("device")
        .selected_text(name.map_or("", |(_, name)| name))
        .width(92.0)
        .show_ui(ui, |ui| {
            for (one, name) in CHOICES {
                ui.selectable_value(&mut choice, one, name);
            }
        })
        .response
        .accessible_name("Device")
        .on_hover_text("What computes. A run that goes on stays where it is.");
    let about = format!("Computes on {}.", window.computer.about());
    ui.add(egui::Label::new(RichText::new(&about).weak()).truncate())
        .on_hover_text(&about);
    if choice != before {
        window.computer.choose(choice);
        if let Some(file) = window.worker.opened() {
            window.worker.ask(|mail| mail.open(file));
        }
    }
}

fn download(window: &mut Window, ui: &mut Ui) {
    let Some(file) = window.worker.opened() else {
        return;
    };
    let button = ui
        .button("Download posterior")
        .on_hover_text("For the window, the command line, or this page on another day");
    if !button.clicked() {
        return;
    }
    let delivered = disk::read(&file).map_err(Into::into);
    if let Err(error) = delivered.and_then(|bytes| deliver(&file, &bytes)) {
        window.notice = Some(format!("{error:#}"));
    }
}
