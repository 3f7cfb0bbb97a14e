//! Shapes of the two linear maps, checked once so that everything downstream can rely on them.

use std::fmt;

/// `y[b, t, o] = sum_i x[b, t, i] * w_b[i, o]`: one matrix per example.
///
/// Shapes: x `[batch, rows, inputs]`, one weight `[inputs, outputs]`, y `[batch, rows, outputs]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matmul {
    /// Examples.
    pub batch: usize,
    /// Rows of x and y for each example.
    pub rows: usize,
    /// Columns of x, rows of a weight.
    pub inputs: usize,
    /// Columns of y and of a weight.
    pub outputs: usize,
}

/// Zeros added around an image, each side on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Padding {
    /// Rows above.
    pub top: usize,
    /// Rows below.
    pub bottom: usize,
    /// Columns to the left.
    pub left: usize,
    /// Columns to the right.
    pub right: usize,
}

impl Padding {
    /// The same number of rows above and below, and of columns left and right.
    pub const fn symmetric(rows: usize, columns: usize) -> Self {
        Self {
            top: rows,
            bottom: rows,
            left: columns,
            right: columns,
        }
    }
}

/// A 2-D convolution (cross-correlation, as in every deep-learning library) with one kernel per example.
///
/// Shapes: x `[batch, channels_in, h, w]`, one weight `[channels_out, channels_in / groups, kh, kw]`,
/// y `[batch, channels_out, oh, ow]`. Pairs are `[vertical, horizontal]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conv2d {
    /// Examples.
    pub batch: usize,
    /// Channels of x, over all groups.
    pub channels_in: usize,
    /// Channels of y, over all groups.
    pub channels_out: usize,
    /// `[h, w]` of x, without padding.
    pub image: [usize; 2],
    /// `[kh, kw]`.
    pub kernel: [usize; 2],
    /// Steps from one output to the next, in pixels.
    pub stride: [usize; 2],
    /// Steps from one element of the kernel to the next, in pixels.
    pub dilation: [usize; 2],
    /// Zeros around x.
    pub padding: Padding,
    /// Equal parts of the channels, each of which is mixed only with itself.
    pub groups: usize,
}

/// Why a shape cannot be computed. Every variant carries the numbers that clash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeometryError {
    /// A size that must be at least one is zero.
    Zero {
        /// Which size.
        what: &'static str,
    },
    /// `groups` does not divide a channel count.
    Groups {
        /// Number of groups.
        groups: usize,
        /// Which channels.
        what: &'static str,
        /// Their number.
        channels: usize,
    },
    /// The dilated kernel is larger than the padded image, so there is no output.
    KernelTooLarge {
        /// Rows and columns that the dilated kernel spans.
        kernel: [usize; 2],
        /// Rows and columns of the padded image.
        padded: [usize; 2],
    },
    /// A tensor would hold more elements than a 32-bit index reaches.
    TooLarge {
        /// Which tensor.
        what: &'static str,
    },
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { what } => write!(f, "{what} must be at least 1, but is 0"),
            Self::Groups {
                groups,
                what,
                channels,
            } => write!(
                f,
                "groups = {groups} does not divide {what} = {channels}; choose groups that divide both channel counts"
            ),
            Self::KernelTooLarge { kernel, padded } => write!(
                f,
                "the kernel spans {}x{} after dilation, more than the padded image of {}x{}; add padding or use a smaller kernel",
                kernel[0], kernel[1], padded[0], padded[1]
            ),
            Self::TooLarge { what } => write!(
                f,
                "{what} holds more than {} elements; use a smaller batch or layer",
                MAX_ELEMENTS
            ),
        }
    }
}

impl std::error::Error for GeometryError {}

/// Shaders index with signed 32-bit integers where padding can make a coordinate negative.
pub const MAX_ELEMENTS: usize = i32::MAX as usize;

fn product(what: &'static str, sizes: &[usize]) -> Result<usize, GeometryError> {
    sizes
        .iter()
        .try_fold(1usize, |all, &size| all.checked_mul(size))
        .filter(|&all| all <= MAX_ELEMENTS)
        .ok_or(GeometryError::TooLarge { what })
}

fn positive(sizes: &[(&'static str, usize)]) -> Result<(), GeometryError> {
    match sizes.iter().find(|(_, size)| *size == 0) {
        Some((what, _)) => Err(GeometryError::Zero { what }),
        None => Ok(()),
    }
}

impl Matmul {
    /// Checks sizes; a batch of zero is allowed.
    pub fn checked(self) -> Result<Self, GeometryError> {
        positive(&[
            ("rows", self.rows),
            ("inputs", self.inputs),
            ("outputs", self.outputs),
        ])?;
        product("the input", &[self.batch, self.rows, self.inputs])?;
        product("the output", &[self.batch, self.rows, self.outputs])?;
        product("the weight", &[self.inputs, self.outputs])?;
        Ok(self)
    }
}

impl Conv2d {
    /// Checks sizes; a batch of zero is allowed. A step that leaves the padded image at once is cut to the
    /// least that does so, and the elements of a kernel of one are one apart: neither changes a result, and
    /// everything downstream can rely on small numbers.
    pub fn checked(mut self) -> Result<Self, GeometryError> {
        positive(&[
            ("input channels", self.channels_in),
            ("output channels", self.channels_out),
            ("image height", self.image[0]),
            ("image width", self.image[1]),
            ("kernel height", self.kernel[0]),
            ("kernel width", self.kernel[1]),
            ("vertical stride", self.stride[0]),
            ("horizontal stride", self.stride[1]),
            ("vertical dilation", self.dilation[0]),
            ("horizontal dilation", self.dilation[1]),
            ("groups", self.groups),
        ])?;
        for (what, channels) in [
            ("input channels", self.channels_in),
            ("output channels", self.channels_out),
        ] {
            if channels % self.groups != 0 {
                return Err(GeometryError::Groups {
                    groups: self.groups,
                    what,
                    channels,
                });
            }
        }
        let [padded, span] = self.extents()?;
        for axis in 0..2 {
            self.stride[axis] = self.stride[axis].min(padded[axis] - span[axis] + 1);
            if self.kernel[axis] == 1 {
                self.dilation[axis] = 1;
            }
        }
        let [oh, ow] = self.output();
        product("the padded image", &padded)?;
        product("the weight", &self.weight_shape())?;
        product(
            "the input",
            &[self.batch, self.channels_in, padded[0], padded[1]],
        )?;
        product("the output", &[self.batch, self.channels_out, oh, ow])?;
        Ok(self)
    }

    /// The image with its padding, and the kernel with its dilation, which fits into it.
    fn extents(&self) -> Result<[[usize; 2]; 2], GeometryError> {
        let (p, too_large) = (self.padding, GeometryError::TooLarge { what: "the image" });
        let mut padded = [0; 2];
        let mut span = [0; 2];
        for axis in 0..2 {
            let (before, after) = [(p.top, p.bottom), (p.left, p.right)][axis];
            padded[axis] = [before, after]
                .iter()
                .try_fold(self.image[axis], |size, &pad| size.checked_add(pad))
                .ok_or(too_large.clone())?;
            span[axis] = (self.kernel[axis] - 1)
                .checked_mul(self.dilation[axis])
                .and_then(|size| size.checked_add(1))
                .ok_or(too_large.clone())?;
        }
        if span[0] > padded[0] || span[1] > padded[1] {
            return Err(GeometryError::KernelTooLarge {
                kernel: span,
                padded,
            });
        }
        Ok([padded, span])
    }

    /// `[oh, ow]`.
    pub fn output(&self) -> [usize; 2] {
        let p = self.padding;
        let size = |axis: usize, pad: usize| {
            let span = (self.kernel[axis] - 1) * self.dilation[axis] + 1;
            (self.image[axis] + pad - span) / self.stride[axis] + 1
        };
        [size(0, p.top + p.bottom), size(1, p.left + p.right)]
    }

    /// `[channels_out, channels_in / groups, kh, kw]`.
    pub fn weight_shape(&self) -> [usize; 4] {
        let [kh, kw] = self.kernel;
        [self.channels_out, self.channels_in / self.groups, kh, kw]
    }
}

/// Either linear map. The ops, the kernels and the estimators are written against this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Map {
    /// A matrix product.
    Matmul(Matmul),
    /// A convolution.
    Conv2d(Conv2d),
}

impl Map {
    /// Number of examples.
    pub fn batch(&self) -> usize {
        match self {
            Self::Matmul(m) => m.batch,
            Self::Conv2d(c) => c.batch,
        }
    }

    /// Shape of x.
    pub fn x_shape(&self) -> Vec<usize> {
        match self {
            Self::Matmul(m) => vec![m.batch, m.rows, m.inputs],
            Self::Conv2d(c) => vec![c.batch, c.channels_in, c.image[0], c.image[1]],
        }
    }

    /// Shape of y.
    pub fn y_shape(&self) -> Vec<usize> {
        match self {
            Self::Matmul(m) => vec![m.batch, m.rows, m.outputs],
            Self::Conv2d(c) => {
                let [oh, ow] = c.output();
                vec![c.batch, c.channels_out, oh, ow]
            }
        }
    }

    /// Shape of one weight.
    pub fn weight_shape(&self) -> Vec<usize> {
        match self {
            Self::Matmul(m) => vec![m.inputs, m.outputs],
            Self::Conv2d(c) => c.weight_shape().to_vec(),
        }
    }

    /// Number of elements of one weight.
    pub fn weight_len(&self) -> usize {
        self.weight_shape().iter().product()
    }

    /// One weight read as the matrix of a low-rank ensemble: `[in, out]`, where `in` counts the
    /// taps that one output sees (`channels_in / groups * kh * kw` for a convolution).
    pub fn fan(&self) -> [usize; 2] {
        match self {
            Self::Matmul(m) => [m.inputs, m.outputs],
            Self::Conv2d(c) => {
                let [o, i, kh, kw] = c.weight_shape();
                [i * kh * kw, o]
            }
        }
    }

    /// Multiply-adds counted as two operations, for one forward pass.
    pub fn flop(&self) -> f64 {
        let positions = match self {
            Self::Matmul(m) => m.rows,
            Self::Conv2d(c) => c.output().iter().product(),
        };
        2.0 * self.batch() as f64 * self.weight_len() as f64 * positions as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conv(image: [usize; 2], kernel: [usize; 2], stride: [usize; 2]) -> Conv2d {
        Conv2d {
            batch: 1,
            channels_in: 1,
            channels_out: 1,
            image,
            kernel,
            stride,
            dilation: [1, 1],
            padding: Padding::default(),
            groups: 1,
        }
    }

    #[test]
    fn a_step_out_of_the_image_is_cut_and_changes_no_output() {
        for (image, kernel) in [([1, 1], [1, 1]), ([5, 9], [3, 2]), ([4, 7], [4, 7])] {
            for step in 1..12 {
                let given = conv(image, kernel, [step, 13 - step]);
                let checked = given.checked().expect("a valid shape");
                assert_eq!(checked.output(), given.output(), "{given:?}");
            }
            let far = conv(image, kernel, [usize::MAX, 1_000_000_000]);
            let checked = far.checked().expect("a valid shape");
            assert_eq!(checked.output(), [1, 1]);
            assert!(checked.stride[0] <= image[0] && checked.stride[1] <= image[1]);
        }
    }

    #[test]
    fn a_single_tap_has_no_spread() {
        let mut wide = conv([5, 5], [1, 2], [1, 1]);
        wide.dilation = [usize::MAX, 3];
        let checked = wide.checked().expect("a valid shape");
        assert_eq!(checked.dilation, [1, 3]);
    }
}
