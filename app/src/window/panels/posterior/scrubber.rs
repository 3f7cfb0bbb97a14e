//! From network to network through the posterior: a slider, and what each network says.

use super::{super::gallery, Wish, portrait::DrawnKernels};
use crate::window::{
    look::{self, terms},
    shown,
    worker::{Scrub, Scrubbed, View},
};
use bayesadapter::session::Method;
use egui::{Slider, TextureHandle, Ui};

/// Draws of the slider where there is no end to them.
const DRAWS: u32 = 50;
/// Where the slider stands for the mean.
const MEAN: i64 = -1;

/// The network that is looked at.
pub struct Scrubber {
    /// The draw, or [`MEAN`].
    place: i64,
    asked: Option<Scrub>,
    drawn: Option<Drawn>,
}

struct Drawn {
    scrubbed: Scrubbed,
    kernels: Option<DrawnKernels>,
    textures: Vec<TextureHandle>,
}

impl Default for Scrubber {
    fn default() -> Self {
        Self {
            place: MEAN,
            asked: None,
            drawn: None,
        }
    }
}

impl Scrubber {
    pub fn take(&mut self, scrubbed: &Scrubbed) {
        // The pictures are the same for every draw of a file.
        let textures = self.drawn.take().map(|drawn| drawn.textures);
        self.drawn = Some(Drawn {
            kernels: scrubbed.kernels.clone().map(DrawnKernels::new),
            scrubbed: scrubbed.clone(),
            textures: textures.unwrap_or_default(),
        });
    }

    pub fn slider(&mut self, ui: &mut Ui, view: &View, layer: &str, wishes: &mut Vec<Wish>) {
        let last = i64::from(view.different_draws.unwrap_or(DRAWS)) - 1;
        // Another posterior may have had more.
        self.place = self.place.min(last);
        if view.method != Method::Map {
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
        let scrub = Scrub {
            draw: u32::try_from(self.place).ok(),
            layer: layer.to_owned(),
        };
        if self.asked.as_ref() != Some(&scrub) {
            self.asked = Some(scrub.clone());
            wishes.push(Wish::Scrub(scrub));
        }
    }

    /// Whether a draw is shown, and not the mean.
    #[cfg(not(target_family = "wasm"))]
    pub fn shows_draw(&self) -> bool {
        let drawn = self.drawn.as_ref();
        drawn.is_some_and(|drawn| drawn.scrubbed.scrub.draw.is_some())
    }

    /// The kernels of the draw in this layer; none for the mean.
    pub fn kernels(&mut self, layer: &str) -> Option<(u32, &mut DrawnKernels)> {
        let drawn = self.drawn.as_mut()?;
        let draw = drawn.scrubbed.scrub.draw?;
        let kernels = drawn.kernels.as_mut()?;
        (kernels.kernels.path == layer).then_some((draw, kernels))
    }

    /// What the network says of a few test pictures.
    pub fn answers(&mut self, ui: &mut Ui) {
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
        let title = format!("{who} of the test pictures that the posterior is least sure of");
        look::title(ui, &title, "Wrong answers have a coloured frame.");
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
