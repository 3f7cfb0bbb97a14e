//! One setting with its name.

use egui::{DragValue, Grid, Response, RichText, TextEdit, Ui, emath::Numeric};
use std::ops::RangeInclusive;

/// A heading.
pub fn heading(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).size(16.0).strong());
    ui.add_space(4.0);
}

/// Settings under each other, each with its name beside it.
pub fn grid(ui: &mut Ui, id: &str, rows: impl FnOnce(&mut Ui)) {
    Grid::new(id)
        .num_columns(2)
        .spacing([14.0, 6.0])
        .show(ui, rows);
}

/// A row of a grid. The name is also what screen readers say of the widget.
pub fn row(ui: &mut Ui, name: &str, explained: &str, widget: impl FnOnce(&mut Ui) -> Response) {
    let label = ui.label(name).on_hover_text(explained);
    widget(ui).labelled_by(label.id).on_hover_text(explained);
    ui.end_row();
}

/// A row with a whole number.
pub fn whole<N: Numeric>(
    ui: &mut Ui,
    name: &str,
    explained: &str,
    value: &mut N,
    range: RangeInclusive<N>,
) {
    number(ui, name, explained, value, range, 0.2);
}

/// A row with a number, which changes by `speed` for every point that it is dragged.
pub fn number<N: Numeric>(
    ui: &mut Ui,
    name: &str,
    explained: &str,
    value: &mut N,
    range: RangeInclusive<N>,
    speed: f64,
) {
    row(ui, name, explained, |ui| {
        ui.add(within(value, range).speed(speed))
    });
}

/// A number that is kept within a range when the user changes it. Until then it stays as it is: a run file may have
/// others, and must not change by being looked at.
pub fn within<N: Numeric>(value: &mut N, range: RangeInclusive<N>) -> DragValue<'_> {
    DragValue::new(value)
        .range(range)
        .clamp_existing_to_range(false)
}

/// A row with a positive number whose order of magnitude matters.
pub fn rate(ui: &mut Ui, name: &str, explained: &str, value: &mut f64) {
    row(ui, name, explained, |ui| {
        let speed = (0.02 * *value).max(1e-9);
        let drag = within(value, 0.0..=100.0).speed(speed);
        ui.add(drag.custom_formatter(|value, _| format!("{value:e}")))
    });
}

/// A line of text that has a name of its own, for nothing beside it tells what it is.
pub fn text(ui: &mut Ui, name: &str, hint: &str, value: &mut String) -> Response {
    let edit = TextEdit::singleline(value).hint_text(hint);
    let width = ui.available_width().min(360.0);
    ui.add(edit.desired_width(width)).accessible_name(name)
}

/// A problem, where the user looks.
pub fn problem(ui: &mut Ui, text: &str) {
    ui.colored_label(ui.visuals().error_fg_color, text);
}
