//! Closing the window while a run goes on or a file is written: the user is asked, and nothing is lost.

use egui::{Context, Modal, RichText, Ui, ViewportCommand};

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
    /// Files are written; then the window closes.
    Writing,
    /// Nothing is waited for any more.
    Now,
}

impl Closing {
    /// Something was not saved: the window stays, so that the user can read why.
    pub fn call_off(&mut self) {
        *self = Self::No;
    }

    /// Follows what the user wants, while a run may go on and files may be written; returns whether the run is to be
    /// stopped now.
    pub fn ui(&mut self, ctx: &Context, running: bool, files: usize) -> bool {
        let wanted = ctx.input(|input| input.viewport().close_requested());
        if wanted && *self != Self::Now && (running || files > 0) {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            *self = match (*self, running) {
                (Self::Saving, _) => Self::Saving,
                (_, true) => Self::Asked,
                (_, false) => Self::Writing,
            };
        }
        match (*self, running) {
            (Self::No | Self::Now, _) => false,
            (Self::Asked, true) => self.ask(ctx),
            (Self::Saving | Self::Writing, true) => {
                wait(ctx, |ui| {
                    ui.label("The run ends after this step and is saved.");
                });
                false
            }
            (_, false) => {
                // The run has come to its end.
                if files == 0 || wait(ctx, write_no_more) {
                    *self = Self::Now;
                    ctx.send_viewport_cmd(ViewportCommand::Close);
                }
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

/// Shows what the window waits for.
fn wait<R>(ctx: &Context, what: impl FnOnce(&mut Ui) -> R) -> R {
    let modal = Modal::new(egui::Id::unique("closing")).show(ctx, |ui| {
        let row = ui.horizontal(|ui| {
            ui.spinner();
            what(ui)
        });
        row.inner
    });
    modal.inner
}

/// Whether the user does not wait for files: a disk may not answer.
fn write_no_more(ui: &mut Ui) -> bool {
    ui.label("Files are being written.");
    ui.button("Close without them").clicked()
}
