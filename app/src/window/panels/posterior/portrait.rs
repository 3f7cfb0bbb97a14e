//! One layer: kernels, histograms, factors.

use super::{super::drawings, Wish, table::short};
use crate::{
    picture,
    report::Tiles,
    window::{
        look::{BLUE, GREEN, Ink, QUIET, VERMILION, terms},
        take_away,
    },
};
use bayesadapter::{
    evaluate::{KernelPosterior, LayerPosterior},
    metrics::Histogram,
};
use egui::{ColorImage, Rect, RichText, TextureHandle, TextureOptions, Ui, Vec2, pos2};
use image::RgbImage;
use std::sync::Arc;

/// Points on a side of a kernel, here and below on a small display.
const KERNEL_SIDE: f32 = 44.0;
/// Points that a row of factors is high, and a factor at most wide.
const FACTOR_ROW: f32 = 5.0;
const FACTOR_WIDTH: f32 = 12.0;
/// Points that a histogram is high.
const HISTOGRAM: f32 = 140.0;

const KERNELS: &str = "What each output of the layer looks for: a picture per output.";

/// A layer with its pictures, which are made when they are first drawn.
pub struct Portrait {
    layer: Arc<LayerPosterior>,
    /// How much larger everything is than on a small display.
    pub scale: f32,
    kernels: Option<Kernels>,
    /// With what their shades stand for.
    factors: Option<[(TextureHandle, String); 2]>,
}

/// Mean and standard deviation of kernels, and what their shades stand for.
struct Kernels {
    mean: Strip,
    std: Strip,
    /// The mean that is white.
    largest: f32,
    scale_of_std: String,
}

/// Kernels side by side in one texture.
pub struct Strip {
    texture: TextureHandle,
    count: usize,
}

impl Portrait {
    pub fn new(layer: Arc<LayerPosterior>) -> Self {
        Self {
            layer,
            scale: 1.0,
            kernels: None,
            factors: None,
        }
    }

    pub fn path(&self) -> &str {
        &self.layer.path
    }

    /// Mean beside standard deviation; a drawn network takes the place of the mean.
    pub fn kernels(
        &mut self,
        ui: &mut Ui,
        drawn: Option<DrawnKernels<'_>>,
        wishes: &mut Vec<Wish>,
    ) {
        let layer = short(&self.layer.path);
        let name = RichText::new(layer).size(17.0).strong();
        let Some(kernels) = &self.layer.kernels else {
            ui.label(name);
            ui.label(RichText::new("No convolution, so there are no kernels to show.").weak());
            return;
        };
        ui.horizontal(|ui| {
            ui.label(name);
            ui.label(RichText::new(picture::kernels_in_words(kernels)).weak());
        });
        let pictures = self
            .kernels
            .get_or_insert_with(|| Kernels::new(ui, kernels));
        let largest = pictures.largest;
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            let (who, shown, strip) = match drawn {
                Some(drawn) => {
                    let (who, shown) = (format!("Draw {}", drawn.draw), drawn.kernels);
                    (who, shown, drawn.into_strip(left, largest))
                }
                None => ("Mean".to_owned(), kernels, &pictures.mean),
            };
            let text = format!("{who}: {}", picture::scale_of_means(largest));
            take_away::title(left, &text, KERNELS, wishes, || {
                Tiles::of_means(format!("{who} of the kernels of {layer}"), shown, largest)
            });
            strip.show(left, self.scale);
            let text = format!("Standard deviation: {}", pictures.scale_of_std);
            take_away::title(right, &text, terms::SPREAD, wishes, || {
                let title = format!("Standard deviation of the kernels of {layer}");
                Tiles::of_deviations(title, kernels)
            });
            pictures.std.show(right, self.scale);
        });
        ui.add_space(6.0);
    }

    pub fn histograms(&self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let layer = &self.layer;
        let spread = layer.spread.as_ref();
        let movement = layer.movement.as_ref();
        let moved = movement.map(|movement| 100.0 * movement.share);
        let moved = moved.map_or(String::new(), |moved| format!("Moved, {moved:.1} % in all"));
        let logarithm = "powers of ten";
        let all: [(&str, &str, &str, Option<&Histogram>, Ink); 4] = [
            (
                "Means",
                "Where the means of the weights lie.",
                "value",
                Some(&layer.mean),
                BLUE,
            ),
            (
                "Deviations",
                terms::SPREAD,
                logarithm,
                spread.map(|spread| &spread.std),
                VERMILION,
            ),
            (
                "Signal to noise",
                terms::SIGNAL_TO_NOISE,
                logarithm,
                spread.map(|spread| &spread.signal_to_noise),
                GREEN,
            ),
            (
                &moved,
                terms::MOVEMENT,
                "value",
                movement.map(|movement| &movement.elements),
                QUIET,
            ),
        ];
        let shown: Vec<_> = all
            .into_iter()
            .filter_map(|(title, explained, x_label, histogram, ink)| {
                Some((title, explained, x_label, histogram?, ink))
            })
            .collect();
        ui.label(RichText::new("Shares of the weights, %").weak());
        ui.columns(shown.len(), |columns| {
            for (ui, (title, explained, x_label, histogram, ink)) in columns.iter_mut().zip(shown) {
                let series = vec![drawings::shares(title, ink, histogram)];
                let drawing = drawings::drawing(title, x_label, "weights, %", series);
                let height = self.scale * HISTOGRAM;
                take_away::plot(ui, drawing, explained, height, None, wishes);
            }
        });
        ui.add_space(8.0);
    }

    /// The factors of an ensemble, a row for each of its networks.
    pub fn factors(&mut self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let Some(factors) = &self.layer.factors else {
            return;
        };
        let layer = short(&self.layer.path);
        let sides = self.factors.get_or_insert_with(|| {
            picture::factors(factors).map(|map| (texture(ui, &map.picture), map.scale()))
        });
        let explained = format!(
            "Factors of the {} networks, a row each: grey leaves the shared weight as it is",
            factors.components
        );
        ui.label(RichText::new(explained).weak());
        let height = self.scale * FACTOR_ROW * factors.components as f32;
        ui.columns(2, |columns| {
            let names = ["By input", "By output"];
            for (at, (ui, (texture, scale))) in columns.iter_mut().zip(sides).enumerate() {
                let text = format!("{}: {scale}", names[at]);
                take_away::title(ui, &text, terms::FACTORS, wishes, || {
                    let [by_input, by_output] = Tiles::of_factors(layer, factors);
                    if at == 0 { by_input } else { by_output }
                });
                let wide = self.scale * texture.size_vec2().x * FACTOR_WIDTH;
                let size = Vec2::new(wide.min(ui.available_width()), height);
                ui.image((texture.id(), size));
            }
        });
    }
}

impl Kernels {
    fn new(ui: &Ui, kernels: &KernelPosterior) -> Self {
        let largest = picture::largest(&kernels.mean);
        Self {
            mean: Strip::of_means(ui, kernels, largest),
            std: Strip::new(ui, &picture::deviations(kernels)),
            largest,
            scale_of_std: picture::scale_of_deviations(kernels),
        }
    }
}

/// Kernels of a drawn network, and the place of their picture.
pub struct DrawnKernels<'a> {
    pub draw: u32,
    pub kernels: &'a KernelPosterior,
    pub strip: &'a mut Option<Strip>,
}

impl<'a> DrawnKernels<'a> {
    /// The picture, in the scale of the mean, so that the two compare.
    fn into_strip(self, ui: &Ui, largest: f32) -> &'a Strip {
        let make = || Strip::of_means(ui, self.kernels, largest);
        self.strip.get_or_insert_with(make)
    }
}

impl Strip {
    fn of_means(ui: &Ui, kernels: &KernelPosterior, largest: f32) -> Self {
        Self::new(ui, &picture::centred(kernels.shape, &kernels.mean, largest))
    }

    fn new(ui: &Ui, kernels: &[RgbImage]) -> Self {
        let (width, height) = kernels.first().map_or((1, 1), RgbImage::dimensions);
        let mut strip = RgbImage::new(width * kernels.len().max(1) as u32, height);
        for (at, kernel) in kernels.iter().enumerate() {
            image::imageops::replace(&mut strip, kernel, i64::from(width) * at as i64, 0);
        }
        Self {
            texture: texture(ui, &strip),
            count: kernels.len(),
        }
    }

    /// In rows.
    fn show(&self, ui: &mut Ui, scale: f32) {
        let side = scale * KERNEL_SIDE;
        let step = side + 4.0;
        let rows = self
            .count
            .div_ceil(((ui.available_width() / step) as usize).max(1));
        // As many in the last row as in the others, if that can be.
        let per_row = self.count.div_ceil(rows.max(1)).max(1);
        let size = Vec2::new(per_row.min(self.count) as f32, rows as f32) * step;
        let (area, _) = ui.allocate_exact_size(size, egui::Sense::hover());
        let share = 1.0 / self.count.max(1) as f32;
        for at in 0..self.count {
            let place = Vec2::new((at % per_row) as f32, (at / per_row) as f32) * step;
            let square = Rect::from_min_size(area.min + place, Vec2::splat(side));
            let (left, right) = (at as f32 * share, (at + 1) as f32 * share);
            let part = Rect::from_min_max(pos2(left, 0.0), pos2(right, 1.0));
            let white = egui::Color32::WHITE;
            ui.painter().image(self.texture.id(), square, part, white);
        }
    }
}

fn texture(ui: &Ui, picture: &RgbImage) -> TextureHandle {
    let size = [picture.width() as usize, picture.height() as usize];
    let image = ColorImage::from_rgb(size, picture);
    ui.ctx()
        .load_texture("weights", image, TextureOptions::NEAREST)
}
