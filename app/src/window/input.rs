//! What the user does beside clicking: keys, dropped files, the clipboard.

use super::{
    Window, keys,
    news::{News, Wish},
    purpose::Purpose,
    shown, take_away,
    worker::Question,
};
use bayesadapter::{
    data::Picture,
    session::{Command, Phase},
};
use egui::{ColorImage, Event, Key, KeyboardShortcut, Modifiers};

impl Window {
    /// Keys, and what was dropped or pasted.
    pub(super) fn take_input(&mut self, ctx: &egui::Context) {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        if !dropped.is_empty() {
            self.notices.clear();
            self.dialog.take(&dropped);
        }
        match pasted(ctx) {
            Some(Ok(picture)) => {
                self.notices.clear();
                self.show_panel("Predict");
                self.fulfil(Wish::Ask(Question::Pasted(picture)));
            }
            Some(Err(error)) => self.tell(&News::Refused(error)),
            None => {}
        }
        for wish in self.keys(ctx) {
            self.fulfil(wish);
        }
    }

    /// What the keys of this frame ask for.
    pub(super) fn keys(&mut self, ctx: &egui::Context) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let pressed = |keys: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(keys));
        if pressed(&keys::OPEN) {
            wishes.push(Wish::Choose(Purpose::Posterior));
        }
        if self.running() && pressed(&keys::STOP) {
            wishes.push(Wish::Tell(Command::Stop));
        }
        if let Some(folder) = self.reported.clone()
            && pressed(&keys::SAVE_REPORT)
        {
            wishes.push(take_away::save_report(folder));
        }
        if ctx.text_edit_focused() {
            return wishes;
        }
        let numbers = [
            Key::Num1,
            Key::Num2,
            Key::Num3,
            Key::Num4,
            Key::Num5,
            Key::Num6,
            Key::Num7,
            Key::Num8,
        ];
        let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        for (at, key) in numbers.into_iter().take(self.panels.len()).enumerate() {
            if pressed(key) {
                self.shown = Some(at);
            }
        }
        let command = match self.phase() {
            Phase::Training => Command::Pause,
            Phase::Paused => Command::Resume,
            _ => return wishes,
        };
        // A widget that has the keyboard's focus is pressed by it.
        let free = ctx.memory(|memory| memory.focused().is_none());
        if free && self.running() && pressed(Key::Space) {
            wishes.push(Wish::Tell(command));
        }
        wishes
    }
}

/// The picture that was pasted in this frame, if something was. Text goes into the field that is typed in, if one is.
fn pasted(ctx: &egui::Context) -> Option<Result<Picture, String>> {
    let typing = ctx.text_edit_focused();
    ctx.input(|input| {
        let mut events = input.events.iter().rev();
        events.find_map(|event| match event {
            Event::PasteImage(image) => Some(picture(image)),
            Event::Paste(_) if !typing => Some(Err(
                "The clipboard holds text, and no picture. Copy a picture in another program, or drop its file on the \
                 window"
                    .to_owned(),
            )),
            _ => None,
        })
    })
}

fn picture(image: &ColorImage) -> Result<Picture, String> {
    let [width, height] = image.size;
    let picture = Picture::new(3, height, width, shown::rgb(image));
    picture.map_err(|error| format!("The clipboard holds no picture that can be used: {error}"))
}
