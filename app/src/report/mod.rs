//! A report of evaluations: one page that needs nothing but itself, and its charts as pictures.
//!
//! Everything here is computed from an [`Evaluation`]; no network and no data are needed, so the browser makes
//! the same reports.

mod charts;
mod class_bars;
mod drawing;
mod exhibit;
mod figure;
mod look;
mod page;
pub(crate) mod palette;
mod pictures;
#[cfg(not(target_family = "wasm"))]
mod raster;
mod strange;
mod svg;
mod text;
mod tiles;
mod training;

pub use charts::Reliability;
pub use class_bars::ClassBars;
pub use drawing::{Drawing, Mark, Series};
pub use exhibit::{Exhibit, Format};
pub use palette::Ink;
pub use pictures::{Picture, Pictures};
#[cfg(not(target_family = "wasm"))]
pub use raster::png;
pub use strange::{Recognition, STRANGE_COLUMNS, StrangeFigure, StrangeTile};
pub use svg::Chart;
pub use tiles::Tiles;
pub use training::{TrainingPoint, TrainingPoints, TrainingRun, ValidationPoint};

use anyhow::Result;
use bayesadapter::evaluate::{Evaluation, KernelPosterior};

/// What a report is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub title: String,
    /// When it was made, in words.
    pub created: String,
    /// How the networks were made, name and value.
    pub settings: Vec<(String, String)>,
    /// The first is the one that the others are compared with, usually MAP.
    pub evaluations: Vec<Evaluation>,
    pub training: Vec<TrainingRun>,
    pub first_layers: Vec<FirstLayer>,
    pub pictures: Option<Pictures>,
    /// What is said of drawings that are none of the classes.
    pub strange: Option<StrangeFigure>,
}

/// The first layer of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstLayer {
    /// As in its [`Evaluation`].
    pub method: String,
    pub kernels: KernelPosterior,
}

/// The page: one HTML file, light or dark as its reader prefers.
pub fn html(report: &Report) -> Result<String> {
    Ok(page::html(report, &charts::sections(report)?))
}

/// The charts of the page.
pub fn charts(report: &Report) -> Result<Vec<Chart>> {
    let sections = charts::sections(report)?;
    Ok(sections
        .into_iter()
        .flat_map(|section| section.charts)
        .collect())
}

/// Pixels of a written picture per pixel of its chart.
pub const PICTURE_SCALE: f32 = 2.0;

/// Writes `report.html` and `charts/*.png` into a folder, which is made if need be. Returns the page's path.
#[cfg(not(target_family = "wasm"))]
pub fn write(report: &Report, folder: &std::path::Path) -> Result<std::path::PathBuf> {
    use anyhow::Context;
    use bayesadapter::file::write_atomically;

    let sections = charts::sections(report)?;
    let pictures = folder.join("charts");
    std::fs::create_dir_all(&pictures).map_err(crate::error::unwritable(&pictures))?;
    for chart in sections.iter().flat_map(|section| &section.charts) {
        let bytes = png(&chart.svg, PICTURE_SCALE).with_context(|| chart.name.clone())?;
        write_atomically(pictures.join(format!("{}.png", chart.name)), &bytes)?;
    }
    let path = folder.join("report.html");
    write_atomically(&path, page::html(report, &sections).as_bytes())?;
    Ok(path)
}
