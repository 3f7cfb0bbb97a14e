//! Grids of numbers, and the filters that corruptions are made of.

use crate::data::Picture;

/// One number per pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub height: usize,
    pub width: usize,
    pub values: Vec<f64>,
}

/// What lies beyond the edge.
#[derive(Clone, Copy, Debug)]
pub enum Border {
    /// `aaa | abcd | ddd`
    Nearest,
    /// `dcb | abcd | cba`
    Mirror,
    /// `cba | abcd | dcb`
    Reflect,
}

impl Border {
    /// The place inside that stands for a place anywhere.
    pub fn inside(self, at: isize, length: usize) -> usize {
        let length = length as isize;
        let inside = match self {
            Self::Nearest => at.clamp(0, length - 1),
            Self::Mirror if length == 1 => 0,
            Self::Mirror => {
                let folded = at.rem_euclid(2 * length - 2);
                folded.min(2 * length - 2 - folded)
            }
            Self::Reflect => {
                let folded = at.rem_euclid(2 * length);
                folded.min(2 * length - 1 - folded)
            }
        };
        inside as usize
    }
}

impl Field {
    pub fn from_fn(
        height: usize,
        width: usize,
        mut value: impl FnMut(usize, usize) -> f64,
    ) -> Self {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (y, x)));
        Self {
            height,
            width,
            values: places.map(|(y, x)| value(y, x)).collect(),
        }
    }

    pub fn at(&self, y: usize, x: usize) -> f64 {
        self.values[y * self.width + x]
    }

    /// The value at any place.
    pub fn beyond(&self, y: isize, x: isize, border: Border) -> f64 {
        self.at(border.inside(y, self.height), border.inside(x, self.width))
    }

    pub fn map(&self, value: impl Fn(f64) -> f64) -> Self {
        Self {
            values: self.values.iter().map(|&old| value(old)).collect(),
            ..*self
        }
    }

    /// A value from each of two fields of the same size.
    pub fn with(&self, other: &Self, value: impl Fn(f64, f64) -> f64) -> Self {
        let pairs = self.values.iter().zip(&other.values);
        Self {
            values: pairs.map(|(&a, &b)| value(a, b)).collect(),
            ..*self
        }
    }

    pub fn max(&self) -> f64 {
        self.values
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max)
    }

    pub fn min(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Linear interpolation between pixels.
    pub fn between(&self, y: f64, x: f64, border: Border) -> f64 {
        let (top, left) = (y.floor(), x.floor());
        let (down, right) = (y - top, x - left);
        let (top, left) = (top as isize, left as isize);
        let row = |y: isize| {
            (1.0 - right) * self.beyond(y, left, border) + right * self.beyond(y, left + 1, border)
        };
        (1.0 - down) * row(top) + down * row(top + 1)
    }

    /// The sum over `(dy, dx, weight)` of shifted fields.
    pub fn weighted(&self, taps: &[(isize, isize, f64)], border: Border) -> Self {
        Self::from_fn(self.height, self.width, |y, x| {
            let term = |&(dy, dx, weight): &(isize, isize, f64)| {
                weight * self.beyond(y as isize + dy, x as isize + dx, border)
            };
            taps.iter().map(term).sum()
        })
    }

    /// A Gaussian blur, cut off at `truncate` standard deviations.
    pub fn gaussian(&self, std: f64, truncate: f64, border: Border) -> Self {
        if std == 0.0 {
            return self.clone();
        }
        let radius = (truncate * std + 0.5) as isize;
        let taps = normalised((-radius..=radius).map(|at| (at, bell(at, std))).collect());
        let down: Vec<_> = taps.iter().map(|&(at, weight)| (at, 0, weight)).collect();
        let across: Vec<_> = taps.iter().map(|&(at, weight)| (0, at, weight)).collect();
        self.weighted(&down, border).weighted(&across, border)
    }

    /// The mean over 3 x 3 pixels.
    pub fn mean_of_nine(&self) -> Self {
        let places = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dy, dx, 1.0 / 9.0)));
        self.weighted(&places.collect::<Vec<_>>(), Border::Mirror)
    }
}

/// Of a normal density, up to a factor.
pub fn bell(at: isize, std: f64) -> f64 {
    (-0.5 * (at * at) as f64 / (std * std)).exp()
}

/// Weights that sum to 1.
pub fn normalised<T>(taps: Vec<(T, f64)>) -> Vec<(T, f64)> {
    let sum: f64 = taps.iter().map(|(_, weight)| weight).sum();
    taps.into_iter()
        .map(|(at, weight)| (at, weight / sum))
        .collect()
}

/// The three colours of a picture, from 0 to 1.
pub fn colours(picture: &Picture) -> [Field; 3] {
    std::array::from_fn(|channel| {
        let values = picture.pixels.iter().skip(channel).step_by(3);
        Field {
            height: picture.height,
            width: picture.width,
            values: values.map(|&value| f64::from(value) / 255.0).collect(),
        }
    })
}

/// A picture of three colours from 0 to 1. Fractions of 1/255 are cut off, as the authors' conversion does.
pub fn picture(colours: &[Field; 3]) -> Picture {
    let [red, green, blue] = colours;
    let value = |value: f64| (value.clamp(0.0, 1.0) * 255.0) as u8;
    let values = red.values.iter().zip(&green.values).zip(&blue.values);
    Picture {
        channels: 3,
        height: red.height,
        width: red.width,
        pixels: values
            .flat_map(|((&red, &green), &blue)| [red, green, blue].map(value))
            .collect(),
    }
}
