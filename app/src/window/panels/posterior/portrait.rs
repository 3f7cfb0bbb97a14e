//! One layer: kernels, histograms, factors.

use super::{super::drawings, Wish, table::short};
use crate::{
    picture,
    window::{
        look::{self, BLUE, GREEN, Ink, QUIET, VERMILION, terms},
        take_away,
    },
};
use bayesadapter::{
    evaluate::{KernelPosterior, LayerPosterior},
    metrics::Histogram,
};
use egui::{ColorImage, Rect, RichText, TextureHandle, TextureOptions, Ui, Vec2, pos2};
use image::RgbImage;

/// Kernels that are shown of a layer; more are too small to see.
const MOST_KERNELS: usize = 128;
/// Points on a side of a kernel.
const KERNEL_SIDE: f32 = 44.0;
/// Points that a row of factors is high, and a block of them at most wide.
const FACTOR_ROW: f32 = 5.0;

/// A layer with its pictures, which are made when they are first drawn.
pub struct Portrait {
    layer: LayerPosterior,
    kernels: Option<[Strip; 2]>,
    factors: Option<[TextureHandle; 2]>,
}

/// Kernels side by side in one texture.
pub struct Strip {
    texture: TextureHandle,
    count: usize,
}

impl Portrait {
    pub fn new(layer: LayerPosterior) -> Self {
        Self {
            layer,
            kernels: None,
            factors: None,
        }
    }

    pub fn path(&self) -> &str {
        &self.layer.path
    }

    /// Mean beside standard deviation; a drawn network takes the place of the mean.
    pub fn kernels(&mut self, ui: &mut Ui, drawn: Option<(u32, &mut DrawnKernels)>) {
        let name = RichText::new(short(&self.layer.path)).size(17.0).strong();
        let Some(kernels) = &self.layer.kernels else {
            ui.label(name);
            ui.label(RichText::new("No convolution, so there are no kernels to show.").weak());
            return;
        };
        ui.horizontal(|ui| {
            ui.label(name);
            ui.label(RichText::new(in_words(kernels)).weak());
        });
        let [mean, std] = [&kernels.mean, &kernels.std].map(|values| picture::largest(values));
        let strips = self.kernels.get_or_insert_with(|| {
            picture::mean_and_std(kernels).map(|pictures| Strip::new(ui, &pictures))
        });
        let spread = match std > f32::MIN_POSITIVE {
            true => format!("Standard deviation: black 0, white {std:.2e}"),
            false => "Standard deviation: 0, these weights are points".to_owned(),
        };
        let [of_mean, of_std] = strips;
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            let scale = format!("black {:.2}, grey 0, white {mean:.2}", -mean);
            match drawn {
                Some((draw, drawn)) => {
                    left.label(format!("Draw {draw}: {scale}"));
                    drawn.strip(left, mean).show(left);
                }
                None => {
                    left.label(format!("Mean: {scale}"));
                    of_mean.show(left);
                }
            }
            right.label(spread);
            of_std.show(right);
        });
        ui.add_space(6.0);
    }

    pub fn histograms(&self, ui: &mut Ui, wishes: &mut Vec<Wish>) {
        let layer = &self.layer;
        let spread = layer.spread.as_ref();
        let movement = layer.movement.as_ref();
        let moved = movement.map(|movement| 100.0 * movement.share);
        let moved = moved.map_or(String::new(), |moved| {
            format!("Moved by, {moved:.1} % in all")
        });
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
                take_away::plot(ui, drawing, explained, 140.0, None, wishes);
            }
        });
        ui.add_space(8.0);
    }

    /// The factors of an ensemble, a row for each of its networks.
    pub fn factors(&mut self, ui: &mut Ui) {
        let Some(factors) = &self.layer.factors else {
            return;
        };
        let title = format!(
            "Factors of the {} networks, a row each: grey leaves the shared weight as it is",
            factors.components
        );
        look::title(ui, &title, terms::FACTORS);
        let textures = self
            .factors
            .get_or_insert_with(|| picture::factors(factors).map(|picture| texture(ui, &picture)));
        let height = FACTOR_ROW * factors.components as f32;
        ui.columns(2, |columns| {
            let sides = ["by input", "by output"];
            for ((ui, side), texture) in columns.iter_mut().zip(sides).zip(textures) {
                ui.label(RichText::new(side).weak());
                let wide = texture.size_vec2().x * 12.0;
                let size = Vec2::new(wide.min(ui.available_width()), height);
                ui.image((texture.id(), size));
            }
        });
    }
}

/// Kernels of a drawn network, and their picture.
pub struct DrawnKernels {
    pub kernels: KernelPosterior,
    strip: Option<Strip>,
}

impl DrawnKernels {
    pub fn new(kernels: KernelPosterior) -> Self {
        let strip = None;
        Self { kernels, strip }
    }

    /// In the scale of the mean, so that the two compare.
    fn strip(&mut self, ui: &Ui, largest: f32) -> &Strip {
        self.strip.get_or_insert_with(|| {
            let kernels = &self.kernels;
            Strip::new(ui, &picture::centred(kernels.shape, &kernels.mean, largest))
        })
    }
}

impl Strip {
    fn new(ui: &Ui, kernels: &[RgbImage]) -> Self {
        let kernels = &kernels[..kernels.len().min(MOST_KERNELS)];
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

    /// As many beside each other as there is room for.
    fn show(&self, ui: &mut Ui) {
        let step = KERNEL_SIDE + 4.0;
        let per_row = ((ui.available_width() / step) as usize).max(1);
        let rows = self.count.div_ceil(per_row);
        let size = Vec2::new(per_row.min(self.count) as f32, rows as f32) * step;
        let (area, _) = ui.allocate_exact_size(size, egui::Sense::hover());
        let share = 1.0 / self.count.max(1) as f32;
        for at in 0..self.count {
            let place = Vec2::new((at % per_row) as f32, (at / per_row) as f32) * step;
            let square = Rect::from_min_size(area.min + place, Vec2::splat(KERNEL_SIDE));
            let (left, right) = (at as f32 * share, (at + 1) as f32 * share);
            let part = Rect::from_min_max(pos2(left, 0.0), pos2(right, 1.0));
            let white = egui::Color32::WHITE;
            ui.painter().image(self.texture.id(), square, part, white);
        }
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

fn texture(ui: &Ui, picture: &RgbImage) -> TextureHandle {
    let size = [picture.width() as usize, picture.height() as usize];
    let image = ColorImage::from_rgb(size, picture);
    ui.ctx()
        .load_texture("weights", image, TextureOptions::NEAREST)
}
