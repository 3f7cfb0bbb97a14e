//! The window: panels around one run and one posterior.
//!
//! News come from the [`Runner`] and the [`Worker`] and go to every panel; what panels wish for comes back (`traffic`).

mod album;
mod arrivals;
mod bar;
mod bell;
mod closing;
mod compare;
mod desk;
mod errand;
mod input;
mod judging;
mod keys;
mod look;
mod news;
mod opening;
mod panels;
#[cfg_attr(target_family = "wasm", path = "page/mod.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "native/mod.rs")]
mod platform;
mod purpose;
mod runner;
mod shown;
mod sort;
mod survey;
mod take_away;
#[cfg(test)]
mod tests;
mod traffic;
mod view_menu;
mod welcome;
mod worker;

use bayesadapter::session::{Command, Control, Phase};
use bell::Bell;
use closing::Closing;
use eframe::egui;
use news::{News, Wish};
use panels::Panel;
use platform::{Computer, Dialog, Host, Runner, Worker};
#[cfg(target_family = "wasm")]
pub use platform::{Page, give, has_saved, obey, open, rescue, webgpu};
#[cfg(not(target_family = "wasm"))]
pub use platform::{open, tour};
use purpose::Purpose;
use runner::Plan;
use std::{path::PathBuf, time::Duration};
use welcome::Welcome;

/// Points that a page needs across, if it does not say otherwise.
const LEAST_WIDTH: f32 = 1120.0;

/// How often the window looks for news that nobody rang for: that a thread broke off.
const LOOK_UNASKED: Duration = Duration::from_millis(250);

/// All that the window holds.
struct Window {
    panels: Vec<Box<dyn Panel>>,
    /// The panel that is shown; the welcome page if none is.
    shown: Option<usize>,
    welcome: Welcome,
    bell: Bell,
    worker: Worker,
    computer: Computer,
    runner: Option<Runner>,
    /// The runs that go on, or were the last to.
    plans: Vec<Plan>,
    /// The folder of the run that goes on.
    run_folder: PathBuf,
    /// The folder of the run whose posterior is open, which can be reported.
    reported: Option<PathBuf>,
    /// Where the folders of runs go.
    out: PathBuf,
    /// A posterior is open.
    has_network: bool,
    /// The file that the user asked for last.
    opening: Option<PathBuf>,
    /// The user opened a file of their own since the runs began: theirs do not take its place.
    own_file: bool,
    /// What a run left meanwhile, until the user has read it.
    finished: Option<PathBuf>,
    /// The judging of a posterior file, while it goes on.
    judging: Option<Control>,
    dialog: Dialog,
    /// What went wrong, the latest last, until the user has read it.
    notices: Vec<String>,
    /// Files that are being written.
    saves: usize,
    /// What was saved last, until the user has read it.
    saved: Option<PathBuf>,
    /// A file that the browser is to show.
    to_show: Option<PathBuf>,
    closing: Closing,
    host: Host,
}

impl Window {
    #[cfg(any(test, target_family = "wasm"))]
    fn new() -> Self {
        Self::on(Computer::default())
    }

    /// On devices that may be open already.
    fn on(computer: Computer) -> Self {
        let bell = Bell::default();
        let mut window = Self {
            panels: panels::all(),
            shown: None,
            welcome: Welcome::default(),
            worker: Worker::new(computer.clone(), bell.clone()),
            bell,
            computer,
            runner: None,
            plans: Vec::new(),
            reported: None,
            run_folder: PathBuf::new(),
            out: platform::usual_place(),
            has_network: false,
            opening: None,
            own_file: false,
            finished: None,
            judging: None,
            dialog: Dialog::default(),
            notices: Vec::new(),
            saves: 0,
            saved: None,
            to_show: None,
            closing: Closing::default(),
            host: Host::default(),
        };
        window.tell(&News::Chosen(Purpose::RunsFolder, window.out.clone()));
        window
    }

    fn running(&self) -> bool {
        self.runner.as_ref().is_some_and(|runner| !runner.is_over())
    }

    /// What the run does at this moment.
    fn phase(&self) -> Phase {
        self.runner.as_ref().map_or(Phase::Ended, Runner::phase)
    }
}

impl eframe::App for Window {
    /// Before every frame, and while the window is hidden in the place of frames.
    fn logic(&mut self, _: &egui::Context, _: &mut eframe::Frame) {
        self.bell.heard();
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        self.bell.hang(ui.ctx());
        self.take_input(ui.ctx());
        self.catch_up();
        if self.closing.ui(ui.ctx(), self.running(), self.saves) {
            self.fulfil(Wish::Tell(Command::Stop));
        }
        Host::frame(self, ui.ctx(), frame);
        let mut wishes = Vec::new();
        egui::Panel::top("bar").show(ui, |ui| {
            ui.add_space(4.0);
            self.bar(ui, &mut wishes);
            self.notices(ui);
            self.finished(ui, &mut wishes);
            take_away::saved(ui, &mut self.saved);
            ui.add_space(2.0);
        });
        platform::foot(self, ui);
        let running = self.running();
        // Room on the right for half a label of an axis.
        let margin = egui::Margin {
            right: 16,
            ..egui::Margin::same(8)
        };
        let frame = egui::Frame::central_panel(ui.style()).inner_margin(margin);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            let shown = self.shown.and_then(|at| self.panels.get_mut(at));
            let width = shown
                .as_ref()
                .map_or(LEAST_WIDTH, |panel| panel.least_width());
            look::at_least(ui, width, |ui| match shown {
                Some(panel) => panel.ui(ui, &mut wishes),
                None => self.welcome.ui(ui, &self.out, running, &mut wishes),
            });
        });
        arrivals::drop_hint(ui.ctx());
        for wish in wishes {
            self.fulfil(wish);
        }
        if let Some(path) = self.to_show.take().filter(|_| platform::HAS_FOLDERS) {
            let address = take_away::file_url(&path);
            ui.ctx().open_url(egui::OpenUrl::new_tab(address));
        }
        if self.dialog.is_open() {
            // Nobody rings when the user has chosen.
            ui.ctx().request_repaint_after(platform::LOOK);
        } else if self.running() || self.worker.is_busy() {
            ui.ctx().request_repaint_after(LOOK_UNASKED);
        }
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        look::ground(visuals.dark_mode).to_normalized_gamma_f32()
    }

    fn raw_input_hook(&mut self, _: &egui::Context, input: &mut egui::RawInput) {
        self.host.input(input);
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        platform::remember(self, storage);
    }

    /// The page looks at the window from outside.
    #[cfg(target_family = "wasm")]
    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}
