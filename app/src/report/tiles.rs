//! Weights as small pictures, side by side.

use super::{
    Chart,
    palette::{FAINT, TEXT},
    svg::{WIDTH, pixels, words},
    text::quoted,
};
use crate::picture::{self, HeatMap};
use bayesadapter::evaluate::{KernelPosterior, LayerFactors};
use image::RgbImage;
use std::fmt::Write;

/// Sizes in units.
const MARGIN: usize = 14;
const TITLE: usize = 40;
const LINE: usize = 40;
const GAP: usize = 12;
const LARGEST_TILE: f64 = 108.0;
const LARGEST_PIXEL: f64 = 36.0;
const LEAST_ROW: f64 = 16.0;

/// Small pictures, and the numbers that they show.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiles {
    pub title: String,
    /// What is to be known beside the title, such as what black and white stand for.
    lines: Vec<String>,
    /// How to read it.
    pub caption: String,
    pictures: Vec<RgbImage>,
    numbers: Numbers,
}

/// Numbers along several axes, of which the last runs fastest.
#[derive(Clone, Debug, PartialEq)]
struct Numbers {
    axes: Vec<(&'static str, usize)>,
    /// What they are.
    name: String,
    values: Vec<f32>,
}

impl Tiles {
    /// Means of kernels, or the kernels of one network; black and white are `largest` away from zero.
    pub fn of_means(title: String, kernels: &KernelPosterior, largest: f32) -> Self {
        Self {
            title,
            lines: vec![
                picture::kernels_in_words(kernels),
                picture::scale_of_means(largest),
            ],
            caption: "One picture per output of the layer".to_owned(),
            pictures: picture::centred(kernels.shape, &kernels.mean, largest),
            numbers: Numbers::of_kernels(kernels.shape, "weight", &kernels.mean),
        }
    }

    /// Standard deviations of kernels.
    pub fn of_deviations(title: String, kernels: &KernelPosterior) -> Self {
        Self {
            title,
            lines: vec![
                picture::kernels_in_words(kernels),
                picture::scale_of_deviations(kernels),
            ],
            caption: "One picture per output of the layer".to_owned(),
            pictures: picture::deviations(kernels),
            numbers: Numbers::of_kernels(kernels.shape, "standard deviation", &kernels.std),
        }
    }

    /// The factors of an ensemble of a parameter: of its inputs, and of its outputs.
    pub fn of_factors(parameter: &str, factors: &LayerFactors) -> [Self; 2] {
        let [inputs, outputs] = [&factors.left, &factors.right]
            .map(|side| side.len() / (factors.components * factors.rank).max(1));
        let (networks, rank) = (("network", factors.components), ("rank", factors.rank));
        let [left, right] = picture::factors(factors);
        let side = |side: &str, map: HeatMap, axes: [(&'static str, usize); 3], values: &[f32]| {
            let rows = format!(
                "A row for each of {} networks; grey leaves the shared weight as it is",
                factors.components
            );
            Self {
                title: format!("Factors of {parameter} by {side}"),
                lines: vec![rows, map.scale()],
                caption: "What each network of the ensemble multiplies the shared weights with"
                    .to_owned(),
                pictures: vec![map.picture],
                numbers: Numbers {
                    axes: axes.into(),
                    name: "factor".to_owned(),
                    values: values.to_vec(),
                },
            }
        };
        let by_input = [networks, ("input", inputs), rank];
        let by_output = [networks, rank, ("output", outputs)];
        [
            side("input", left, by_input, &factors.left),
            side("output", right, by_output, &factors.right),
        ]
    }

    /// A row per number.
    pub(super) fn csv(&self) -> String {
        let Numbers { axes, name, values } = &self.numbers;
        let heads: Vec<&str> = axes.iter().map(|(axis, _)| *axis).collect();
        let mut text = format!("{},{}\n", heads.join(","), quoted(name));
        let mut place = vec![0; axes.len()];
        for value in values {
            // Writing to a string cannot fail.
            for along in &place {
                let _ = write!(text, "{along},");
            }
            let _ = writeln!(text, "{value}");
            for (along, (_, length)) in place.iter_mut().zip(axes).rev() {
                *along += 1;
                if *along < *length {
                    break;
                }
                *along = 0;
            }
        }
        text
    }

    /// The chart under a name for its file.
    pub(super) fn chart(&self, name: String) -> Chart {
        let mut out = words(
            (MARGIN as f64, TITLE as f64),
            30,
            TEXT,
            "start",
            &self.title,
        );
        let mut top = TITLE;
        for line in &self.lines {
            top += LINE;
            out.push_str(&words(
                (MARGIN as f64, top as f64),
                25,
                FAINT,
                "start",
                line,
            ));
        }
        let height = self.draw((top + LINE / 2) as f64, &mut out);
        let (title, caption) = (self.title.clone(), self.caption.clone());
        Chart::new(name, title, caption, height.ceil() as u32 + 2, &out)
    }

    /// Draws the pictures from `top` on; returns where they end.
    fn draw(&self, top: f64, out: &mut String) -> f64 {
        let pictures = &self.pictures;
        let (width, height) = pictures.first().map_or((1, 1), RgbImage::dimensions);
        let (width, height) = (f64::from(width), f64::from(height));
        let room = (WIDTH as usize - 2 * MARGIN) as f64;
        let columns = columns(pictures.len());
        let tile = match columns {
            1 => room,
            columns => (room / columns as f64 - GAP as f64).min(LARGEST_TILE),
        };
        let across = (tile / width.max(height)).min(LARGEST_PIXEL);
        // One that is alone may be long and flat, and its rows are to be seen.
        let down = match columns {
            1 => across.max(LEAST_ROW),
            _ => across,
        };
        let (wide, high) = (across * width + GAP as f64, down * height + GAP as f64);
        for (at, picture) in pictures.iter().enumerate() {
            let x = MARGIN as f64 + wide * (at % columns) as f64;
            let y = top + high * (at / columns) as f64;
            pixels(out, picture, (x, y), [across, down]);
        }
        top + high * pictures.len().div_ceil(columns) as f64
    }
}

impl Numbers {
    fn of_kernels(
        [outputs, inputs, rows, columns]: [usize; 4],
        name: &str,
        values: &[f32],
    ) -> Self {
        let axes = [
            ("output", outputs),
            ("input", inputs),
            ("row", rows),
            ("column", columns),
        ];
        Self {
            axes: axes.into(),
            name: name.to_owned(),
            values: values.to_vec(),
        }
    }
}

/// Columns of tiles: a number that fills its last row, if one of a good size does.
fn columns(tiles: usize) -> usize {
    let good = [8, 9, 10, 7, 11, 12, 6];
    let filling = good
        .into_iter()
        .find(|columns| tiles.is_multiple_of(*columns));
    filling.unwrap_or(good[0]).clamp(1, tiles.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::MOST_KERNELS;

    fn kernels(outputs: usize) -> KernelPosterior {
        let values = (0..outputs * 4).map(|at| at as f32).collect::<Vec<_>>();
        KernelPosterior {
            path: "conv1.weight".to_owned(),
            shape: [outputs, 1, 2, 2],
            mean: values.clone(),
            std: values,
        }
    }

    #[test]
    fn numbers_have_their_places() {
        let csv = Tiles::of_means("Means".to_owned(), &kernels(2), 7.0).csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "output,input,row,column,weight");
        assert_eq!(lines[1], "0,0,0,0,0");
        assert_eq!(lines[7], "1,0,1,0,6");
        assert_eq!(lines.len(), 9);
    }

    #[test]
    fn factors_are_told_by_network_rank_and_place() {
        let factors = LayerFactors {
            components: 2,
            rank: 2,
            left: (0..12).map(|at| at as f32).collect(),
            right: (0..8).map(|at| at as f32).collect(),
        };
        let [left, right] = Tiles::of_factors("fc", &factors).map(|side| side.csv());
        assert!(left.starts_with("network,input,rank,factor\n0,0,0,0\n0,0,1,1\n0,1,0,2\n"));
        assert!(left.ends_with("1,2,1,11\n"));
        assert!(right.starts_with("network,rank,output,factor\n0,0,0,0\n0,0,1,1\n0,1,0,2\n"));
        assert!(right.ends_with("1,1,1,7\n"));
    }

    #[test]
    fn many_kernels_are_cut_in_the_picture_and_whole_in_the_numbers() {
        let tiles = Tiles::of_deviations("Deviations".to_owned(), &kernels(200));
        let chart = tiles.chart("deviations".to_owned());
        assert_eq!(chart.svg.matches("<g ").count(), MOST_KERNELS);
        assert!(chart.svg.contains("the first 128 shown"));
        assert_eq!(tiles.csv().lines().count(), 801);
    }
}
