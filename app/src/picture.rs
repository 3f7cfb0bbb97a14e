//! Kernels as pictures.

use anyhow::Result;
use bayesadapter::{
    evaluate::{KernelPosterior, LayerFactors},
    showcase::KernelDraws,
};
use image::{Rgb, RgbImage, imageops};
use std::path::Path;

/// Pixels per kernel element, and between kernels.
const SCALE: u32 = 6;
const GAP: u32 = 6;

/// Colour between kernels.
const GROUND: Rgb<u8> = Rgb([24, 24, 28]);

/// One kernel per column; rows are the mean, the standard deviation, and the draws.
pub fn save(kernels: &KernelDraws, path: &Path) -> Result<()> {
    save_rows(&rows(kernels), path)
}

/// One kernel per column; rows are the mean, grey being zero, and the standard deviation, black being zero; each
/// relative to its largest value.
pub fn save_kernels(kernels: &KernelPosterior, path: &Path) -> Result<()> {
    save_rows(&mean_and_std(kernels), path)
}

/// A picture per kernel: of the mean, grey being zero, and of the standard deviation, black being zero; each relative
/// to its largest value.
pub fn mean_and_std(kernels: &KernelPosterior) -> [Vec<RgbImage>; 2] {
    let (mean, std) = (largest(&kernels.mean), largest(&kernels.std));
    [
        centred(kernels.shape, &kernels.mean, mean),
        row(kernels.shape, &kernels.std, |value| value / std),
    ]
}

/// A picture per kernel, grey being zero and white the largest value.
pub fn centred(shape: [usize; 4], values: &[f32], largest: f32) -> Vec<RgbImage> {
    row(shape, values, |value| 0.5 + 0.5 * value / largest)
}

/// The factors of an ensemble, of the inputs and of the outputs: a row per network; grey leaves the shared weight as
/// it is.
pub fn factors(factors: &LayerFactors) -> [RgbImage; 2] {
    let components = factors.components.max(1);
    let outputs = factors.right.len() / components / factors.rank.max(1);
    // The product of the factors is about one: those of the first rank are, and the others about zero.
    let first_of_left = |column: usize| column.is_multiple_of(factors.rank.max(1));
    let first_of_right = |column: usize| column < outputs;
    [
        heat_map(&factors.left, components, first_of_left),
        heat_map(&factors.right, components, first_of_right),
    ]
}

fn heat_map(values: &[f32], rows: usize, first_rank: impl Fn(usize) -> bool) -> RgbImage {
    let columns = values.len() / rows;
    let neutral = |column: usize| f32::from(u8::from(first_rank(column)));
    let ways = values.iter().enumerate();
    let ways: Vec<f32> = ways
        .map(|(at, value)| value - neutral(at % columns.max(1)))
        .collect();
    let most = largest(&ways);
    // A texture's side has its limits, and so has what one can see.
    let shown = columns.min(2048);
    RgbImage::from_fn(shown as u32, rows as u32, |x, y| {
        let way = ways[y as usize * columns + x as usize];
        let grey = (127.5 + 127.5 * way / most).round() as u8;
        Rgb([grey; 3])
    })
}

/// The largest value, whatever its sign.
pub fn largest(values: &[f32]) -> f32 {
    values
        .iter()
        .fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()))
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
    canvas.save(path)?;
    Ok(())
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

fn row(shape: [usize; 4], values: &[f32], brightness: impl Fn(f32) -> f32) -> Vec<RgbImage> {
    let [_, channels, height, width] = shape;
    let plane = height * width;
    values
        .chunks_exact(channels * plane)
        .map(|kernel| {
            RgbImage::from_fn(width as u32, height as u32, |x, y| {
                let place = y as usize * width + x as usize;
                Rgb([0, 1, 2].map(|colour| {
                    // Three inputs are colours; of another number, the first is shown in grey.
                    let channel = if channels == 3 { colour } else { 0 };
                    let value = kernel.get(channel * plane + place).copied().unwrap_or(0.0);
                    (brightness(value).clamp(0.0, 1.0) * 255.0).round() as u8
                }))
            })
        })
        .collect()
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
