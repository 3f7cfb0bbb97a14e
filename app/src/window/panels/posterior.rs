//! What a posterior looks like: kernels, and how far each layer spreads.

use super::{News, Panel, Wish};
use crate::{
    picture,
    window::{
        look::{self, terms},
        worker::View,
    },
};
use bayesadapter::evaluate::KernelPosterior;
use egui::{ComboBox, Grid, RichText, ScrollArea, TextureHandle, TextureOptions, Ui, Vec2};
use std::sync::Arc;

/// Kernels that are shown of a layer; more are too small to see.
const MOST_KERNELS: usize = 256;
/// Points on a side of a kernel, at most.
const KERNEL_SIDE: f32 = 56.0;

/// The panel.
#[derive(Default)]
pub struct Posterior {
    view: Option<Arc<View>>,
    kernels: Option<KernelPosterior>,
    /// Pictures of the kernels, mean and standard deviation; made when they are first drawn.
    textures: Option<[Vec<TextureHandle>; 2]>,
}

impl Panel for Posterior {
    fn name(&self) -> &'static str {
        "Posterior"
    }

    fn about(&self) -> &'static str {
        "What the posterior looks like: kernels with their uncertainty, and how far each layer spreads."
    }

    fn on_news(&mut self, news: &News) {
        match news {
            News::Opened(view) => {
                self.kernels = view.kernels.clone();
                self.view = Some(Arc::clone(view));
                self.textures = None;
            }
            News::Kernels(kernels) => {
                self.kernels = Some(kernels.clone());
                self.textures = None;
            }
            _ => {}
        }
    }

    fn ui(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let Some(view) = self.view.clone() else {
            look::nothing_yet(
                ui,
                "No posterior yet. It appears here when the first run ends, or when you open a file.",
            );
            return;
        };
        ui.label(RichText::new(&view.about).strong())
            .on_hover_text(super::training::explained(view.method));
        ui.label(RichText::new(view.path.display().to_string()).weak());
        ui.add_space(6.0);
        self.kernels(ui, &view, wishes);
        ui.add_space(10.0);
        table(ui, &view);
    }
}

impl Posterior {
    fn kernels(&mut self, ui: &mut Ui, view: &View, wishes: &mut Vec<Wish>) {
        let Some(kernels) = &self.kernels else {
            ui.label("This network has no convolution, so there are no kernels to show.");
            return;
        };
        ui.horizontal(|ui| {
            let name = ui.label("Convolution");
            let chosen = ComboBox::from_id_salt("convolution")
                .selected_text(&kernels.path)
                .show_ui(ui, |ui| {
                    for path in &view.convolutions {
                        if ui.selectable_label(*path == kernels.path, path).clicked() {
                            wishes.push(Wish::Kernels(path.clone()));
                        }
                    }
                });
            chosen.response.labelled_by(name.id);
            ui.label(RichText::new(in_words(kernels)).weak());
        });
        let (mean, std) = (
            picture::largest(&kernels.mean),
            picture::largest(&kernels.std),
        );
        let titles = [
            format!(
                "Mean, from {:.3} (black) over 0 (grey) to {mean:.3} (white)",
                -mean
            ),
            match std > f32::MIN_POSITIVE {
                true => format!("Standard deviation, from 0 (black) to {std:.2e} (white)"),
                false => "Standard deviation: 0, these weights are points".to_owned(),
            },
        ];
        let pictures = self.textures.get_or_insert_with(|| textures(ui, kernels));
        let room = 0.42 * ui.available_height();
        ui.columns(2, |columns| {
            for ((ui, title), pictures) in columns.iter_mut().zip(titles).zip(pictures) {
                ui.label(&title);
                ScrollArea::vertical()
                    .id_salt(&title)
                    .max_height(room)
                    .show(ui, |ui| sheet(ui, pictures));
            }
        });
    }
}

fn in_words(kernels: &KernelPosterior) -> String {
    let [outputs, inputs, height, width] = kernels.shape;
    let shown = match outputs > MOST_KERNELS {
        true => format!(", the first {MOST_KERNELS} shown"),
        false => String::new(),
    };
    let colours = match inputs {
        1 => "",
        3 => ", in colours",
        _ => ", of their first input",
    };
    format!("{outputs} kernels of {inputs} x {height} x {width}{colours}{shown}")
}

fn textures(ui: &Ui, kernels: &KernelPosterior) -> [Vec<TextureHandle>; 2] {
    picture::mean_and_std(kernels).map(|row| {
        let shown = row.iter().take(MOST_KERNELS);
        let texture = |image: &image::RgbImage| {
            let size = [image.width() as usize, image.height() as usize];
            let image = egui::ColorImage::from_rgb(size, image);
            ui.ctx()
                .load_texture("kernel", image, TextureOptions::NEAREST)
        };
        shown.map(texture).collect()
    })
}

/// As many beside each other as there is room for.
fn sheet(ui: &mut Ui, pictures: &[TextureHandle]) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(4.0);
        for picture in pictures {
            let size = picture.size_vec2();
            let scale = KERNEL_SIDE / size.max_elem().max(1.0);
            ui.image((picture.id(), size * scale));
        }
    });
}

fn table(ui: &mut Ui, view: &View) {
    look::title(ui, "Layers", terms::SPREAD);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Grid::new("layers")
            .striped(true)
            .num_columns(5)
            .spacing([28.0, 4.0])
            .show(ui, |ui| {
                for (name, explained) in [
                    ("parameter", "Path in the network."),
                    ("shape", "Elements along each axis."),
                    ("mean", "Average of its elements."),
                    ("deviation", "Standard deviation of its elements."),
                    ("spread", terms::SPREAD),
                ] {
                    ui.label(RichText::new(name).weak())
                        .on_hover_text(explained);
                }
                ui.end_row();
                for one in &view.summaries {
                    let shape: Vec<String> = one.shape.iter().map(usize::to_string).collect();
                    let spread = one.spread.map(|spread| format!("{spread:.2e}"));
                    ui.label(&one.path);
                    ui.label(shape.join(" x "));
                    ui.monospace(format!("{:>8.4}", one.mean));
                    ui.monospace(format!("{:>8.4}", one.std));
                    ui.monospace(spread.unwrap_or_else(|| "point".to_owned()));
                    ui.end_row();
                }
            });
    });
}
