//! Where a tour goes.

use crate::window::panels;
use bayesadapter::session::Command;
use egui::{Key, Theme};
use std::collections::VecDeque;

/// One thing to do, or to wait for.
#[derive(Clone, Debug)]
pub enum Step {
    /// Shows the welcome page.
    Start,
    /// Shows a page.
    Page(&'static str),
    Theme(Theme),
    /// Starts the demo.
    Demo,
    /// Waits until the run in the folder with this name learns.
    UntilLearning(&'static str),
    /// Waits until the demo is done and looked at.
    UntilOver,
    /// Waits for so many seconds and a few frames, and until nothing is being computed or on its way to the page.
    Wait(f32),
    /// Tells the run something.
    Tell(Command),
    /// Clicks at these shares of the window's width and height.
    Click(f32, f32),
    /// Waits until the page shows what it asked for.
    UntilOpen,
    /// Fails unless the page shows what was clicked.
    ExpectOpen,
    /// Draws a line on the canvas, through these shares of its sides.
    Draw(&'static [(f32, f32)]),
    Press(Key),
    /// Saves a picture of the window under this name.
    Picture(String),
}

/// A three.
const DIGIT: &[(f32, f32)] = &[
    (0.30, 0.22),
    (0.42, 0.15),
    (0.58, 0.16),
    (0.67, 0.26),
    (0.62, 0.38),
    (0.48, 0.46),
    (0.62, 0.53),
    (0.70, 0.65),
    (0.66, 0.78),
    (0.53, 0.86),
    (0.38, 0.85),
    (0.29, 0.77),
    (0.28, 0.74),
];

/// No digit at all.
const SCRIBBLE: &[(f32, f32)] = &[
    (0.12, 0.15),
    (0.85, 0.30),
    (0.15, 0.45),
    (0.88, 0.60),
    (0.14, 0.72),
    (0.86, 0.88),
    (0.80, 0.12),
    (0.45, 0.90),
];

/// The demo, and a picture of every page in light and in dark.
pub fn with_pictures() -> VecDeque<Step> {
    let picture = |name: &str| Step::Picture(name.to_owned());
    let mut steps = vec![
        Step::Theme(Theme::Light),
        Step::Start,
        Step::Wait(0.5),
        picture("start"),
        Step::Demo,
        Step::UntilLearning("pse"),
        Step::Wait(3.0),
        picture("learning"),
        // Taking a picture may last longer than the rest of the run.
        Step::Tell(Command::Pause),
        Step::Page("Uncertainty"),
        Step::UntilOpen,
        Step::Wait(0.3),
        picture("uncertainty-while-learning"),
        Step::Page("Posterior"),
        Step::Wait(1.5),
        picture("posterior-while-learning"),
        Step::Tell(Command::Resume),
        Step::UntilOver,
    ];
    for (theme, ending) in [(Theme::Light, ""), (Theme::Dark, "-dark")] {
        steps.push(Step::Theme(theme));
        for panel in panels::all() {
            steps.extend([Step::Page(panel.name()), Step::Wait(0.3)]);
            // In the dark most pages are as they were left in the light.
            match (panel.name(), theme) {
                ("Posterior", Theme::Light) => steps.push(Step::Click(0.52, 0.076)),
                ("Uncertainty", Theme::Light) => steps.push(Step::Click(0.305, 0.25)),
                ("Calibration", Theme::Light) => steps.push(Step::Click(0.9, 0.3)),
                ("Predict", Theme::Light) => steps.push(Step::Draw(DIGIT)),
                ("Predict", Theme::Dark) => {
                    steps.extend([
                        Step::Press(Key::Delete),
                        Step::Wait(0.3),
                        Step::Draw(SCRIBBLE),
                    ]);
                }
                _ => {}
            }
            steps.push(Step::Wait(0.7));
            if let "Posterior" | "Uncertainty" | "Calibration" = panel.name() {
                steps.push(Step::ExpectOpen);
            }
            let name = panel.name().to_lowercase().replace(' ', "-");
            steps.push(picture(&format!("{name}{ending}")));
        }
    }
    steps.into()
}

/// The demo and every page again.
pub fn without_pictures() -> VecDeque<Step> {
    let mut steps = vec![Step::Demo, Step::UntilLearning("pse")];
    for panel in panels::all() {
        steps.extend([Step::Page(panel.name()), Step::Wait(2.0)]);
    }
    steps.push(Step::UntilOver);
    for panel in panels::all() {
        steps.extend([Step::Page(panel.name()), Step::Wait(2.0)]);
    }
    steps.into()
}
