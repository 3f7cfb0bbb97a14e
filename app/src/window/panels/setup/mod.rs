//! A run of the user's own: every setting of it, what its files are, and what it will take.

mod budget;
mod data;
mod layers;
mod more;
mod network;
mod ood_train;
mod posterior;
mod preflight;
mod row;
mod run_files;
mod schedule;
mod suited;
mod validation;

use super::{News, Panel, Wish};
use crate::window::{
    errand::Errand,
    keys,
    platform::HAS_FOLDERS,
    purpose::Purpose,
    sort::Found,
    survey::{Estimated, Survey},
};
use bayesadapter::{
    data::ValidationSplit,
    session::{DeviceChoice, Method, ModelSettings, RunSettings},
};
use data::Sheet;
use egui::{Align, Button, Layout, RichText, ScrollArea, Ui};
use layers::Layers;
use std::path::PathBuf;
use suited::SuitedTraining;

/// Seconds without a change after which files are looked at and memory and time are estimated.
const PATIENCE: f64 = 0.4;
/// Points between columns.
const GAP: f32 = 28.0;

/// The panel.
#[derive(Default)]
pub struct SetUp {
    settings: RunSettings,
    /// The settings of the last frame, and when they became so.
    before: Option<(RunSettings, f64)>,
    /// The files that were last asked about.
    asked_files: Option<Files>,
    /// The settings that were last estimated, or are to be.
    asked_estimate: Option<RunSettings>,
    survey: Option<Survey>,
    estimated: Option<Estimated>,
    layers: Layers,
    sheet: Sheet,
    suited: SuitedTraining,
    devices: Vec<(DeviceChoice, String)>,
    asked_devices: bool,
    /// A stopped run that was opened, and its settings.
    stopped: Option<(PathBuf, RunSettings)>,
    runs_folder: PathBuf,
    running: bool,
}

/// What a survey depends on.
#[derive(Clone, PartialEq)]
struct Files {
    model: ModelSettings,
    data: String,
    strangers: Option<String>,
    validation: ValidationSplit,
    split_seed: Option<u64>,
    seed: u64,
}

impl Files {
    fn of(settings: &RunSettings) -> Self {
        Self {
            model: settings.model.clone(),
            data: settings.data.path.clone(),
            strangers: settings.data.out_of_distribution.clone(),
            validation: settings.data.validation,
            split_seed: settings.data.split_seed,
            seed: settings.seed,
        }
    }
}

impl Panel for SetUp {
    fn name(&self) -> &'static str {
        "Set up"
    }

    fn about(&self) -> &'static str {
        "A run of your own: network, weights, data, posterior, and what it will take."
    }

    fn on_news(&mut self, news: &News) {
        match news {
            News::Starting { .. } => self.running = true,
            News::Over(_) => self.running = false,
            News::Devices(devices) => self.devices.clone_from(devices),
            News::Surveyed(survey) => self.take_survey(survey),
            News::Estimated(estimated) => self.estimated = Some((**estimated).clone()),
            News::Chosen(purpose, path) => self.take_path(purpose, path),
            News::Sorted(found) => self.take_found(found),
            _ => {}
        }
    }

    /// The settings, as a run file has them.
    #[cfg(not(target_family = "wasm"))]
    fn kept(&self) -> Option<String> {
        self.settings.to_toml().ok()
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        if !std::mem::replace(&mut self.asked_devices, true) {
            wishes.push(Wish::Do(Errand::ListDevices));
        }
        self.files(ui, wishes);
        self.stopped_run(ui, wishes);
        ui.separator();
        let (height, usual) = (ui.available_height(), ui.spacing().item_spacing.x);
        ui.spacing_mut().item_spacing.x = GAP;
        ui.columns(3, |columns| {
            for (at, ui) in columns.iter_mut().enumerate() {
                ui.spacing_mut().item_spacing.x = usual;
                let area = ScrollArea::vertical().id_salt(at).max_height(height);
                area.auto_shrink(false).show(ui, |ui| {
                    // Columns would stretch buttons and text to their width.
                    let layout = Layout::top_down(Align::Min);
                    ui.with_layout(layout, |ui| self.column(ui, at, wishes));
                });
            }
        });
        self.ask(ui, wishes);
    }
}

impl SetUp {
    fn column(&mut self, ui: &mut Ui, at: usize, wishes: &mut Vec<Wish>) {
        let (settings, survey) = (&mut self.settings, self.survey.as_ref());
        match at {
            0 => {
                network::ui(ui, settings, survey, wishes);
                ui.add_space(12.0);
                data::ui(ui, settings, survey, &mut self.sheet, wishes);
            }
            1 => {
                posterior::ui(ui, settings);
                ui.add_space(12.0);
                if settings.posterior.method != Method::Map {
                    self.layers.ui(ui, &mut settings.posterior.layers);
                }
            }
            _ => {
                budget::ui(ui, settings, survey, &self.devices);
                more::ui(ui, settings);
                ui.add_space(12.0);
                let estimated = self.estimated.as_ref();
                let fresh = estimated.filter(|one| one.settings == self.settings);
                preflight::ui(ui, fresh, self.running, wishes, &self.settings);
                self.start(ui, wishes);
            }
        }
    }

    fn take_survey(&mut self, survey: &Survey) {
        // A later one is on its way.
        if Files::of(&survey.settings) != Files::of(&self.settings) {
            return;
        }
        // The user may have chosen other layers meanwhile.
        if survey.settings.posterior.layers != self.settings.posterior.layers {
            self.asked_files = None;
        }
        if let Ok(parameters) = &survey.parameters {
            self.layers.fill(parameters);
        }
        if let Ok(data) = &survey.data {
            self.suited.follow(&mut self.settings.training, data.train);
        }
        self.sheet.clear();
        self.survey = Some(survey.clone());
    }

    fn take_path(&mut self, purpose: &Purpose, path: &std::path::Path) {
        let text = path.display().to_string();
        // What lies there may be another than when it was chosen before.
        self.asked_files = None;
        match purpose {
            Purpose::Weights => self.settings.model.weights = Some(text),
            Purpose::DataFolder | Purpose::DataArchive => self.settings.data.path = text,
            Purpose::Strangers => self.settings.data.out_of_distribution = Some(text),
            Purpose::RunsFolder => self.runs_folder = path.to_owned(),
            _ => {}
        }
    }

    fn take_found(&mut self, found: &Found) {
        match found {
            Found::Weights(path) => self.take_path(&Purpose::Weights, path),
            Found::Data(path) => self.take_path(&Purpose::DataFolder, path),
            Found::Settings(settings) => self.replace(settings),
            Found::StoppedRun { folder, settings } => {
                self.replace(settings);
                self.stopped = Some((folder.clone(), (**settings).clone()));
            }
            Found::Posterior(_)
            | Found::Picture(_)
            | Found::Pictures { .. }
            | Found::FinishedRun { .. }
            | Found::Networks(_) => {}
        }
    }

    /// Takes all settings from elsewhere.
    fn replace(&mut self, settings: &RunSettings) {
        self.settings = settings.clone();
        self.suited = SuitedTraining::Fixed;
        self.stopped = None;
        // The layers that they choose are found out anew.
        (self.asked_files, self.survey) = (None, None);
    }

    fn start(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        ui.add_space(8.0);
        let button = Button::new(RichText::new("Start").size(18.0).strong());
        let ready = !self.running && self.problem().is_none();
        let start = ui.add_enabled_ui(ready, |ui| ui.add_sized([140.0, 38.0], button));
        let keys = ui.ctx().format_shortcut(&keys::START);
        let start = start.inner.on_hover_text(format!("Begin the run ({keys})"));
        let pressed = ui.input_mut(|input| input.consume_shortcut(&keys::START));
        if start.clicked() || (pressed && ready) {
            wishes.push(Wish::Run(Box::new(self.settings.clone())));
        }
        if self.running {
            ui.label("A run goes on. Stop it on the Training page before you start another.");
        } else if let Some(problem) = self.problem() {
            ui.label(problem);
        }
        if !HAS_FOLDERS {
            return;
        }
        let folder = self.runs_folder.display();
        ui.label(RichText::new(format!("The run goes to {folder}")).weak());
        if ui.button("Another folder…").clicked() {
            wishes.push(Wish::Choose(Purpose::RunsFolder));
        }
    }

    /// Why the run cannot start, as far as is known.
    fn problem(&self) -> Option<&'static str> {
        use crate::window::survey::Weights;
        let survey = self.survey.as_ref()?;
        if survey.parameters.is_err() {
            return Some("Choose a network that there is.");
        }
        if survey.data.is_err() {
            return Some("Choose data that can be opened.");
        }
        if matches!(survey.strangers, Some(Err(_))) {
            return Some("Choose pictures of another kind that can be opened, or do without.");
        }
        if self.settings.posterior.method != Method::Map && self.layers.none_is_chosen() {
            return Some("Choose one layer at least, or ordinary training (MAP).");
        }
        match survey.weights {
            Some(Weights::Misfit(_) | Weights::Unreadable(_)) => Some("Choose weights that fit."),
            _ => None,
        }
    }

    /// Asks what there is to know of the settings once they stay as they are.
    fn ask(&mut self, ui: &Ui, wishes: &mut Vec<Wish>) {
        let now = ui.input(|input| input.time);
        let unchanged = |(settings, _): &&(RunSettings, f64)| *settings == self.settings;
        match self.before.as_ref().filter(unchanged) {
            Some((_, since)) if now - since >= PATIENCE => {}
            Some(_) => return,
            None => {
                self.before = Some((self.settings.clone(), now));
                let soon = std::time::Duration::from_secs_f64(PATIENCE);
                ui.ctx().request_repaint_after(soon);
                return;
            }
        }
        let files = Files::of(&self.settings);
        if self.asked_files.as_ref() != Some(&files) {
            self.asked_files = Some(files);
            self.asked_estimate = None;
            let settings = Box::new(self.settings.clone());
            wishes.push(Wish::Do(Errand::Survey(settings)));
            return;
        }
        // Steps of a run and of an estimate would slow each other down.
        let wanted = !self.running && self.survey.is_some() && self.problem().is_none();
        if wanted && self.asked_estimate.as_ref() != Some(&self.settings) {
            self.asked_estimate = Some(self.settings.clone());
            let settings = Box::new(self.settings.clone());
            wishes.push(Wish::Do(Errand::Estimate(settings)));
        }
    }
}
