//! What goes on around the window: perhaps a tour.

use super::{
    super::{Window, news::News},
    tour::Tour,
};
use egui::{Context, RawInput, ViewportCommand};

/// What goes on around the window.
#[derive(Default)]
pub struct Host {
    pub tour: Option<Tour>,
}

impl Host {
    /// Nobody looks at the window from outside.
    pub fn on_news(&mut self, _: &News) {}

    /// Before a frame is drawn.
    pub fn frame(window: &mut Window, ctx: &Context, _: &eframe::Frame) {
        if let Some(mut tour) = window.host.tour.take() {
            match tour.go_on(window, ctx) {
                true => window.host.tour = Some(tour),
                false => ctx.send_viewport_cmd(ViewportCommand::Close),
            }
        }
    }

    /// Before egui sees the input of a frame.
    pub fn input(&mut self, input: &mut RawInput) {
        if let Some(tour) = &mut self.tour {
            tour.move_hand(input);
        }
    }
}
