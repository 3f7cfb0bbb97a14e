//! What all charts have in common: title, legend, axes.

use super::{
    look::Key,
    palette::{FAINT, Ink, MESH, TEXT},
    svg::WIDTH,
    text,
};
use anyhow::Result;
use plotters::{
    coord::{
        Shift,
        ranged1d::{BoldPoints, Ranged},
        types::RangedCoordf64,
    },
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};
use std::ops::Range;

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Plot<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Height of a chart with one plot, in units.
pub const HEIGHT: u32 = 680;

/// Sizes of letters in units.
const TITLE_SIZE: u32 = 30;
const TEXT_SIZE: u32 = 25;

const LEFT: i32 = 14;
const TITLE_HEIGHT: i32 = 56;
const LEGEND_ROW: i32 = 38;
const SWATCH: i32 = 46;
const Y_LABELS: i32 = 122;
const X_LABELS: i32 = 84;

/// Width that a letter takes, in parts of its size; a guess that fits wide fonts.
const LETTER_WIDTH: f64 = 0.62;

const USUAL_TICKS: usize = 7;
const MOST_DECIMALS: usize = 8;

/// What the numbers along an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Shares, shown in percent.
    Percent,
    /// Numbers, with as many decimals as their range needs.
    Number,
    /// Logarithms to base 10, shown as what they are logarithms of.
    PowerOfTen,
    /// Logarithms whose smallest stands for everything below.
    PowerOfTenFrom,
}

/// An axis.
pub struct Axis {
    label: String,
    range: Range<f64>,
    unit: Unit,
    /// How many numbers stand along it, at most.
    ticks: usize,
}

impl Axis {
    pub fn new(label: impl Into<String>, range: Range<f64>, unit: Unit) -> Self {
        Self {
            label: label.into(),
            // Logarithms get one tick per power of ten.
            ticks: match unit {
                Unit::Percent | Unit::Number => USUAL_TICKS,
                Unit::PowerOfTen | Unit::PowerOfTenFrom => (range.end - range.start) as usize + 2,
            },
            range,
            unit,
        }
    }

    pub fn with_ticks(mut self, ticks: usize) -> Self {
        self.ticks = ticks;
        self
    }

    /// The fewest decimals that write every tick, times `scale`, as it is.
    fn decimals(&self, scale: f64) -> usize {
        let ticks = RangedCoordf64::from(self.range.clone()).key_points(BoldPoints(self.ticks));
        let exact = |decimals: &usize| {
            let shifted = |tick: &f64| tick * scale * 10f64.powi(*decimals as i32);
            ticks
                .iter()
                .map(shifted)
                .all(|tick| (tick - tick.round()).abs() < 1e-6)
        };
        (0..MOST_DECIMALS).find(exact).unwrap_or(MOST_DECIMALS)
    }

    fn tick(&self, value: f64) -> String {
        let span = self.range.end - self.range.start;
        // What is zero but for rounding must not become "-0".
        let value = if value.abs() < span * 1e-9 {
            0.0
        } else {
            value
        };
        match self.unit {
            Unit::Percent => text::percent(value, self.decimals(100.0)),
            Unit::Number if value.abs() >= 10_000.0 => {
                let sign = if value < 0.0 { "-" } else { "" };
                format!("{sign}{}", text::count(value.abs().round() as usize))
            }
            Unit::Number => format!("{value:.*}", self.decimals(1.0)),
            Unit::PowerOfTen | Unit::PowerOfTenFrom if value.fract().abs() > 1e-6 => String::new(),
            Unit::PowerOfTenFrom if value <= self.range.start => {
                format!("≤{}", 10f64.powf(value.round()))
            }
            Unit::PowerOfTen | Unit::PowerOfTenFrom => {
                let power = 10f64.powf(value.round());
                match power >= 1.0 {
                    true => text::count(power as usize),
                    false => power.to_string(),
                }
            }
        }
    }
}

/// A range around `values` with some air; of finite size whatever they are.
pub fn range_of(values: impl IntoIterator<Item = f64>) -> Range<f64> {
    let (low, high) = values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if low > high {
        return 0.0..1.0;
    }
    let smallest = 1e-3 * low.abs().max(high.abs()).max(1e-3);
    let air = 0.06 * (high - low).max(smallest);
    low - air..high + air
}

/// The same for shares, which stay between 0 and 1.
pub fn shares_of(values: impl IntoIterator<Item = f64>) -> Range<f64> {
    let range = range_of(values);
    // A hair beyond the ends, so that a line along them is seen whole.
    range.start.max(-0.004)..range.end.min(1.004).max(range.start.max(-0.004) + 0.01)
}

/// Letters of so many units.
pub fn font(size: u32, ink: Ink, pos: Pos) -> TextStyle<'static> {
    TextStyle {
        // The library divides by this when it writes a size.
        font: ("sans-serif", f64::from(size) * 1.24).into_font(),
        color: ink.colour().to_backend_color(),
        pos,
    }
}

/// Elements of a chart with title and legend; `draw` gets what is left of its `height`.
pub fn figure(
    title: &str,
    legend: &[(Key, String)],
    height: u32,
    draw: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<String> {
    let mut document = String::new();
    {
        let root = SVGBackend::with_string(&mut document, (WIDTH, height)).into_drawing_area();
        let style = font(TITLE_SIZE, TEXT, Pos::new(HPos::Left, VPos::Top));
        root.draw(&Text::new(title.to_owned(), (LEFT, 10), style))?;
        let below = draw_legend(&root, legend)?;
        let (_, plot) = root.split_vertically(below);
        draw(&plot)?;
        root.present()?;
    }
    // The elements alone: what encloses them is ours.
    let start = document.find('>').map_or(0, |end| end + 1);
    let end = document.rfind("</svg>").unwrap_or(document.len());
    Ok(document[start..end].trim_start().to_owned())
}

/// Draws the keys in rows and returns where they end.
fn draw_legend(root: &Area<'_>, legend: &[(Key, String)]) -> Result<i32> {
    let (mut x, mut y) = (LEFT, TITLE_HEIGHT);
    for (key, label) in legend {
        let letters = label.chars().count() as f64;
        let width = SWATCH + 14 + (letters * LETTER_WIDTH * f64::from(TEXT_SIZE)) as i32 + 26;
        if x > LEFT && x + width > WIDTH as i32 {
            (x, y) = (LEFT, y + LEGEND_ROW);
        }
        key.draw_swatch(root, (x, y + LEGEND_ROW / 2), SWATCH)?;
        let style = font(TEXT_SIZE, TEXT, Pos::new(HPos::Left, VPos::Center));
        let place = (x + SWATCH + 14, y + LEGEND_ROW / 2);
        root.draw(&Text::new(label.clone(), place, style))?;
        x += width;
    }
    let rows = if legend.is_empty() { 0 } else { LEGEND_ROW };
    Ok(y + rows + 12)
}

/// Axes and mesh on an area.
pub fn axes<'a>(area: &Area<'a>, x: &Axis, y: &Axis) -> Result<Plot<'a>> {
    let x_labels = if x.label.is_empty() { 16 } else { X_LABELS };
    let mut plot = ChartBuilder::on(area)
        .margin_right(50)
        .margin_left(8)
        .margin_top(8)
        .x_label_area_size(x_labels)
        .y_label_area_size(Y_LABELS)
        .build_cartesian_2d(x.range.clone(), y.range.clone())?;
    let format_x = |value: &f64| match x.label.is_empty() {
        true => String::new(),
        false => x.tick(*value),
    };
    let format_y = |value: &f64| y.tick(*value);
    plot.configure_mesh()
        .max_light_lines(0)
        .bold_line_style(MESH.colour().stroke_width(2))
        .axis_style(FAINT.colour().stroke_width(2))
        .label_style(font(TEXT_SIZE, FAINT, Pos::default()))
        .axis_desc_style(font(TEXT_SIZE, TEXT, Pos::default()))
        .x_labels(x.ticks)
        .y_labels(y.ticks)
        .x_label_formatter(&format_x)
        .y_label_formatter(&format_y)
        .x_desc(x.label.clone())
        .y_desc(y.label.clone())
        .draw()?;
    Ok(plot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_decimals_that_they_need() {
        let tick = |range, unit, value| Axis::new("", range, unit).tick(value);
        assert_eq!(tick(0.0..1.0, Unit::Percent, 0.2), "20\u{a0}%");
        assert_eq!(tick(0.86..0.91, Unit::Percent, 0.87), "87\u{a0}%");
        assert_eq!(tick(0.91..0.92, Unit::Percent, 0.914), "91.4\u{a0}%");
        assert_eq!(tick(0.0..1.0, Unit::Percent, -1e-17), "0\u{a0}%");
        assert_eq!(tick(0.3..0.4, Unit::Number, 0.35), "0.35");
        assert_eq!(tick(0.0..30_000.0, Unit::Number, 20_000.0), "20,000");
        assert_eq!(tick(-4.0..0.5, Unit::PowerOfTenFrom, -4.0), "≤0.0001");
        assert_eq!(tick(-4.0..0.5, Unit::PowerOfTenFrom, -1.0), "0.1");
        assert_eq!(tick(0.0..4.0, Unit::PowerOfTen, 3.0), "1,000");
        assert_eq!(tick(0.0..4.0, Unit::PowerOfTen, 0.5), "");
    }

    #[test]
    fn ranges_are_never_empty() {
        for values in [
            vec![],
            vec![0.0],
            vec![f64::NAN],
            vec![5.0, 5.0],
            vec![1.0; 3],
        ] {
            let range = range_of(values.clone());
            assert!(
                range.end > range.start && range.start.is_finite(),
                "{range:?}"
            );
            let shares = shares_of(values);
            assert!(shares.end > shares.start, "{shares:?}");
        }
        assert_eq!(shares_of([0.0, 1.0]), -0.004..1.004);
    }
}
