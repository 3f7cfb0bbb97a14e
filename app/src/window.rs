//! A window on the demo's posterior: its mean, its spread, and draw after draw.

use crate::picture;
use anyhow::{Result, anyhow};
use bayesadapter::showcase::{self, KernelDraws};
use eframe::egui;

/// Draws that the slider turns through.
const DRAWS: usize = 64;

/// Opens the window and returns when it is closed.
pub fn open() -> Result<()> {
    let kernels = showcase::kernel_draws(&burn::tensor::Device::flex(), DRAWS)?;
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size([900.0, 360.0]),
        ..Default::default()
    };
    let create = |_: &eframe::CreationContext| -> Result<Box<dyn eframe::App>, _> {
        Ok(Box::new(Window::new(kernels)))
    };
    eframe::run_native("BayesAdapter", options, Box::new(create)).map_err(|error| {
        anyhow!("no window can be opened here ({error}); `bayesadapter demo` needs none")
    })
}

struct Window {
    kernels: KernelDraws,
    draw: usize,
    shown: Option<(usize, Vec<egui::TextureHandle>)>,
}

impl Window {
    fn new(kernels: KernelDraws) -> Self {
        Self {
            kernels,
            draw: 0,
            shown: None,
        }
    }

    /// Mean, standard deviation and the chosen draw as one texture each.
    fn textures(&mut self, ctx: &egui::Context) -> &[egui::TextureHandle] {
        if self
            .shown
            .as_ref()
            .is_none_or(|(draw, _)| *draw != self.draw)
        {
            let rows = picture::rows(&self.kernels);
            let chosen = [0, 1, 2 + self.draw];
            let textures = chosen.iter().filter_map(|&row| rows.get(row)).map(|row| {
                let strip = picture::strip(row);
                let size = [strip.width() as usize, strip.height() as usize];
                let image = egui::ColorImage::from_rgb(size, &strip);
                ctx.load_texture("kernels", image, egui::TextureOptions::NEAREST)
            });
            self.shown = Some((self.draw, textures.collect()));
        }
        self.shown.as_ref().map_or(&[], |(_, textures)| textures)
    }
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        let last = self.kernels.draws.len().saturating_sub(1);
        ui.heading("A posterior over 16 kernels");
        ui.add(egui::Slider::new(&mut self.draw, 0..=last).text("draw"))
            .on_hover_text("Draw k is the same network on every device.");
        let width = ui.available_width();
        let names = ["mean", "standard deviation", "draw"];
        for (name, texture) in names.iter().zip(self.textures(ui.ctx())) {
            ui.label(*name);
            let size = texture.size_vec2();
            ui.image((texture.id(), size * (width / size.x)));
        }
    }
}
