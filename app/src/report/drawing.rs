//! A plot as it is seen in the window.

use super::{
    Chart,
    figure::{Axis, HEIGHT, Plot, Unit, axes, figure, range_of},
    look::{Key, Look},
    palette::Ink,
    text::quoted,
};
use anyhow::Result;
use plotters::prelude::*;
use std::fmt::Write;

/// Radius of a point in units.
const DOT: u32 = 7;
/// Opacity of bars, through which others are seen.
const BAR: f64 = 0.75;
/// Opacity of a line behind others.
const FAINT: f64 = 0.35;

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<Series>,
}

/// Points that belong together. Without a name they guide the eye: they are in no legend, and no numbers to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    pub ink: Ink,
    pub mark: Mark,
    pub points: Vec<[f64; 2]>,
}

/// How points are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    Line,
    Dashed,
    /// A thin line behind others.
    Faint,
    Points,
    /// From zero, around their place.
    Bars {
        width: f64,
    },
}

impl Series {
    pub fn new(name: impl Into<String>, ink: Ink, mark: Mark, points: Vec<[f64; 2]>) -> Self {
        Self {
            name: name.into(),
            ink,
            mark,
            points,
        }
    }
}

impl Drawing {
    fn named(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| !series.name.is_empty())
    }

    /// A row per point.
    pub(super) fn csv(&self) -> String {
        let mut text = format!(
            "series,{},{}\n",
            quoted(&self.x_label),
            quoted(&self.y_label)
        );
        for series in self.named() {
            let name = quoted(&series.name);
            for [x, y] in &series.points {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name},{x},{y}");
            }
        }
        text
    }

    /// The chart under a name for its file.
    pub(super) fn chart(&self, name: String) -> Result<Chart> {
        let key = |series: &Series| (series.key(), series.name.clone());
        let legend: Vec<(Key, String)> = match self.series.len() {
            1 => Vec::new(),
            _ => self.named().map(key).collect(),
        };
        let elements = figure(&self.title, &legend, HEIGHT, |area| {
            let ends = self.series.iter().flat_map(Series::ends);
            let (x, y): (Vec<f64>, Vec<f64>) = ends.map(|[x, y]| (x, y)).unzip();
            let x = Axis::new(self.x_label.clone(), range_of(x), Unit::Number);
            let y = Axis::new(self.y_label.clone(), range_of(y), Unit::Number);
            let mut plot = axes(area, &x, &y)?;
            self.series
                .iter()
                .try_for_each(|series| series.draw(&mut plot))
        })?;
        Ok(Chart::new(
            name,
            self.title.clone(),
            format!("{} against {}", self.y_label, self.x_label),
            HEIGHT,
            &elements,
        ))
    }
}

impl Series {
    fn look(&self) -> Look {
        match self.mark {
            Mark::Dashed => Look::dashed(self.ink),
            _ => Look::solid(self.ink),
        }
    }

    fn key(&self) -> Key {
        match self.mark {
            Mark::Line | Mark::Dashed => Key::Line(self.look()),
            Mark::Faint => Key::Area(self.ink, FAINT),
            Mark::Points => Key::Points(self.ink),
            Mark::Bars { .. } => Key::Area(self.ink, BAR),
        }
    }

    /// Points between which everything lies.
    fn ends(&self) -> Vec<[f64; 2]> {
        match self.mark {
            Mark::Bars { width } => {
                let bars = self.points.iter();
                bars.flat_map(|&[x, y]| [[x - 0.5 * width, 0.0], [x + 0.5 * width, y]])
                    .collect()
            }
            _ => self.points.clone(),
        }
    }

    fn draw(&self, plot: &mut Plot<'_>) -> Result<()> {
        let finite = self.points.iter().filter(|[_, y]| y.is_finite());
        let points: Vec<(f64, f64)> = finite.map(|&[x, y]| (x, y)).collect();
        match self.mark {
            Mark::Line | Mark::Dashed => self.look().line(plot, &points)?,
            Mark::Faint => {
                let style = self.ink.colour().mix(FAINT).stroke_width(2);
                plot.draw_series(LineSeries::new(points, style))?;
            }
            Mark::Points => {
                let dot = |point| Circle::new(point, DOT, self.ink.colour().filled());
                plot.draw_series(points.into_iter().map(dot))?;
            }
            Mark::Bars { width } => {
                let style = self.ink.colour().mix(BAR).filled();
                let bar = |(x, y): (f64, f64)| {
                    let corners = [(x - 0.5 * width, y.max(0.0)), (x + 0.5 * width, y.min(0.0))];
                    Rectangle::new(corners, style)
                };
                plot.draw_series(points.into_iter().map(bar))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{
        Exhibit, PICTURE_SCALE,
        palette::{BLUE, VERMILION},
        png,
    };

    fn drawing() -> Drawing {
        let points = vec![[0.0, 0.5], [1.0, 0.75]];
        Drawing {
            title: "Accuracy, by draws".to_owned(),
            x_label: "draws S".to_owned(),
            y_label: "accuracy, %".to_owned(),
            series: vec![
                Series::new("a \"b\"", BLUE, Mark::Line, points.clone()),
                Series::new("c", VERMILION, Mark::Bars { width: 0.4 }, points),
            ],
        }
    }

    #[test]
    fn numbers_are_in_a_row_per_point() {
        let rows = "series,draws S,\"accuracy, %\"\n\"a \"\"b\"\"\",0,0.5\n\"a \"\"b\"\"\",1,0.75\nc,0,0.5\nc,1,0.75\n";
        assert_eq!(drawing().csv(), rows);
    }

    #[test]
    fn a_picture_shows_every_series_in_its_colour() {
        let drawing = Exhibit::from(drawing());
        let svg = drawing.svg().unwrap();
        for ink in [BLUE, VERMILION] {
            assert!(svg.contains(&ink.light_hex()));
        }
        assert!(svg.contains("Accuracy, by draws"));
        let picture = png(&svg, PICTURE_SCALE).unwrap();
        assert_eq!(image::load_from_memory(&picture).unwrap().width(), 960);
    }

    #[test]
    fn what_guides_the_eye_is_no_number() {
        let mut drawing = drawing();
        drawing.series[1].name.clear();
        assert_eq!(drawing.csv().lines().count(), 3);
        drawing.series[0].mark = Mark::Faint;
        assert!(png(&Exhibit::from(drawing).svg().unwrap(), PICTURE_SCALE).is_ok());
    }

    #[test]
    fn nothing_and_what_is_no_number_can_be_drawn() {
        let mut drawing = drawing();
        drawing.series[0].points = vec![[0.0, f64::NAN]];
        drawing.series[1].points.clear();
        assert!(png(&Exhibit::from(drawing).svg().unwrap(), PICTURE_SCALE).is_ok());
    }
}
