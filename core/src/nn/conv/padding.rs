//! Burn's padding configurations as numbers.

use crate::ops::Padding;
use burn::nn::{PaddingConfig1d, PaddingConfig2d};

/// Zeros before and after an axis so that the output has `ceil(size / stride)` elements; an odd one goes
/// to the end.
fn same(size: usize, kernel: usize, stride: usize) -> (usize, usize) {
    let needed = (size.div_ceil(stride).max(1) - 1) * stride + kernel;
    let total = needed.saturating_sub(size);
    (total / 2, total - total / 2)
}

pub(super) fn padding_2d(
    config: &PaddingConfig2d,
    image: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
) -> Padding {
    let ((top, bottom), (left, right)) = match *config {
        PaddingConfig2d::Valid => ((0, 0), (0, 0)),
        PaddingConfig2d::Same => (
            same(image[0], kernel[0], stride[0]),
            same(image[1], kernel[1], stride[1]),
        ),
        PaddingConfig2d::Explicit(top, left, bottom, right) => ((top, bottom), (left, right)),
    };
    Padding {
        top,
        bottom,
        left,
        right,
    }
}

pub(super) fn padding_1d(
    config: &PaddingConfig1d,
    length: usize,
    kernel: usize,
    stride: usize,
) -> Padding {
    let (left, right) = match *config {
        PaddingConfig1d::Valid => (0, 0),
        PaddingConfig1d::Same => same(length, kernel, stride),
        PaddingConfig1d::Explicit(left, right) => (left, right),
    };
    Padding {
        top: 0,
        bottom: 0,
        left,
        right,
    }
}
