//! A place to draw a digit on, made into pixels as the digits of the data set were.

use bayesadapter::data::Picture;
use egui::{Color32, CornerRadius, Id, Pos2, Rect, Sense, Ui, Vec2, WidgetInfo, accesskit::Role};

/// Side of the picture, and of the finer grid whose cells are counted.
const SIDE: usize = 8;
const FINE: usize = 32;
const BLOCK: usize = FINE / SIDE;
/// Half the width of the pen, in cells.
const PEN: f32 = 1.7;

/// The name under which the place of the canvas can be looked up.
pub fn id() -> Id {
    Id::unique("canvas")
}

/// Which cells have ink.
pub struct Canvas {
    ink: [[bool; FINE]; FINE],
    /// Where the pen was, in cells, while it is down.
    pen: Option<Pos2>,
}

impl Default for Canvas {
    fn default() -> Self {
        Self {
            ink: [[false; FINE]; FINE],
            pen: None,
        }
    }
}

impl Canvas {
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn is_empty(&self) -> bool {
        !self.ink.iter().flatten().any(|&inked| inked)
    }

    /// Whether this is a picture of the drawing as it is, or as it was: until it is cleared, ink is only added.
    pub fn grew_from(&self, picture: &Picture) -> bool {
        let now = self.picture().pixels;
        let mut pixels = now.iter().zip(&picture.pixels);
        let same_size = now.len() == picture.pixels.len();
        !self.is_empty() && same_size && pixels.all(|(now, before)| before <= now)
    }

    /// Every pixel is the share of its cells that have ink.
    pub fn picture(&self) -> Picture {
        let pixel = |at: usize| {
            let (top, left) = (at / SIDE * BLOCK, at % SIDE * BLOCK);
            let rows = self.ink[top..top + BLOCK].iter();
            let cells = rows.flat_map(|row| &row[left..left + BLOCK]);
            (cells.filter(|&&inked| inked).count() * 255 / (BLOCK * BLOCK)) as u8
        };
        Picture {
            channels: 1,
            height: SIDE,
            width: SIDE,
            pixels: (0..SIDE * SIDE).map(pixel).collect(),
        }
    }

    /// Draws the canvas and follows the pen; returns whether there is new ink.
    pub fn ui(&mut self, ui: &mut Ui, side: f32) -> bool {
        let (_, area) = ui.allocate_space(Vec2::splat(side));
        let response = ui.interact(area, id(), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "Canvas"));
        let (painter, cell) = (ui.painter_at(area), side / FINE as f32);
        let down = response.is_pointer_button_down_on();
        let at = response.interact_pointer_pos().filter(|_| down);
        let at = at.map(|at| ((at - area.min) / cell).to_pos2());
        let mut changed = false;
        if let Some(to) = at {
            changed = self.stroke(self.pen.unwrap_or(to), to);
        }
        self.pen = at;
        painter.rect_filled(area, CornerRadius::same(4), Color32::BLACK);
        for (row, line) in self.ink.iter().enumerate() {
            for column in (0..FINE).filter(|&column| line[column]) {
                let corner = area.min + cell * Vec2::new(column as f32, row as f32);
                let square = Rect::from_min_size(corner, Vec2::splat(cell));
                painter.rect_filled(square, CornerRadius::ZERO, Color32::WHITE);
            }
        }
        changed
    }

    fn stroke(&mut self, from: Pos2, to: Pos2) -> bool {
        let steps = (2.0 * from.distance(to)).ceil().max(1.0) as usize;
        let mut changed = false;
        for step in 0..=steps {
            changed |= self.dot(from.lerp(to, step as f32 / steps as f32));
        }
        changed
    }

    fn dot(&mut self, pen: Pos2) -> bool {
        let mut changed = false;
        for (row, line) in self.ink.iter_mut().enumerate() {
            for (column, inked) in line.iter_mut().enumerate() {
                let cell = Pos2::new(column as f32 + 0.5, row as f32 + 0.5);
                if !*inked && cell.distance(pen) <= PEN {
                    *inked = true;
                    changed = true;
                }
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_is_counted_in_blocks() {
        let mut canvas = Canvas::default();
        assert!(canvas.is_empty());
        assert!(canvas.stroke(Pos2::new(2.0, 2.0), Pos2::new(30.0, 2.0)));
        assert!(!canvas.stroke(Pos2::new(2.0, 2.0), Pos2::new(30.0, 2.0)));
        let picture = canvas.picture();
        assert!(picture.pixels[..8].iter().all(|&pixel| pixel > 150));
        assert!(picture.pixels[8..].iter().all(|&pixel| pixel == 0));
    }

    #[test]
    fn a_drawing_knows_what_it_was_until_it_is_cleared() {
        let mut canvas = Canvas::default();
        let nothing = canvas.picture();
        assert!(!canvas.grew_from(&nothing));
        canvas.stroke(Pos2::new(2.0, 2.0), Pos2::new(30.0, 2.0));
        let stroke = canvas.picture();
        assert!(canvas.grew_from(&stroke));
        canvas.stroke(Pos2::new(2.0, 2.0), Pos2::new(2.0, 30.0));
        assert!(canvas.grew_from(&stroke));
        canvas.clear();
        assert!(!canvas.grew_from(&stroke));
        canvas.stroke(Pos2::new(2.0, 30.0), Pos2::new(30.0, 30.0));
        assert!(!canvas.grew_from(&stroke));
    }
}
