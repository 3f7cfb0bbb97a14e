//! Test pictures, with what the network said of them.

use super::{News, Wish};
use crate::window::{
    album::{Album, TestData, Wanted},
    look, shown,
};
use bayesadapter::evaluate::Evaluation;
use egui::{RichText, ScrollArea, TextStyle, TextureHandle, Ui, Vec2, WidgetText};
use std::{ops::Range, sync::Arc};

/// Pictures that are fetched at once; the others are on further pages.
const PAGE: usize = 200;
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

/// Pictures that belong together.
pub struct Content {
    /// Which of the bars they are behind.
    pub bar: usize,
    pub title: String,
    /// The order of the positions, and the other way round.
    pub orders: [&'static str; 2],
    pub positions: Vec<usize>,
}

struct Open {
    content: Content,
    /// The number of each of them among the test pictures.
    numbers: Vec<usize>,
    /// How unsure the network is of each of them.
    uncertainty: Vec<f64>,
    data: Option<TestData>,
    /// How many test pictures there were when the network was judged.
    there_were: usize,
    /// The other way round.
    reversed: bool,
    page: usize,
    album: Option<Arc<Album>>,
    /// Of the pictures that were seen.
    textures: Vec<Option<TextureHandle>>,
}

impl Gallery {
    /// The bar whose pictures are shown.
    pub fn bar(&self) -> Option<usize> {
        self.open.as_ref().map(|open| open.content.bar)
    }

    pub fn close(&mut self) {
        self.open = None;
    }

    /// Asks for pictures that a network was judged on.
    pub fn open(
        &mut self,
        content: Content,
        evaluation: &Evaluation,
        data: Option<&TestData>,
    ) -> Option<Wish> {
        let positions = content.positions.iter().copied();
        let uncertainty = evaluation.examples.uncertainty(evaluation.ranked_by);
        let of = |at: usize| uncertainty.get(at).copied().unwrap_or_default();
        let open = self.open.insert(Open {
            numbers: positions
                .clone()
                .map(|at| evaluation.picture_of(at))
                .collect(),
            uncertainty: positions.map(of).collect(),
            content,
            data: data.map(|data| TestData {
                set: evaluation.set,
                ..data.clone()
            }),
            there_were: evaluation.test_pictures(),
            reversed: false,
            page: 0,
            album: None,
            textures: Vec::new(),
        });
        open.ask()
    }

    /// Takes up pictures that it asked for; those of networks that are shown no more are put away.
    pub fn on_news(&mut self, news: &News, others_are_shown: bool) {
        if others_are_shown {
            self.close();
        }
        if let (News::Pictures(album), Some(open)) = (news, &mut self.open)
            && open.wanted().as_ref() == Some(&album.wanted)
        {
            open.textures = vec![None; album.wanted.positions.len()];
            open.album = Some(Arc::clone(album));
        }
    }

    /// Draws the pictures; `hint` says how to get some.
    pub fn ui(&mut self, ui: &mut Ui, hint: &str, evaluation: &Evaluation, wishes: &mut Vec<Wish>) {
        let Some(open) = &mut self.open else {
            ui.label(RichText::new(hint).weak());
            return;
        };
        let explained = "Wrong answers have a coloured frame.";
        look::title(ui, &open.content.title, explained);
        match (open.content.positions.len(), &open.data) {
            (0, _) => {
                ui.label("There are no pictures here.");
            }
            (_, None) => {
                ui.label(
                    "What data these pictures are of is not known; only the numbers can be shown.",
                );
            }
            _ => {
                wishes.extend(open.turn_pages(ui));
                open.pictures(ui, evaluation);
            }
        }
    }
}

impl Open {
    fn pages(&self) -> usize {
        self.content.positions.len().div_ceil(PAGE).max(1)
    }

    /// Places of this page among all.
    fn places(&self) -> Range<usize> {
        let first = self.page * PAGE;
        first..(first + PAGE).min(self.content.positions.len())
    }

    /// Those of this page, among all.
    fn on_page<T: Copy>(&self, all: &[T]) -> Vec<T> {
        let all = all.iter().copied();
        let (skip, take) = (self.page * PAGE, PAGE);
        match self.reversed {
            true => all.rev().skip(skip).take(take).collect(),
            false => all.skip(skip).take(take).collect(),
        }
    }

    /// The pictures of this page.
    fn wanted(&self) -> Option<Wanted> {
        let positions = self.on_page(&self.numbers);
        let data = self.data.clone().filter(|_| !positions.is_empty())?;
        Some(Wanted {
            data,
            there_were: self.there_were,
            positions,
        })
    }

    fn ask(&mut self) -> Option<Wish> {
        self.album = None;
        self.wanted().map(Wish::Pictures)
    }

    /// Which pictures are shown, and the way to the others.
    fn turn_pages(&mut self, ui: &mut Ui) -> Option<Wish> {
        let before = (self.page, self.reversed);
        ui.horizontal(|ui| {
            for (reversed, order) in [false, true].into_iter().zip(self.content.orders) {
                if ui
                    .selectable_label(self.reversed == reversed, order)
                    .clicked()
                {
                    (self.reversed, self.page) = (reversed, 0);
                }
            }
            if self.pages() == 1 {
                return;
            }
            ui.separator();
            let back = ui.add_enabled(self.page > 0, egui::Button::new("Back"));
            if back.clicked() {
                self.page -= 1;
            }
            let more = self.page + 1 < self.pages();
            if ui.add_enabled(more, egui::Button::new("Next")).clicked() {
                self.page += 1;
            }
            let (places, all) = (self.places(), self.content.positions.len());
            ui.label(format!("{} to {} of {all}", places.start + 1, places.end));
        });
        match before == (self.page, self.reversed) {
            true => None,
            false => self.ask(),
        }
    }

    fn pictures(&mut self, ui: &mut Ui, evaluation: &Evaluation) {
        let Some(album) = &self.album else {
            ui.label(RichText::new("The pictures are being fetched.").weak());
            return;
        };
        let pictures = match &album.pictures {
            Ok(pictures) => pictures,
            Err(reason) => {
                ui.label(reason);
                return;
            }
        };
        let positions = self.on_page(&self.content.positions);
        let uncertainty = self.on_page(&self.uncertainty);
        let examples: Vec<(usize, f64)> = positions.into_iter().zip(uncertainty).collect();
        let per_row = ((ui.available_width() / (CELL.x + GAP)) as usize).max(1);
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        let rows = pictures.len().div_ceil(per_row);
        // Every page begins at its first row.
        let scroll = ScrollArea::vertical().id_salt((self.page, self.reversed));
        scroll
            .auto_shrink(false)
            .show_rows(ui, CELL.y, rows, |ui, range| {
                for row in range {
                    ui.horizontal(|ui| {
                        let cells = examples.iter().zip(pictures).zip(&mut self.textures);
                        let cells = cells.skip(row * per_row).take(per_row);
                        for ((&(at, uncertainty), picture), texture) in cells {
                            match picture {
                                Ok(picture) => {
                                    let texture =
                                        texture.get_or_insert_with(|| shown::texture(ui, picture));
                                    one(ui, evaluation, at, uncertainty, texture);
                                }
                                Err(reason) => framed(ui, None, "unreadable", false, reason),
                            }
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
    framed(ui, Some(texture), &words, right, &hover);
}

/// A picture in a frame that says whether the answer is right, with words below.
pub fn framed(ui: &mut Ui, texture: Option<&TextureHandle>, words: &str, right: bool, hover: &str) {
    let ink = look::of_answer(right).on(ui);
    let (area, response) = ui.allocate_exact_size(CELL, egui::Sense::hover());
    let picture = egui::Rect::from_min_size(area.min, Vec2::splat(CELL.x)).shrink(4.0);
    if let Some(texture) = texture {
        let size = texture.size_vec2();
        let size = size * (SIDE / size.max_elem().max(1.0));
        let inside = egui::Rect::from_center_size(picture.center(), size);
        egui::Image::new((texture.id(), size)).paint_at(ui, inside);
    }
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
