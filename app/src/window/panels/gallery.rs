//! The pictures of a bucket, from the surest to the least sure.

use super::Wish;
use crate::window::look::{self, QUIET, VERMILION};
use bayesadapter::{data::Picture, evaluate::Evaluation, metrics::UncertaintyBucket};
use egui::{RichText, ScrollArea, TextureHandle, TextureOptions, Ui, Vec2};

/// Pictures that are fetched of a bucket.
const MOST: usize = 200;
/// Points on a side of a picture.
const SIDE: f32 = 52.0;

/// The bucket that is open, if one is.
#[derive(Default)]
pub struct Gallery {
    bucket: Option<usize>,
    pictures: Vec<(usize, Picture)>,
    textures: Vec<TextureHandle>,
}

impl Gallery {
    pub fn bucket(&self) -> Option<usize> {
        self.bucket
    }

    pub fn close(&mut self) {
        *self = Self::default();
    }

    /// Opens a bucket, and asks for its pictures.
    pub fn open(&mut self, at: usize, bucket: &UncertaintyBucket) -> Option<Wish> {
        self.close();
        self.bucket = Some(at);
        let positions: Vec<usize> = bucket.indices.iter().copied().take(MOST).collect();
        (!positions.is_empty()).then_some(Wish::Pictures(positions))
    }

    pub fn fill(&mut self, pictures: &[(usize, Picture)]) {
        self.pictures = pictures.to_vec();
        self.textures.clear();
    }

    pub fn ui(&mut self, ui: &mut Ui, evaluation: &Evaluation) {
        let Some(bucket) = self.bucket else {
            look::title(ui, "Pictures of a bucket", "Click a bar above.");
            ui.label("Click a bar above to see its pictures.");
            return;
        };
        let title = format!("Pictures of bucket {}, from the surest", bucket + 1);
        look::title(ui, &title, "Wrong answers have a coloured frame.");
        if self.textures.is_empty() {
            let pictures = self.pictures.iter();
            self.textures = pictures.map(|(_, picture)| texture(ui, picture)).collect();
        }
        let uncertainty = evaluation.examples.uncertainty(evaluation.ranked_by);
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = Vec2::splat(6.0);
                for ((at, _), texture) in self.pictures.iter().zip(&self.textures) {
                    let value = uncertainty.get(*at).copied().unwrap_or_default();
                    one(ui, evaluation, *at, value, texture);
                }
            });
        });
    }
}

/// A picture with what was said of it.
fn one(ui: &mut Ui, evaluation: &Evaluation, at: usize, uncertainty: f64, texture: &TextureHandle) {
    let examples = &evaluation.examples;
    let (Some(&label), Some(&predicted), Some(confidence)) = (
        evaluation.labels.get(at),
        examples.predicted.get(at),
        examples.confidence.get(at),
    ) else {
        return;
    };
    let (truth, said) = (
        evaluation.class_name(label),
        evaluation.class_name(predicted),
    );
    let ink = if label == predicted { QUIET } else { VERMILION };
    let hover = format!(
        "It is {truth}; the network says {said} with {:.1} % confidence. {}: {uncertainty:.4}",
        100.0 * confidence,
        evaluation.ranked_by
    );
    let frame = egui::Frame::new()
        .stroke((2.0, ink.on(ui)))
        .inner_margin(2.0);
    let shown = frame.show(ui, |ui| {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing = Vec2::ZERO;
            let size = texture.size_vec2();
            ui.image((texture.id(), size * (SIDE / size.max_elem().max(1.0))));
            let text = match label == predicted {
                true => truth.clone(),
                false => format!("{said}, not {truth}"),
            };
            ui.set_max_width(SIDE);
            ui.add(egui::Label::new(RichText::new(text).small()).truncate());
        });
    });
    shown.response.on_hover_text(hover);
}

/// A picture as a texture.
pub fn texture(ui: &Ui, picture: &Picture) -> TextureHandle {
    let rgb = picture.with_channels(3);
    let image = egui::ColorImage::from_rgb([rgb.width, rgb.height], &rgb.pixels);
    ui.ctx()
        .load_texture("picture", image, TextureOptions::NEAREST)
}
