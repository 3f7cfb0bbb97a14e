//! Files with pictures of kernels.

use super::BadInput;
use crate::{
    error::unwritable,
    picture::{largest, row},
};
use anyhow::Result;
use bayesadapter::{evaluate::KernelPosterior, showcase::KernelDraws};
use image::{ImageError, Rgb, RgbImage, imageops};
use std::path::Path;

/// Pixels per kernel element, and between kernels.
const SCALE: u32 = 6;
const GAP: u32 = 6;

/// Colour between kernels.
const GROUND: Rgb<u8> = Rgb([24, 24, 28]);

/// One kernel per column; rows are the mean, the standard deviation, and the draws.
pub fn save_draws(kernels: &KernelDraws, path: &Path) -> Result<()> {
    save_rows(&rows(kernels), path)
}

/// One kernel per column; rows are the mean, grey being zero, and the standard deviation, black being zero; each
/// relative to its largest value.
pub fn save_kernels(kernels: &KernelPosterior, path: &Path) -> Result<()> {
    let (of_mean, of_std) = (largest(&kernels.mean), largest(&kernels.std));
    let means = row(kernels.shape, &kernels.mean, |value| {
        0.5 + 0.5 * value / of_mean
    });
    let deviations = row(kernels.shape, &kernels.std, |value| value / of_std);
    save_rows(&[means, deviations], path)
}

fn save_rows(rows: &[Vec<RgbImage>], path: &Path) -> Result<()> {
    let strips: Vec<RgbImage> = rows.iter().map(|row| strip(row)).collect();
    let width = strips.iter().map(RgbImage::width).max().unwrap_or(1);
    let height = strips.iter().map(RgbImage::height).sum::<u32>().max(1);
    let mut canvas = RgbImage::from_pixel(width, height, GROUND);
    let mut y = 0;
    for strip in &strips {
        imageops::replace(&mut canvas, strip, 0, y);
        y += i64::from(strip.height());
    }
    canvas.save(path).map_err(|error| match error {
        ImageError::IoError(error) => unwritable(path)(error).into(),
        error => BadInput(format!("{} cannot be a picture: {error}", path.display())).into(),
    })
}

/// Pictures side by side, enlarged.
fn strip(pictures: &[RgbImage]) -> RgbImage {
    let large = |picture: &RgbImage| {
        let (width, height) = (picture.width() * SCALE, picture.height() * SCALE);
        imageops::resize(picture, width, height, imageops::FilterType::Nearest)
    };
    let pictures: Vec<RgbImage> = pictures.iter().map(large).collect();
    let height = pictures.iter().map(RgbImage::height).max().unwrap_or(0) + GAP;
    let width = pictures
        .iter()
        .map(|picture| picture.width() + GAP)
        .sum::<u32>()
        + GAP;
    let mut canvas = RgbImage::from_pixel(width, height, GROUND);
    let mut x = i64::from(GAP);
    for picture in &pictures {
        imageops::replace(&mut canvas, picture, x, i64::from(GAP) / 2);
        x += i64::from(picture.width() + GAP);
    }
    canvas
}

/// Rows of small pictures: mean, standard deviation, draws.
fn rows(kernels: &KernelDraws) -> Vec<Vec<RgbImage>> {
    let centred = |value: f32| 0.5 + 0.35 * value;
    let spread = |value: f32| 2.5 * value;
    let mut rows = vec![
        row(kernels.shape, &kernels.mean, centred),
        row(kernels.shape, &kernels.std, spread),
    ];
    let draws = kernels.draws.iter();
    rows.extend(draws.map(|draw| row(kernels.shape, draw, centred)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_becomes_a_picture_of_its_channels() {
        let kernels = KernelDraws {
            shape: [1, 3, 1, 2],
            mean: vec![0.0, 10.0, -10.0, 0.0, 0.0, 10.0],
            std: vec![0.0; 6],
            draws: vec![],
        };
        let rows = rows(&kernels);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0][0].get_pixel(0, 0), &Rgb([128, 0, 128]));
        assert_eq!(rows[0][0].get_pixel(1, 0), &Rgb([255, 128, 255]));
        assert_eq!(rows[1][0].get_pixel(0, 0), &Rgb([0, 0, 0]));
    }
}
