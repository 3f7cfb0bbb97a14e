//! How things look: colours, plots, and the one sentence that explains a term.

use egui::{Color32, FontFamily, FontId, Response, RichText, TextStyle, Theme, Ui, Vec2, Visuals};
use egui_plot::{AxisHints, GridInput, GridMark, Legend, Plot};
use std::ops::RangeInclusive;

pub use crate::report::palette::{BLUE, FAINT as QUIET, GREEN, Ink, VERMILION, of_method};

impl Ink {
    /// On the ground of the window.
    pub fn on(self, ui: &Ui) -> Color32 {
        let [red, green, blue] = match ui.visuals().dark_mode {
            true => self.dark,
            false => self.light,
        };
        Color32::from_rgb(red, green, blue)
    }
}

/// Sizes that can be read from a chair, and text that stands out from its ground.
pub fn apply(ctx: &egui::Context) {
    let [red_on_dark, red_on_light] = [[255, 125, 115], [180, 25, 20]]
        .map(|[red, green, blue]| Color32::from_rgb(red, green, blue));
    for (theme, text, quiet, error) in [
        (Theme::Dark, 215, 160, red_on_dark),
        (Theme::Light, 40, 95, red_on_light),
    ] {
        ctx.style_mut_of(theme, |style| {
            for (kind, size, family) in [
                (TextStyle::Small, 12.0, FontFamily::Proportional),
                (TextStyle::Body, 14.0, FontFamily::Proportional),
                (TextStyle::Button, 14.0, FontFamily::Proportional),
                (TextStyle::Heading, 20.0, FontFamily::Proportional),
                (TextStyle::Monospace, 13.0, FontFamily::Monospace),
            ] {
                style.text_styles.insert(kind, FontId::new(size, family));
            }
            let visuals = &mut style.visuals;
            visuals.widgets.noninteractive.fg_stroke.color = Color32::from_gray(text);
            visuals.weak_text_color = Some(Color32::from_gray(quiet));
            visuals.error_fg_color = error;
        });
    }
}

/// What a window is cleared to before anything is drawn.
pub fn ground(dark: bool) -> Color32 {
    let visuals = if dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    visuals.panel_fill
}

/// Leaves the ground to whoever clears the window: on a software adapter, panels that fill it again, and panels in
/// panels once more, take most of the time of a frame.
pub fn leave_ground(ctx: &egui::Context) {
    ctx.all_styles_mut(|style| style.visuals.panel_fill = Color32::TRANSPARENT);
}

/// A plot that stays as it is under the mouse's wheel, which scrolls the page; a double click shows all again.
pub fn plot<'a>(id: &'a str, height: f32) -> Plot<'a> {
    Plot::new(id)
        .height(height)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        // The grid is as wide as labels need, so that every line of it has one, and none is faded.
        .grid_spacing(GRID_LEAST as f32..=GRID_DARK)
        .x_grid_spacer(spaced(48.0))
        .y_grid_spacer(spaced(30.0))
        .custom_x_axes(vec![axis(AxisHints::new_x())])
        .custom_y_axes(vec![axis(AxisHints::new_y())])
        .show_axes(true)
}

fn axis(hints: AxisHints<'_>) -> AxisHints<'_> {
    hints.label_spacing(1.0..=2.0).formatter(tick)
}

/// A grid of round numbers, at least so many points apart, and of few lines on a large display.
pub fn spaced(points: f64) -> Box<dyn Fn(GridInput) -> Vec<GridMark>> {
    Box::new(move |input: GridInput| {
        let (low, high) = input.bounds;
        let room = input.base_step_size * points / GRID_LEAST;
        let step = round_step(room.max((high - low) / MOST_LINES));
        let marks = (low / step).ceil() as i64..=(high / step).floor() as i64;
        let mark = |at: i64| GridMark {
            value: at as f64 * step,
            step_size: step,
        };
        marks.map(mark).collect()
    })
}

/// Points between lines that the input of a grid's spacer stands for, and those at which lines would be as dark as text.
const GRID_LEAST: f64 = 8.0;
const GRID_DARK: f32 = 1500.0;
/// Lines of a grid, along one axis.
const MOST_LINES: f64 = 12.0;

/// The next number that is 1, 2 or 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.abs().max(1e-300).log10().floor());
    let round = [1.0, 2.0, 5.0].map(|digit| digit * power);
    let fits = round.into_iter().find(|step| *step >= least);
    fits.unwrap_or(10.0 * power)
}

/// A number of the grid, with the decimals that its step needs.
fn tick(mark: GridMark, _: &RangeInclusive<f64>) -> String {
    // What is zero but for rounding must not become "-0".
    let value = match mark.value.abs() < 0.5 * mark.step_size {
        true => 0.0,
        false => mark.value,
    };
    let decimals = (-(mark.step_size.log10() + 1e-9).floor()).clamp(0.0, 12.0);
    format!("{value:.*}", decimals as usize)
}

/// Draws with so much room across; where there is less, it is scrolled.
pub fn at_least(ui: &mut Ui, width: f32, draw: impl FnOnce(&mut Ui)) {
    let room = ui.available_size();
    if room.x >= width {
        return draw(ui);
    }
    egui::ScrollArea::horizontal()
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.allocate_ui(Vec2::new(width, room.y), draw);
        });
}

/// Names with their colours, over plots that share them.
pub fn key(ui: &mut Ui, names: &[(&str, Ink)]) {
    ui.horizontal_wrapped(|ui| {
        for (name, ink) in names {
            let (area, _) = ui.allocate_exact_size(Vec2::splat(11.0), egui::Sense::hover());
            ui.painter().rect_filled(area, 2.0, ink.on(ui));
            ui.label(*name);
            ui.add_space(10.0);
        }
    });
}

/// The legend of a plot.
pub fn legend() -> Legend {
    Legend::default().background_alpha(0.7)
}

/// A heading over a plot, with what it shows on hover.
pub fn title(ui: &mut Ui, text: &str, explained: &str) -> Response {
    ui.label(RichText::new(text).strong())
        .on_hover_text(explained)
}

/// A number with its name; the name explains itself on hover.
pub fn number(ui: &mut Ui, name: &str, value: String, explained: &str) {
    ui.vertical(|ui| {
        ui.label(RichText::new(name).small().weak())
            .on_hover_text(explained);
        ui.label(RichText::new(value).size(18.0))
            .on_hover_text(explained);
    });
    ui.add_space(14.0);
}

/// The colour of the frame around a picture, by whether the answer is right.
pub fn of_answer(right: bool) -> Ink {
    if right { QUIET } else { VERMILION }
}

/// What a page says that has nothing to show yet.
pub fn nothing_yet(ui: &mut Ui, text: &str) {
    ui.add_space(40.0);
    ui.vertical_centered(|ui| ui.label(RichText::new(text).weak().size(15.0)));
}

/// Seconds as people say them.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// What is meant, in one sentence each.
pub mod terms {
    pub const LIKELIHOOD_LOSS: &str = "How surprised the network is by the labels of its training pictures, in nats; \
        lower is better.";
    pub const COMPLEXITY_LOSS: &str = "How far the posterior is from the prior, per training picture: the price of \
        what was learnt; ordinary weight decay is a special case.";
    pub const ACCURACY: &str = "Share of right answers.";
    pub const THROUGHPUT: &str =
        "Pictures learnt from in a second; it falls when something else needs the device.";
    pub const PREDICTION_SET: &str = "Holds the true class of as many images as it says, on images like those of the \
        validation set that it was calibrated on. Of images unlike those it says nothing.";
    pub const LR: &str = "Learning rate of means, shared weights and point weights.";
    pub const VARIATIONAL_LR: &str =
        "Learning rate of what the posterior adds: standard deviations of MFG, factors of PSE.";
    pub const MAP: &str = "Maximum a posteriori: ordinary training, one value per weight.";
    pub const MFG: &str = "Mean-field Gaussian: every weight becomes a Gaussian of its own.";
    pub const PSE: &str = "Parameter-sharing ensemble: several networks that share their weights, each with small \
        factors of its own.";
    pub const SPREAD: &str = "How unsure the posterior is of this parameter: the typical standard deviation of a \
        Gaussian, or of an ensemble's factors relative to the weight.";
    pub const SIGNAL_TO_NOISE: &str = "The size of a weight's mean in its own standard deviations: below 1, not even \
        its sign is sure.";
    pub const MOVEMENT: &str = "How far fine-tuning moved the means, relative to the size of the weights that it \
        started from.";
    pub const FACTORS: &str = "A row per network of the ensemble: what it multiplies the shared weights with, by input \
        and by output; 1 changes nothing.";
    pub const ADAPTIVE_ECE: &str = "The ECE over bins that hold equally many pictures.";
    pub const CLASSWISE_ECE: &str = "The ECE of the probability of every class, not only the predicted one, averaged over the classes.";
    pub const BRIER: &str =
        "Squared distance of the probabilities from the truth: 0 is perfect, 2 is the worst.";
    pub const RISK_COVERAGE: &str = "Error among the answers that are kept, if only the surest share is kept: by \
        mutual information where there are draws, else by entropy. The lower, the better the network knows its \
        mistakes; the dashed line is what the slider keeps.";
    pub const ERROR_ABOVE_CONFIDENCE: &str = "Of the answers with at least this confidence, the share that is wrong; \
        answers about pictures of another kind are always wrong.";
    pub const NLL: &str = "Negative log-likelihood of the test labels, in nats: punishes confident mistakes; lower is \
        better.";
    pub const DRAWS: &str =
        "A draw is one network out of the posterior; predictions average over several.";
    pub const MUTUAL_INFORMATION: &str = "How much the draws disagree, in nats: what the weights do not know, and \
        more data would teach.";
    pub const ENTROPY: &str = "All uncertainty of the averaged prediction, in nats.";
    pub const ALEATORIC: &str =
        "The part of the entropy that every draw agrees on: what the picture itself leaves open.";
    pub const ECE: &str = "Expected calibration error: how far confidence and accuracy are apart, on average; 0 is \
        perfect.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_round_steps_and_as_many_decimals() {
        for (least, step, written) in [
            (0.021, 0.05, "0.15"),
            (0.3, 0.5, "1.5"),
            (1.0, 1.0, "3"),
            (0.6, 1.0, "3"),
            (130.0, 200.0, "600"),
        ] {
            assert_eq!(round_step(least), step);
            let mark = GridMark {
                value: 3.0 * step,
                step_size: step,
            };
            assert_eq!(tick(mark, &(0.0..=1.0)), written);
        }
        let step = 0.1;
        let zero = GridMark {
            value: -1e-17,
            step_size: step,
        };
        assert_eq!(tick(zero, &(0.0..=1.0)), "0.0");
        let input = GridInput {
            bounds: (-0.25, 0.51),
            base_step_size: 0.02,
        };
        let marks = spaced(48.0)(input);
        let values: Vec<f64> = marks.iter().map(|mark| mark.value).collect();
        assert_eq!(values, [-0.2, 0.0, 0.2, 0.4]);
    }
}
