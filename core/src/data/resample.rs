//! Resizing, as Pillow does it: a filter that grows with the reduction, first along rows, then along columns,
//! 8 bits in between.

use super::Picture;

#[derive(Clone, Copy, Debug)]
pub(super) enum Filter {
    /// The mean over the pixels that an output pixel covers.
    Box,
    /// Linear interpolation; when reducing, a triangle over twice the pixels that are covered.
    Triangle,
}

impl Filter {
    fn support(self) -> f64 {
        match self {
            Self::Box => 0.5,
            Self::Triangle => 1.0,
        }
    }

    fn at(self, x: f64) -> f64 {
        match self {
            Self::Box => f64::from(x > -0.5 && x <= 0.5),
            Self::Triangle => (1.0 - x.abs()).max(0.0),
        }
    }
}

/// Which inputs make up one output, and how much of each.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

fn taps(input: usize, output: usize, filter: Filter) -> Vec<Taps> {
    let scale = input as f64 / output as f64;
    let stretch = scale.max(1.0);
    let support = filter.support() * stretch;
    let taps_of = |position: usize| {
        let centre = (position as f64 + 0.5) * scale;
        let first = (centre - support + 0.5).max(0.0) as usize;
        let end = ((centre + support + 0.5) as usize).min(input);
        let weights = (first..end).map(|at| filter.at((at as f64 - centre + 0.5) / stretch));
        let weights: Vec<f64> = weights.collect();
        let sum: f64 = weights.iter().sum();
        Taps {
            first,
            weights: weights.iter().map(|weight| (weight / sum) as f32).collect(),
        }
    };
    (0..output).map(taps_of).collect()
}

/// The picture at another size.
pub(super) fn resize(picture: &Picture, height: usize, width: usize, filter: Filter) -> Picture {
    let rows_done = along_rows(picture, width, filter);
    match rows_done {
        Some(picture) => along_columns(&picture, height, filter).unwrap_or(picture),
        None => along_columns(picture, height, filter).unwrap_or_else(|| picture.clone()),
    }
}

/// `None` if nothing changes.
fn along_rows(picture: &Picture, width: usize, filter: Filter) -> Option<Picture> {
    if width == picture.width {
        return None;
    }
    let channels = picture.channels;
    let taps = taps(picture.width, width, filter);
    let mut pixels = Vec::with_capacity(picture.height * width * channels);
    for row in picture.pixels.chunks_exact(picture.width * channels) {
        for tap in &taps {
            let covered = &row[tap.first * channels..];
            for channel in 0..channels {
                let values = covered.iter().skip(channel).step_by(channels);
                let sum = tap.weights.iter().zip(values);
                pixels.push(rounded(sum.map(|(w, &v)| w * f32::from(v)).sum()));
            }
        }
    }
    Some(Picture {
        width,
        pixels,
        ..*picture
    })
}

/// `None` if nothing changes.
fn along_columns(picture: &Picture, height: usize, filter: Filter) -> Option<Picture> {
    if height == picture.height {
        return None;
    }
    let row = picture.width * picture.channels;
    let mut pixels = Vec::with_capacity(height * row);
    let mut sums = vec![0.0f32; row];
    for tap in taps(picture.height, height, filter) {
        sums.fill(0.0);
        let rows = picture.pixels[tap.first * row..].chunks_exact(row);
        for (&weight, values) in tap.weights.iter().zip(rows) {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum += weight * f32::from(value);
            }
        }
        pixels.extend(sums.iter().map(|&sum| rounded(sum)));
    }
    Some(Picture {
        height,
        pixels,
        ..*picture
    })
}

/// To the nearest of 0..=255; halves go up.
fn rounded(value: f32) -> u8 {
    (value + 0.5) as u8
}
