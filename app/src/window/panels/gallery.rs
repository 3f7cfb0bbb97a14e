//! Test pictures, with what the network said of them.

use super::Wish;
use crate::window::look;
use bayesadapter::{data::Picture, evaluate::Evaluation};
use egui::{RichText, ScrollArea, TextStyle, TextureHandle, TextureOptions, Ui, Vec2, WidgetText};

/// Pictures that are fetched at once.
const MOST: usize = 200;
/// Points on a side of a picture.
const SIDE: f32 = 56.0;
/// Room for a picture with its frame and its words.
const CELL: Vec2 = Vec2::new(SIDE + 8.0, SIDE + 26.0);
const GAP: f32 = 6.0;

/// The pictures that are looked at, if any are.
#[derive(Default)]
pub struct Gallery {
    open: Option<Open>,
}

struct Open {
    /// Which of the bars was opened.
    bar: usize,
    title: String,
    positions: Vec<usize>,
    pictures: Vec<(usize, Picture)>,
    textures: Vec<TextureHandle>,
}

impl Gallery {
    /// The bar whose pictures are shown.
    pub fn bar(&self) -> Option<usize> {
        self.open.as_ref().map(|open| open.bar)
    }

    pub fn close(&mut self) {
        self.open = None;
    }

    /// Asks for the pictures behind a bar, in this order.
    pub fn open(&mut self, bar: usize, title: String, mut positions: Vec<usize>) -> Option<Wish> {
        positions.truncate(MOST);
        let wish = (!positions.is_empty()).then(|| Wish::Pictures(positions.clone()));
        self.open = Some(Open {
            bar,
            title,
            positions,
            pictures: Vec::new(),
            textures: Vec::new(),
        });
        wish
    }

    /// Takes the pictures up, if they are those that it asked for.
    pub fn fill(&mut self, pictures: &[(usize, Picture)]) {
        let found = pictures.iter().map(|(at, _)| at);
        if let Some(open) = &mut self.open
            && found.eq(&open.positions)
        {
            open.pictures = pictures.to_vec();
            open.textures.clear();
        }
    }

    /// Draws the pictures; `hint` says how to get some.
    pub fn ui(&mut self, ui: &mut Ui, hint: &str, evaluation: &Evaluation) {
        let Some(open) = &mut self.open else {
            ui.label(RichText::new(hint).weak());
            return;
        };
        look::title(ui, &open.title, "Wrong answers have a coloured frame.");
        if open.positions.is_empty() {
            ui.label("There are no pictures here.");
        }
        if open.textures.is_empty() {
            let pictures = open.pictures.iter();
            open.textures = pictures.map(|(_, picture)| texture(ui, picture)).collect();
        }
        let uncertainty = evaluation.examples.uncertainty(evaluation.ranked_by);
        let per_row = ((ui.available_width() / (CELL.x + GAP)) as usize).max(1);
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        let rows = open.pictures.len().div_ceil(per_row);
        let scroll = ScrollArea::vertical().auto_shrink(false);
        scroll.show_rows(ui, CELL.y, rows, |ui, range| {
            for row in range {
                ui.horizontal(|ui| {
                    let shown = open.pictures.iter().zip(&open.textures);
                    for ((at, _), texture) in shown.skip(row * per_row).take(per_row) {
                        let value = uncertainty.get(*at).copied().unwrap_or_default();
                        one(ui, evaluation, *at, value, texture);
                    }
                });
            }
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
    let [truth, said] = [label, predicted].map(|class| evaluation.class_name(class));
    let hover = format!(
        "It is {truth}; the network says {said} with {:.1} % confidence. {}: {uncertainty:.4}",
        100.0 * confidence,
        evaluation.ranked_by
    );
    let right = label == predicted;
    let words = match right {
        true => truth,
        false => format!("{said}, not {truth}"),
    };
    framed(ui, texture, &words, right, &hover);
}

/// A picture in a frame that says whether the answer is right, with words below.
pub fn framed(ui: &mut Ui, texture: &TextureHandle, words: &str, right: bool, hover: &str) {
    let ink = look::of_answer(right).on(ui);
    let (area, response) = ui.allocate_exact_size(CELL, egui::Sense::hover());
    let picture = egui::Rect::from_min_size(area.min, Vec2::splat(CELL.x)).shrink(4.0);
    let size = texture.size_vec2();
    let size = size * (SIDE / size.max_elem().max(1.0));
    let inside = egui::Rect::from_center_size(picture.center(), size);
    egui::Image::new((texture.id(), size)).paint_at(ui, inside);
    let stroke = egui::Stroke::new(2.0, ink);
    let outside = egui::StrokeKind::Outside;
    ui.painter()
        .rect_stroke(picture.expand(1.0), 2.0, stroke, outside);
    let truncated = Some(egui::TextWrapMode::Truncate);
    let words = WidgetText::from(RichText::new(words).small());
    let words = words.into_galley(ui, truncated, CELL.x, TextStyle::Small);
    let left = area.center().x - 0.5 * words.size().x;
    let colour = ui.visuals().text_color();
    let below = egui::pos2(left, picture.bottom() + 6.0);
    ui.painter().galley(below, words, colour);
    response.on_hover_text(hover);
}

/// A picture as a texture.
pub fn texture(ui: &Ui, picture: &Picture) -> TextureHandle {
    let rgb = picture.with_channels(3);
    let image = egui::ColorImage::from_rgb([rgb.width, rgb.height], &rgb.pixels);
    ui.ctx()
        .load_texture("picture", image, TextureOptions::NEAREST)
}
