//! The window: panels around one run and one posterior.
//!
//! News come from the [`Runner`] and the [`Worker`] and go to every panel; what panels wish for comes back here.

mod arrivals;
mod closing;
mod compare;
mod desk;
mod errand;
mod look;
mod news;
mod panels;
#[cfg_attr(target_family = "wasm", path = "page/mod.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "native/mod.rs")]
mod platform;
mod purpose;
mod runner;
mod sort;
mod survey;
mod take_away;
#[cfg(test)]
mod tests;
mod view_menu;
mod welcome;
mod worker;

use crate::outcome;
use bayesadapter::{
    data::Picture,
    disk,
    session::{Command, Ending, Event, Phase},
};
use closing::Closing;
use eframe::egui;
use egui::{Key, Modifiers, RichText};
use errand::Errand;
use news::{News, Wish};
use panels::Panel;
use platform::{Computer, Dialog, Host, Worker};
#[cfg(target_family = "wasm")]
pub use platform::{Page, give, open};
#[cfg(not(target_family = "wasm"))]
pub use platform::{open, tour};
use purpose::Purpose;
use runner::{Plan, Runner};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use welcome::Welcome;
use worker::Question;

/// How often the window looks for news while something goes on.
const LOOK: Duration = Duration::from_millis(50);

/// All that the window holds.
struct Window {
    panels: Vec<Box<dyn Panel>>,
    /// The panel that is shown; the welcome page if none is.
    shown: Option<usize>,
    welcome: Welcome,
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
    /// The user waits for a file to be opened.
    opening: bool,
    phase: Phase,
    dialog: Dialog,
    /// What went wrong, until the user has read it.
    notice: Option<String>,
    /// What was saved last, until the user has read it.
    saved: Option<PathBuf>,
    /// A file that the browser is to show.
    to_show: Option<PathBuf>,
    closing: Closing,
    host: Host,
}

impl Window {
    fn new() -> Self {
        let computer = Computer::default();
        let mut window = Self {
            panels: panels::all(),
            shown: None,
            welcome: Welcome::default(),
            worker: Worker::new(computer.clone()),
            computer,
            runner: None,
            plans: Vec::new(),
            reported: None,
            run_folder: PathBuf::new(),
            out: platform::usual_place(),
            opening: false,
            phase: Phase::Ended,
            dialog: Dialog::default(),
            notice: None,
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

    /// Takes what happened since the last frame, and tells every panel.
    fn catch_up(&mut self) {
        let mut news = self.worker.poll();
        if let Some(runner) = &mut self.runner {
            news.extend(runner.poll());
        }
        for one in news {
            self.tell(&one);
        }
        if let Some((purpose, path)) = self.dialog.poll() {
            self.notice = None;
            self.tell(&News::Chosen(purpose, path));
        }
        for path in self.dialog.dropped() {
            self.notice = None;
            let shown = self.shown.and_then(|at| self.panels.get(at));
            self.fulfil(Wish::Do(match shown.map(|panel| panel.name()) {
                Some("Compare") => Errand::Compare(path),
                _ => Errand::Sort(path),
            }));
        }
    }

    fn tell(&mut self, news: &News) {
        match news {
            News::Began { folder, .. } => {
                self.run_folder.clone_from(folder);
                self.phase = Phase::Preparing;
            }
            News::Run(Event::Phase { phase }) => self.phase = *phase,
            News::Ended {
                ending: Ok(Ending::Finished),
                ..
            } => {
                let posterior = self.run_folder.join("posterior.safetensors");
                self.worker.ask(|mail| mail.open(posterior));
            }
            News::Ended {
                ending: Err(error), ..
            }
            | News::Over(Err(error))
            | News::Refused(error) => {
                self.opening = false;
                self.notice = Some(error.clone());
            }
            News::Opened(view) => {
                // A posterior with evaluations lies in the folder of its run.
                let folder = view.path.parent().filter(|_| !view.evaluations.is_empty());
                self.reported = folder.map(Path::to_owned);
                // A file that the user opened is looked at; one that a run leaves interrupts nothing.
                if std::mem::take(&mut self.opening) {
                    self.show_panel("Posterior");
                }
            }
            News::Chosen(purpose, path) => self.chosen(purpose, path.clone()),
            News::Sorted(found) => self.found(found),
            News::Compared(_) => self.show_panel("Compare"),
            News::Saved { path, show } => {
                self.saved = Some(path.clone());
                self.to_show = show.then(|| path.clone());
            }
            _ => {}
        }
        self.host.on_news(news);
        for panel in &mut self.panels {
            panel.on_news(news);
        }
    }

    fn show_panel(&mut self, name: &str) {
        self.shown = self.panels.iter().position(|panel| panel.name() == name);
    }

    fn fulfil(&mut self, wish: Wish) {
        match wish {
            Wish::Demo(method) => {
                let numbered = (1..).map(|number: u32| self.out.join(format!("demo-{number}")));
                let mut free = numbered.skip_while(|folder| disk::exists(folder));
                let folder = free.next().unwrap_or_else(|| self.out.clone());
                platform::prepare_demo(&folder);
                self.start(Plan::demo(method, &folder));
            }
            Wish::Run(settings) => {
                let folder = self.free_folder(&outcome::folder_name(&settings));
                let settings = *settings;
                self.start(vec![Plan { folder, settings }]);
            }
            Wish::GoOn(folder, settings) => {
                let settings = *settings;
                self.start(vec![Plan { folder, settings }]);
            }
            Wish::Show(page) => self.show_panel(page),
            Wish::Continue => self.start(self.plans.clone()),
            Wish::Choose(purpose) => self.dialog.ask(purpose, &self.out),
            Wish::Do(errand) => self.worker.ask(|mail| mail.add(errand)),
            Wish::Open(path) => {
                self.notice = None;
                self.opening = true;
                self.worker.ask(|mail| mail.open(path));
            }
            Wish::Tell(command) => {
                if let Some(runner) = &self.runner {
                    runner.tell(command);
                }
            }
            Wish::Layer(path) => self.worker.ask(|mail| mail.layer = Some(path)),
            Wish::Scrub(scrub) => self.worker.ask(|mail| mail.scrub = Some(scrub)),
            Wish::Pictures(positions) => self.worker.ask(|mail| mail.pictures = Some(positions)),
            Wish::Ask(question) => self.worker.ask(|mail| mail.question = Some(question)),
        }
    }

    fn start(&mut self, plans: Vec<Plan>) {
        let folder = |plans: &[Plan]| plans.last().map(|plan| plan.folder.clone());
        let anew = folder(&self.plans) != folder(&plans);
        self.notice = None;
        self.plans.clone_from(&plans);
        self.runner = Some(Runner::new(plans, self.computer.clone()));
        self.tell(&News::Starting { anew });
        self.show_panel("Training");
    }

    /// Keys and dropped files.
    fn take_input(&mut self, ctx: &egui::Context) {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        for file in &dropped {
            self.dialog.take(file);
        }
        if let Some(picture) = pasted(ctx) {
            self.show_panel("Predict");
            self.fulfil(Wish::Ask(Question::Pasted(picture)));
        }
        if ctx.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::O)) {
            self.fulfil(Wish::Choose(Purpose::Posterior));
        }
        if ctx.text_edit_focused() {
            return;
        }
        let numbers = [
            Key::Num1,
            Key::Num2,
            Key::Num3,
            Key::Num4,
            Key::Num5,
            Key::Num6,
            Key::Num7,
            Key::Num8,
        ];
        for (at, key) in numbers.into_iter().take(self.panels.len()).enumerate() {
            if ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                self.shown = Some(at);
            }
        }
        let command = match self.phase {
            Phase::Training => Command::Pause,
            Phase::Paused => Command::Resume,
            _ => return,
        };
        if self.running() && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Space)) {
            self.fulfil(Wish::Tell(command));
        }
    }

    fn bar(&mut self, ui: &mut egui::Ui, wishes: &mut Vec<Wish>) {
        ui.horizontal(|ui| {
            let start =
                ui.selectable_label(self.shown.is_none(), RichText::new("Start").size(15.0));
            if start.on_hover_text("The demo, and files").clicked() {
                self.shown = None;
            }
            ui.separator();
            for (at, panel) in self.panels.iter().enumerate() {
                let name = RichText::new(panel.name()).size(15.0);
                let tab = ui.selectable_label(self.shown == Some(at), name);
                let about = format!("{} (key {})", panel.about(), at + 1);
                if tab.on_hover_text(about).clicked() {
                    self.shown = Some(at);
                }
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                view_menu::show(ui);
                if ui
                    .button("Open…")
                    .on_hover_text("A posterior file (Ctrl+O)")
                    .clicked()
                {
                    wishes.push(Wish::Choose(Purpose::Posterior));
                }
                if let Some(folder) = self.reported.clone() {
                    take_away::report_menu(ui, folder, wishes);
                }
                if self.worker.is_busy() {
                    ui.spinner().on_hover_text("Computing");
                }
            });
        });
    }

    fn notice(&mut self, ui: &mut egui::Ui) {
        let Some(text) = &self.notice else {
            return;
        };
        let mut read = false;
        ui.horizontal_wrapped(|ui| {
            read = ui.button("Dismiss").clicked();
            ui.colored_label(ui.visuals().error_fg_color, text);
        });
        if read {
            self.notice = None;
        }
    }
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        self.take_input(ui.ctx());
        self.catch_up();
        if self.closing.ui(ui.ctx(), self.running()) {
            self.fulfil(Wish::Tell(Command::Stop));
        }
        Host::frame(self, ui.ctx(), frame);
        let mut wishes = Vec::new();
        egui::Panel::top("bar").show(ui, |ui| {
            ui.add_space(4.0);
            self.bar(ui, &mut wishes);
            self.notice(ui);
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
            match self.shown.and_then(|at| self.panels.get_mut(at)) {
                Some(panel) => panel.ui(ui, &mut wishes),
                None => self.welcome.ui(ui, &self.out, running, &mut wishes),
            }
        });
        arrivals::drop_hint(ui.ctx());
        for wish in wishes {
            self.fulfil(wish);
        }
        if let Some(path) = self.to_show.take().filter(|_| platform::HAS_FOLDERS) {
            let address = take_away::file_url(&path);
            ui.ctx().open_url(egui::OpenUrl::new_tab(address));
        }
        if self.running() || self.worker.is_busy() || self.dialog.is_open() {
            ui.ctx().request_repaint_after(LOOK);
        }
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

/// The picture that was pasted in this frame, if one was.
fn pasted(ctx: &egui::Context) -> Option<Picture> {
    let image = ctx.input(|input| {
        let mut events = input.events.iter().rev();
        events.find_map(|event| match event {
            egui::Event::PasteImage(image) => Some(Arc::clone(image)),
            _ => None,
        })
    })?;
    let [width, height] = image.size;
    let pixels = image.pixels.iter().flat_map(|pixel| {
        let [red, green, blue, _] = pixel.to_array();
        [red, green, blue]
    });
    Picture::new(3, height, width, pixels.collect()).ok()
}
