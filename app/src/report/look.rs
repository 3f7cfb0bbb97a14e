//! How lines, points and areas look, in a plot and in its legend.

use super::{
    figure::{Area, Plot},
    palette::{Ink, of_method},
};
use anyhow::Result;
use plotters::{element::DashedPathElement, prelude::*};

/// Widths in units.
const LINE: u32 = 5;
const MARKER: u32 = 9;

/// Dashes and the gaps between them, in units; no dashes for a line drawn through.
type Dashes = Option<(u32, u32)>;

/// How a line looks: by more than its colour, so that it is known in print too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    pub ink: Ink,
    dashes: Dashes,
    marker: Marker,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Marker {
    Circle,
    Triangle,
    Square,
}

impl Look {
    /// That of the method at a place in the report, the first being the one that others are compared with.
    pub fn of_method(place: usize) -> Self {
        const OTHERS: [(Dashes, Marker); 5] = [
            (None, Marker::Circle),
            (None, Marker::Triangle),
            (Some((22, 8)), Marker::Square),
            (Some((6, 8)), Marker::Circle),
            (Some((14, 14)), Marker::Triangle),
        ];
        let (dashes, marker) = match place.checked_sub(1) {
            None => (Some((14, 8)), Marker::Square),
            Some(other) => OTHERS[other % OTHERS.len()],
        };
        Self {
            ink: of_method(place),
            dashes,
            marker,
        }
    }

    /// A line drawn through.
    pub fn solid(ink: Ink) -> Self {
        Self {
            ink,
            dashes: None,
            marker: Marker::Circle,
        }
    }

    /// A line of dashes.
    pub fn dashed(ink: Ink) -> Self {
        Self {
            dashes: Some((14, 8)),
            ..Self::solid(ink)
        }
    }

    /// A line of dots.
    pub fn dotted(ink: Ink) -> Self {
        Self {
            dashes: Some((5, 8)),
            ..Self::solid(ink)
        }
    }

    fn stroke(&self) -> ShapeStyle {
        self.ink.colour().stroke_width(LINE)
    }

    /// Draws a line through points.
    pub fn line(&self, plot: &mut Plot<'_>, points: &[(f64, f64)]) -> Result<()> {
        let path = points.iter().copied();
        match self.dashes {
            None => plot.draw_series(LineSeries::new(path, self.stroke()))?,
            Some((dash, gap)) => {
                let dashes = DashedLineSeries::new(path, dash, gap, self.stroke());
                plot.draw_series(dashes)?
            }
        };
        // A line through one point is none.
        if let [point] = points {
            plot.draw_series([Circle::new(*point, MARKER, self.ink.colour().filled())])?;
        }
        Ok(())
    }

    /// Draws a marker at each point.
    pub fn markers(&self, plot: &mut Plot<'_>, points: &[(f64, f64)]) -> Result<()> {
        let area = plot.plotting_area();
        let (in_units, (left, top)) = (area.strip_coord_spec(), area.get_base_pixel());
        for point in points {
            let (x, y) = area.map_coordinate(point);
            self.marker(&in_units, (x - left, y - top))?;
        }
        Ok(())
    }

    fn marker(&self, area: &Area<'_>, (x, y): (i32, i32)) -> Result<()> {
        let (size, style) = (MARKER as i32, self.ink.colour().filled());
        match self.marker {
            Marker::Circle => area.draw(&Circle::new((x, y), size, style))?,
            Marker::Triangle => area.draw(&TriangleMarker::new((x, y), size + 3, style))?,
            Marker::Square => {
                let corners = [(x - size, y - size), (x + size, y + size)];
                area.draw(&Rectangle::new(corners, style))?;
            }
        }
        Ok(())
    }
}

/// What a legend shows beside a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Key {
    Line(Look),
    /// A line with its markers.
    MarkedLine(Look),
    Points(Ink),
    /// An area of some opacity.
    Area(Ink, f64),
}

impl Key {
    /// Draws it with its left end at `(x, y)`.
    pub fn draw_swatch(&self, root: &Area<'_>, (x, y): (i32, i32), width: i32) -> Result<()> {
        match *self {
            Self::Line(look) | Self::MarkedLine(look) => {
                let ends = [(x, y), (x + width, y)];
                match look.dashes {
                    None => root.draw(&PathElement::new(ends, look.stroke()))?,
                    Some((dash, gap)) => {
                        root.draw(&DashedPathElement::new(ends, dash, gap, look.stroke()))?;
                    }
                }
            }
            Self::Points(ink) => {
                let style = ink.colour().filled();
                root.draw(&Circle::new((x + width / 2, y), MARKER, style))?;
            }
            Self::Area(ink, opacity) => {
                let corners = [(x, y - 11), (x + width, y + 11)];
                root.draw(&Rectangle::new(corners, ink.colour().mix(opacity).filled()))?;
            }
        }
        match *self {
            Self::MarkedLine(look) => look.marker(root, (x + width / 2, y)),
            _ => Ok(()),
        }
    }
}
