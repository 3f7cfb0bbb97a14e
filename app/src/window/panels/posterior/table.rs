//! The parameters of a network, of which one is looked at.

use crate::window::{
    look::{self, terms},
    worker::View,
};
use egui::{Grid, RichText, ScrollArea, Ui};

/// Of a posterior file, in a few numbers each.
pub fn of_file(ui: &mut Ui, view: &View, chosen: &mut Option<String>) {
    table(
        ui,
        &[("spread", terms::SPREAD), ("moved", terms::MOVEMENT)],
        |ui| {
            for one in &view.summaries {
                let moved = view.movements.get(&one.path);
                path(ui, &one.path, &one.shape, chosen);
                let spread = one.spread.map(|spread| format!("{spread:.1e}"));
                ui.label(spread.unwrap_or_else(|| "point".to_owned()));
                ui.label(moved.map_or(String::new(), |moved| format!("{:.1} %", 100.0 * moved)));
                ui.end_row();
            }
        },
    );
}

/// Of a run, whose numbers change.
pub fn live(ui: &mut Ui, layers: &[(String, Vec<usize>)], chosen: &mut Option<String>) {
    table(ui, &[], |ui| {
        for (name, shape) in layers {
            path(ui, name, shape, chosen);
            ui.end_row();
        }
    });
}

fn table(ui: &mut Ui, columns: &[(&str, &str)], rows: impl FnOnce(&mut Ui)) {
    ui.add_space(6.0);
    look::title(ui, "Layers: choose one", "The parameters of the network.");
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        Grid::new("layers")
            .striped(true)
            .spacing([16.0, 4.0])
            .show(ui, |ui| {
                let heads = [
                    ("parameter", "Path in the network."),
                    ("shape", "Elements along each axis."),
                ];
                for (name, explained) in heads.iter().chain(columns) {
                    ui.label(RichText::new(*name).weak())
                        .on_hover_text(*explained);
                }
                ui.end_row();
                rows(ui);
            });
    });
}

fn path(ui: &mut Ui, path: &str, shape: &[usize], chosen: &mut Option<String>) {
    let here = chosen.as_deref() == Some(path);
    if ui
        .selectable_label(here, short(path))
        .on_hover_text(path)
        .clicked()
    {
        *chosen = Some(path.to_owned());
    }
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    ui.label(shape.join(" x "));
}

/// A path without the name of the network, which all share.
pub fn short(path: &str) -> &str {
    path.split_once('.')
        .map_or(path, |(_, rest)| match rest.contains('.') {
            true => rest,
            false => path,
        })
}
