//! Closing the window while a run goes on: the user is asked, and the run saved.

use egui::{Context, Modal, RichText, ViewportCommand};

/// How far the closing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closing {
    /// Nobody wants to.
    #[default]
    No,
    /// The user wants to, and is asked about the run.
    Asked,
    /// The run ends and is saved; then the window closes.
    Saving,
}

impl Closing {
    /// Follows what the user wants; returns whether the run is to be stopped now.
    pub fn ui(&mut self, ctx: &Context, running: bool) -> bool {
        let wanted = ctx.input(|input| input.viewport().close_requested());
        if wanted && running && *self != Self::Saving {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            *self = Self::Asked;
        }
        match (*self, running) {
            (Self::No, _) => false,
            (Self::Asked | Self::Saving, false) => {
                // The run came to its end meanwhile.
                *self = Self::No;
                ctx.send_viewport_cmd(ViewportCommand::Close);
                false
            }
            (Self::Asked, true) => self.ask(ctx),
            (Self::Saving, true) => {
                Modal::new(egui::Id::unique("closing")).show(ctx, |ui| {
                    ui.horizontal(|ui| {
                        ui.spinner();
                        ui.label("The run ends after this step and is saved.");
                    });
                });
                false
            }
        }
    }

    fn ask(&mut self, ctx: &Context) -> bool {
        let modal = Modal::new(egui::Id::unique("closing")).show(ctx, |ui| {
            ui.set_width(420.0);
            ui.label(RichText::new("A run goes on").size(18.0).strong());
            ui.add_space(6.0);
            ui.label("It can be saved and go on from there another time.");
            ui.add_space(12.0);
            ui.horizontal(|ui| {
                if ui.button("Save it and close").clicked() {
                    *self = Self::Saving;
                }
                if ui.button("Stay").clicked() {
                    *self = Self::No;
                }
            });
        });
        if modal.should_close() && *self == Self::Asked {
            *self = Self::No;
        }
        *self == Self::Saving
    }
}
