//! Colours, each for light and for dark ground.
//!
//! Series take theirs from Okabe and Ito's set, which people with any colour vision can tell apart. Charts are
//! drawn in the light colours; on dark ground a style sheet replaces one by the other.

use plotters::style::RGBColor;
use std::fmt::Write;

/// A colour with its counterpart on dark ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink {
    pub light: [u8; 3],
    pub dark: [u8; 3],
}

const fn bytes(rgb: u32) -> [u8; 3] {
    [(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8]
}

const fn ink(light: u32, dark: u32) -> Ink {
    Ink {
        light: bytes(light),
        dark: bytes(dark),
    }
}

/// Words, and lines that matter as much.
pub const TEXT: Ink = ink(0x1f2933, 0xe6eaef);
/// Words that explain, axes, and the ideal against which curves are read.
pub const FAINT: Ink = ink(0x52606d, 0xa8b3be);
/// The mesh.
pub const MESH: Ink = ink(0xdde3e9, 0x323c47);
/// What is drawn beneath everything.
pub const QUIET: Ink = ink(0x9aa5b1, 0x66727f);
pub const BLUE: Ink = ink(0x0072b2, 0x5db3e8);
pub const VERMILION: Ink = ink(0xd55e00, 0xf5935a);
pub const GREEN: Ink = ink(0x009e73, 0x35c79a);
pub const PURPLE: Ink = ink(0xcc79a7, 0xe3a1c9);
pub const ORANGE: Ink = ink(0xe69f00, 0xf2be4a);

/// Every colour that a chart may have.
const ALL: [Ink; 9] = [
    TEXT, FAINT, MESH, QUIET, BLUE, VERMILION, GREEN, PURPLE, ORANGE,
];

/// The colour of the network at a place among those that are compared, the first being what the others started from.
pub fn of_method(place: usize) -> Ink {
    const OTHERS: [Ink; 5] = [BLUE, VERMILION, GREEN, PURPLE, ORANGE];
    match place.checked_sub(1) {
        None => FAINT,
        Some(other) => OTHERS[other % OTHERS.len()],
    }
}

impl Ink {
    /// As drawn.
    pub fn colour(self) -> RGBColor {
        let [red, green, blue] = self.light;
        RGBColor(red, green, blue)
    }

    fn hex([red, green, blue]: [u8; 3]) -> String {
        // Upper case, as the charts are written: attribute selectors look at the letters.
        format!("#{red:02X}{green:02X}{blue:02X}")
    }

    pub fn light_hex(self) -> String {
        Self::hex(self.light)
    }
}

/// Rules that give charts their colours on dark ground.
pub fn dark_rules() -> String {
    let mut rules = String::new();
    for ink in ALL {
        let (light, dark) = (Ink::hex(ink.light), Ink::hex(ink.dark));
        for property in ["fill", "stroke"] {
            // Writing to a string cannot fail.
            let _ = write!(rules, "svg [{property}=\"{light}\"]{{{property}:{dark}}}");
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_has_a_rule() {
        let rules = dark_rules();
        assert!(rules.starts_with("svg [fill=\"#1F2933\"]{fill:#E6EAEF}"));
        assert_eq!(rules.matches("svg ").count(), 2 * ALL.len());
    }
}
