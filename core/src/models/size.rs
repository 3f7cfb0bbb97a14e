//! Scalars of networks, counted without building them: a file may describe a network that no machine can hold.

use super::inverted_residual::{Activation, Stage, Style};
use super::parts;

/// Of a convolution without bias, all channels with all.
pub(super) fn conv([inputs, outputs]: [usize; 2], kernel: usize) -> u64 {
    inputs as u64 * outputs as u64 * (kernel * kernel) as u64
}

/// Of a convolution without bias, every channel with a filter of its own.
pub(super) fn depthwise(channels: usize, kernel: [usize; 2]) -> u64 {
    channels as u64 * kernel[0] as u64 * kernel[1] as u64
}

/// Scale, shift and running statistics.
pub(super) fn norm(channels: usize) -> u64 {
    4 * channels as u64
}

/// With bias.
pub(super) fn linear([inputs, outputs]: [usize; 2]) -> u64 {
    (inputs as u64 + 1) * outputs as u64
}

/// Of the blocks that [`parts::stage`] makes.
pub(super) fn stage(
    count: usize,
    channels: [usize; 2],
    stride: usize,
    block: impl Fn([usize; 2], usize) -> u64,
) -> u64 {
    parts::stage(count, channels, stride, block).iter().sum()
}

impl Style {
    /// Of a norm and an activation.
    pub(super) fn active_size(&self, channels: usize) -> u64 {
        let slopes = match self.activation {
            Activation::Relu6 => 0,
            Activation::PRelu => channels as u64,
        };
        norm(channels) + slopes
    }
}

/// Of the blocks that [`inverted_residuals`](super::inverted_residual::inverted_residuals) makes.
pub(super) fn inverted_residuals(
    stages: &[Stage],
    mut inputs: usize,
    scaled: impl Fn(usize) -> usize,
    style: &Style,
) -> u64 {
    let mut size = 0;
    for row in stages {
        let outputs = scaled(row.channels);
        size += stage(row.blocks, [inputs, outputs], 1, |[inputs, outputs], _| {
            let inner = inputs * row.expansion;
            let expand = match row.expansion {
                1 => 0,
                _ => conv([inputs, inner], 1) + style.active_size(inner),
            };
            let filter = depthwise(inner, [row.kernel; 2]) + style.active_size(inner);
            expand + filter + conv([inner, outputs], 1) + norm(outputs)
        });
        inputs = outputs;
    }
    size
}
