//! Keys with a meaning of their own; tooltips tell them.

use egui::{Key, KeyboardShortcut, Modifiers};

pub const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
/// Told only: egui itself pastes.
pub const PASTE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::V);
pub const SAVE_REPORT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
/// On the page that sets a run up.
pub const START: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);
pub const STOP: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Period);
