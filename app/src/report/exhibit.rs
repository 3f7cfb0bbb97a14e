//! What the window shows, as a file: a picture of it, or its numbers.

use super::{Chart, ClassBars, Drawing, Reliability, Tiles, text::slug};
use anyhow::Result;

/// Something that is seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Exhibit {
    Drawing(Drawing),
    Tiles(Tiles),
    ClassBars(ClassBars),
    Reliability(Reliability),
}

/// What it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Png,
    Svg,
    Csv,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Png, Self::Svg, Self::Csv];

    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
            Self::Csv => "csv",
        }
    }
}

impl Exhibit {
    /// A name for its file, without an ending.
    pub fn file_name(&self) -> String {
        slug(&match self {
            Self::Drawing(drawing) => drawing.title.clone(),
            Self::Tiles(tiles) => tiles.title.clone(),
            Self::ClassBars(bars) => bars.title(),
            Self::Reliability(reliability) => reliability.title(),
        })
    }

    /// A picture of it. What makes pixels of that is another thing on a page than on a computer.
    pub fn svg(&self) -> Result<String> {
        Ok(self.chart()?.svg)
    }

    /// Its numbers.
    pub fn csv(&self) -> String {
        match self {
            Self::Drawing(drawing) => drawing.csv(),
            Self::Tiles(tiles) => tiles.csv(),
            Self::ClassBars(bars) => bars.csv(),
            Self::Reliability(reliability) => reliability.csv(),
        }
    }

    fn chart(&self) -> Result<Chart> {
        match self {
            Self::Drawing(drawing) => drawing.chart(self.file_name()),
            Self::Tiles(tiles) => Ok(tiles.chart(self.file_name())),
            Self::ClassBars(bars) => Ok(bars.chart(self.file_name())),
            Self::Reliability(reliability) => reliability.chart(self.file_name()),
        }
    }
}

impl From<Drawing> for Exhibit {
    fn from(drawing: Drawing) -> Self {
        Self::Drawing(drawing)
    }
}

impl From<Tiles> for Exhibit {
    fn from(tiles: Tiles) -> Self {
        Self::Tiles(tiles)
    }
}

impl From<ClassBars> for Exhibit {
    fn from(bars: ClassBars) -> Self {
        Self::ClassBars(bars)
    }
}

impl From<Reliability> for Exhibit {
    fn from(reliability: Reliability) -> Self {
        Self::Reliability(reliability)
    }
}
