//! From network to network through the posterior: a slider, and what each network says.

use super::{
    super::gallery,
    portrait::{DrawnKernels, Strip},
};
use crate::window::{
    look::{self, terms},
    shown,
};
use bayesadapter::session::{Scrub, Scrubbed};
use egui::{Slider, TextureHandle, Ui};
use std::sync::Arc;

/// Draws of the slider where there is no end to them.
const DRAWS: u32 = 50;
/// Where the slider stands for the mean.
const MEAN: i64 = -1;

/// The network that is looked at.
pub struct Scrubber {
    /// The draw, or [`MEAN`].
    place: i64,
    drawn: Option<Drawn>,
}

struct Drawn {
    scrubbed: Arc<Scrubbed>,
    /// Of its kernels, once they were seen.
    strip: Option<Strip>,
    textures: Vec<TextureHandle>,
}

impl Default for Scrubber {
    fn default() -> Self {
        Self {
            place: MEAN,
            drawn: None,
        }
    }
}

impl Scrubber {
    pub fn take(&mut self, scrubbed: Arc<Scrubbed>) {
        // The pictures are the same for every draw of a file, or of a run.
        let textures = self.drawn.take().map(|drawn| drawn.textures);
        self.drawn = Some(Drawn {
            scrubbed,
            strip: None,
            textures: textures.unwrap_or_default(),
        });
    }

    /// Lets the user choose among so many draws, if there is an end to them, and the mean; returns the one that is
    /// chosen.
    pub fn slider(&mut self, ui: &mut Ui, different: Option<u32>, layer: &str) -> Scrub {
        let last = i64::from(different.unwrap_or(DRAWS)) - 1;
        // Another posterior may have had more.
        self.place = self.place.min(last);
        // Of one network there is nothing to choose.
        if last > 0 {
            ui.horizontal(|ui| {
                let name = ui
                    .label("Network out of the posterior")
                    .on_hover_text(terms::DRAWS);
                ui.spacing_mut().slider_width = 320.0;
                let slider = Slider::new(&mut self.place, MEAN..=last)
                    .custom_formatter(|place, _| match place < 0.0 {
                        true => "mean".to_owned(),
                        false => format!("draw {place}"),
                    })
                    .custom_parser(|text| text.trim_start_matches("draw").trim().parse().ok());
                ui.add(slider).labelled_by(name.id);
            });
            ui.add_space(4.0);
        }
        Scrub {
            draw: u32::try_from(self.place).ok(),
            layer: layer.to_owned(),
        }
    }

    /// Whether a draw is shown, and not the mean.
    #[cfg(not(target_family = "wasm"))]
    pub fn shows_draw(&self) -> bool {
        let drawn = self.drawn.as_ref();
        drawn.is_some_and(|drawn| drawn.scrubbed.scrub.draw.is_some())
    }

    /// The kernels of the draw in this layer; none for the mean.
    pub fn kernels(&mut self, layer: &str) -> Option<DrawnKernels<'_>> {
        let drawn = self.drawn.as_mut()?;
        let kernels = drawn.scrubbed.kernels.as_ref();
        Some(DrawnKernels {
            draw: drawn.scrubbed.scrub.draw?,
            kernels: kernels.filter(|kernels| kernels.path == layer)?,
            strip: &mut drawn.strip,
        })
    }

    /// What the network says of a few test pictures; `which` tells which ones they are.
    pub fn answers(&mut self, ui: &mut Ui, which: &str) {
        let Some(drawn) = &mut self.drawn else {
            return;
        };
        let answers = &drawn.scrubbed.answers;
        if answers.is_empty() {
            return;
        }
        let who = match drawn.scrubbed.scrub.draw {
            Some(draw) => format!("What draw {draw} says"),
            None => "What the mean network says".to_owned(),
        };
        let explained = "Wrong answers have a coloured frame.";
        look::title(ui, &format!("{who} of {which}"), explained);
        if drawn.textures.is_empty() {
            let pictures = answers.iter();
            drawn.textures = pictures
                .map(|answer| shown::texture(ui, &answer.picture))
                .collect();
        }
        ui.horizontal_wrapped(|ui| {
            for (answer, texture) in answers.iter().zip(&drawn.textures) {
                let percent = 100.0 * answer.probability;
                let words = format!("{}, {percent:.0} %", answer.said);
                let hover = format!("It is {}.", answer.truth);
                gallery::framed(
                    ui,
                    Some(texture),
                    &words,
                    answer.said == answer.truth,
                    &hover,
                );
            }
        });
        ui.add_space(6.0);
    }
}
