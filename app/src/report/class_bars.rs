//! What a network says of one picture: a bar per class.

use super::{
    Chart,
    palette::{BLUE, FAINT, MESH, TEXT},
    svg::{WIDTH, rectangle, words},
    text::{percent, quoted},
};
use std::fmt::Write;

/// Classes that are shown, the likeliest ones.
const MOST_CLASSES: usize = 12;

/// Sizes in units.
const TOP: f64 = 112.0;
const ROW: f64 = 44.0;
const BAR: f64 = 32.0;
const LEFT: f64 = 14.0;
const BARS_FROM: f64 = 200.0;
const BARS_TO: f64 = 830.0;
/// Letters of a class's name that there is room for.
const LETTERS: usize = 13;

/// Probabilities of classes with their spread over draws.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassBars {
    /// Name, mean probability and standard deviation over the draws, of each class.
    pub classes: Vec<(String, f64, f64)>,
    /// The probabilities of every draw, `[draws, classes]`.
    pub draws: Vec<f32>,
}

impl ClassBars {
    pub(super) fn title(&self) -> String {
        let likeliest = self.classes.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let likeliest = likeliest.map_or("", |(name, ..)| name.as_str());
        format!("Probabilities of a picture, most likely {likeliest}")
    }

    /// The classes that are shown, by position. Few keep their order, so that bars do not jump while a digit is drawn.
    pub fn shown(classes: &[(String, f64, f64)]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        if order.len() > MOST_CLASSES {
            order.sort_by(|&a, &b| classes[b].1.total_cmp(&classes[a].1));
            order.truncate(MOST_CLASSES);
        }
        order
    }

    /// The probabilities that the draws give to a class.
    fn of_class(&self, class: usize) -> impl Iterator<Item = f32> {
        let draws = self.draws.iter().skip(class);
        draws.step_by(self.classes.len().max(1)).copied()
    }

    /// A row per class, with a column per draw.
    pub(super) fn csv(&self) -> String {
        let mut text = "class,probability,standard deviation".to_owned();
        // Writing to a string cannot fail.
        for draw in 0..self.draws.len() / self.classes.len().max(1) {
            let _ = write!(text, ",draw {draw}");
        }
        for (class, (name, mean, spread)) in self.classes.iter().enumerate() {
            let _ = write!(text, "\n{},{mean},{spread}", quoted(name));
            for probability in self.of_class(class) {
                let _ = write!(text, ",{probability}");
            }
        }
        text.push('\n');
        text
    }

    /// The chart under a name for its file.
    pub(super) fn chart(&self, name: String) -> Chart {
        let (title, shown) = (self.title(), Self::shown(&self.classes));
        let mut out = words((LEFT, 40.0), 30, TEXT, "start", &title);
        let spread = self.classes.iter().any(|(_, _, spread)| *spread > 0.0);
        let explained = match spread {
            true => "Mean over the draws; ticks: draws, line: one standard deviation to each side",
            false => "One network, so there is no spread",
        };
        out.push_str(&words((LEFT, 84.0), 25, FAINT, "start", explained));
        for (row, class) in shown.iter().enumerate() {
            self.row(*class, TOP + ROW * row as f64, &mut out);
        }
        let bottom = TOP + ROW * shown.len() as f64;
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let place = (along(share), bottom + 26.0);
            out.push_str(&words(place, 25, FAINT, "middle", &percent(share, 0)));
        }
        Chart::new(
            name,
            title,
            explained.to_owned(),
            (bottom + 44.0) as u32,
            &out,
        )
    }

    fn row(&self, class: usize, top: f64, out: &mut String) {
        let Some((name, mean, spread)) = self.classes.get(class) else {
            return;
        };
        let (middle, baseline) = (top + 0.5 * BAR, top + 0.5 * BAR + 9.0);
        let (from, mean_at) = (along(0.0), along(*mean));
        out.push_str(&words(
            (LEFT, baseline),
            25,
            TEXT,
            "start",
            &shortened(name),
        ));
        rectangle(out, [from, top, along(1.0) - from, BAR], MESH, 1.0);
        rectangle(out, [from, top, mean_at - from, BAR], BLUE, 0.8);
        if *spread > 0.0 {
            for probability in self.of_class(class) {
                let x = along(f64::from(probability)) - 1.0;
                rectangle(out, [x, top + 5.0, 2.0, BAR - 10.0], TEXT, 0.45);
            }
            let (low, high) = (along(mean - spread), along(mean + spread));
            rectangle(out, [low, middle - 2.0, high - low, 4.0], TEXT, 1.0);
        }
        let right = f64::from(WIDTH) - LEFT;
        out.push_str(&words(
            (right, baseline),
            25,
            TEXT,
            "end",
            &percent(*mean, 1),
        ));
    }
}

/// Where a probability stands; what is no number, at the start.
fn along(probability: f64) -> f64 {
    let share = match probability.is_nan() {
        true => 0.0,
        false => probability.clamp(0.0, 1.0),
    };
    BARS_FROM + (BARS_TO - BARS_FROM) * share
}

/// A name that fits beside the bars.
fn shortened(name: &str) -> String {
    match name.chars().count() > LETTERS {
        true => name.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_draw_has_a_column() {
        let bars = ClassBars {
            classes: vec![("a, b".to_owned(), 0.25, 0.1), ("c".to_owned(), 0.75, 0.1)],
            draws: vec![0.5, 0.5, 0.0, 1.0],
        };
        let rows = "class,probability,standard deviation,draw 0,draw 1\n\"a, b\",0.25,0.1,0.5,0\nc,0.75,0.1,0.5,1\n";
        assert_eq!(bars.csv(), rows);
        assert_eq!(bars.title(), "Probabilities of a picture, most likely c");
    }

    #[test]
    fn of_many_classes_the_likeliest_are_drawn() {
        let class = |at: usize| {
            (
                format!("a class with the number {at}"),
                at as f64 / 190.0,
                0.0,
            )
        };
        let bars = ClassBars {
            classes: (0..20).map(class).collect(),
            draws: Vec::new(),
        };
        assert_eq!(ClassBars::shown(&bars.classes)[..2], [19, 18]);
        let svg = bars.chart("bars".to_owned()).svg;
        assert_eq!(svg.matches("…</text>").count(), MOST_CLASSES);
        assert!(svg.contains("no spread"));
    }
}
