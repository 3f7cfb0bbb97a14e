//! The foot of the page: what computes, and the posterior for taking away.

use super::{
    super::{LEAST_WIDTH, Window, news::Wish},
    deliver,
    rescue::Saved,
};
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
        let narrow = ui.available_width() < LEAST_WIDTH;
        ui.horizontal(|ui| {
            device(window, ui);
            if !narrow {
                let from_right = egui::Layout::right_to_left(egui::Align::Center);
                ui.with_layout(from_right, |ui| offers(window, ui));
            }
        });
        if narrow {
            ui.horizontal_wrapped(|ui| offers(window, ui));
        }
        ui.add_space(2.0);
    });
}

fn offers(window: &mut Window, ui: &mut Ui) {
    about(ui);
    download(window, ui);
    download_run(window, ui);
    fine_tune(window, ui);
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
        .on_hover_text(
            "What computes. WebGPU is the GPU of this computer where the browser can use it, and software where it \
             cannot; then the CPU is faster. A run that goes on stays where it is.",
        );
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
        window.complain(&format!("{error:#}"));
    }
}

/// What the run that goes on, or was stopped or lost, saved last.
fn download_run(window: &Window, ui: &mut Ui) {
    let opened = window.worker.opened();
    let saved = Saved::last().filter(|saved| opened.as_deref() != Some(saved.path()));
    let Some(saved) = saved else {
        return;
    };
    let button = ui
        .button("Download run so far")
        .on_hover_text("The posterior that the run saved last, a file like that of a finished run");
    if button.clicked() {
        saved.deliver();
    }
}

/// The demo's run, one click from where a visitor lands.
fn fine_tune(window: &mut Window, ui: &mut Ui) {
    if window.running() {
        return;
    }
    let button = ui
        .button("Fine-tune here")
        .on_hover_text("Makes the digits' network Bayesian anew, in this tab");
    if button.clicked() {
        window.fulfil(Wish::Demo(window.welcome.method));
    }
}

fn about(ui: &mut Ui) {
    ui.menu_button("About", |ui| {
        ui.label("Nothing leaves this computer: all is computed in this tab.");
        ui.label(
            "To host this page, copy its folder to any web server, as it is;\n`cargo xtask web` makes the folder.",
        );
        ui.hyperlink_to("A page of your own with a network in ten lines", "example.html");
        ui.hyperlink_to("Every operation on WebGPU against the CPU", "check.html");
    });
}
