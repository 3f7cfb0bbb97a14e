//! The pictures to learn from, and some of another kind.

use super::{
    ood_train,
    row::{heading, problem, text},
    validation,
};
use crate::window::{
    news::Wish,
    purpose::Purpose,
    shown::texture,
    survey::{DataView, Survey},
};
use bayesadapter::session::RunSettings;
use egui::{CollapsingHeader, RichText, TextureHandle, Ui, Vec2};

/// Points on a side of a picture.
const SIDE: f32 = 40.0;
/// Classes whose counts are shown.
const MOST_CLASSES: usize = 30;

/// The pictures that are shown, as textures.
#[derive(Default)]
pub struct Sheet(Vec<TextureHandle>);

impl Sheet {
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

pub fn ui(
    ui: &mut Ui,
    settings: &mut RunSettings,
    survey: Option<&Survey>,
    sheet: &mut Sheet,
    wishes: &mut Vec<Wish>,
) {
    heading(ui, "Data");
    let hint = "a folder, an archive, or digits";
    text(ui, "Data", hint, &mut settings.data.path).on_hover_text(
        "CIFAR-10 in its official layout (folder or tar.gz), IDX files such as MNIST's, a folder of pictures per \
         class, or `digits`, which come with the program.",
    );
    ui.horizontal(|ui| {
        if ui.button("Folder…").clicked() {
            wishes.push(Wish::Choose(Purpose::DataFolder));
        }
        if ui.button("Archive…").clicked() {
            wishes.push(Wish::Choose(Purpose::DataArchive));
        }
        if ui.button("Digits").clicked() {
            settings.data.path = "digits".to_owned();
        }
    });
    let explained = "Leave out pictures that are damaged, and say which. Otherwise the first of them ends the run.";
    ui.checkbox(
        &mut settings.data.skip_broken,
        "Skip pictures that cannot be read",
    )
    .on_hover_text(explained);
    match survey.map(|survey| &survey.data) {
        Some(Ok(view)) => overview(ui, view, sheet),
        Some(Err(error)) => problem(ui, error),
        None => {}
    }
    validation::ui(ui, &mut settings.data.validation);
    validation::seed(ui, settings);
    ui.add_space(8.0);
    strangers(ui, settings, survey, wishes);
    ui.add_space(8.0);
    ood_train::ui(ui, settings);
}

fn overview(ui: &mut Ui, view: &DataView, sheet: &mut Sheet) {
    ui.label(format!(
        "{} training images, {} for validation, {} test images, {} classes",
        view.train,
        view.validation,
        view.test,
        view.classes.len()
    ));
    if sheet.0.is_empty() {
        let pictures = view.pictures.iter();
        sheet.0 = pictures.map(|(_, picture)| texture(ui, picture)).collect();
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(4.0);
        for ((class, _), texture) in view.pictures.iter().zip(&sheet.0) {
            let size = texture.size_vec2();
            let size = size * (SIDE / size.max_elem().max(1.0));
            ui.image((texture.id(), size)).on_hover_text(class);
        }
    });
    if let Some(broken) = &view.broken {
        problem(ui, broken);
    }
    CollapsingHeader::new("Pictures of each class").show(ui, |ui| {
        let shown = view.classes.iter().take(MOST_CLASSES);
        let counts: Vec<String> = shown
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let more = view.classes.len().saturating_sub(MOST_CLASSES);
        let more = if more > 0 {
            format!(", and {more} more")
        } else {
            String::new()
        };
        ui.label(counts.join(", ") + &more);
    });
}

/// Pictures on which the network should be unsure.
fn strangers(
    ui: &mut Ui,
    settings: &mut RunSettings,
    survey: Option<&Survey>,
    wishes: &mut Vec<Wish>,
) {
    let mut path = settings
        .data
        .out_of_distribution
        .clone()
        .unwrap_or_default();
    ui.label("Pictures of another kind").on_hover_text(
        "On these the network should be unsure; how well it is, is part of the report.",
    );
    let hint = "none; or a folder, or scribbles";
    text(ui, "Pictures of another kind, path", hint, &mut path);
    settings.data.out_of_distribution = Some(path).filter(|path| !path.is_empty());
    ui.horizontal(|ui| {
        if ui.button("Another folder of pictures…").clicked() {
            wishes.push(Wish::Choose(Purpose::Strangers));
        }
        if settings.data.out_of_distribution.is_some() && ui.button("Without").clicked() {
            settings.data.out_of_distribution = None;
        }
    });
    match survey.and_then(|survey| survey.strangers.as_ref()) {
        Some(Ok(count)) => {
            ui.label(RichText::new(format!("{count} pictures")).weak());
        }
        Some(Err(error)) => problem(ui, error),
        None => {}
    }
}
