//! What is on the page, by name and place: for tests, which cannot look into a canvas.

use egui::{Context, FullOutput, Plugin, accesskit};
use serde::Serialize;

/// A widget.
#[derive(Clone, Serialize)]
pub struct Place {
    pub label: String,
    /// Left, top, right and bottom, in the pixels of style sheets.
    pub rect: [f64; 4],
}

/// The widgets of the last frame.
#[derive(Default)]
pub struct Outline(pub Vec<Place>);

impl Plugin for Outline {
    fn debug_name(&self) -> &'static str {
        "outline"
    }

    fn setup(&mut self, ctx: &Context) {
        ctx.enable_accesskit();
    }

    fn output_hook(&mut self, _: &Context, output: &mut FullOutput) {
        if let Some(update) = &output.platform_output.accesskit_update {
            let nodes = update.nodes.iter();
            self.0 = nodes.filter_map(|(_, node)| place(node)).collect();
        }
    }
}

fn place(node: &accesskit::Node) -> Option<Place> {
    let bounds = node.bounds()?;
    Some(Place {
        label: node.label().or_else(|| node.value())?.to_owned(),
        rect: [bounds.x0, bounds.y0, bounds.x1, bounds.y1],
    })
}
