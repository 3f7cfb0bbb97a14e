//! Convolutions.

mod conv1d;
mod conv2d;
mod padding;
mod transpose;

#[doc(no_inline)]
pub use burn::nn::conv::*;

pub use conv1d::{Conv1d, Conv1dConfig};
pub use conv2d::{Conv2d, Conv2dConfig};
pub use transpose::{ConvTranspose2d, ConvTranspose2dConfig};

use crate::{
    estimators::LinearMap,
    ops::{Conv2dWeights, ConvOptions, OpError, exemplar_conv2d},
};
use burn::tensor::Tensor;

/// x `[rows, channels_in, h, w]` by kernels `[channels_out, channels_in / groups, kh, kw]`.
impl LinearMap<4, 5, 4> for ConvOptions {
    const CHANNELS: usize = 1;

    fn apply(&self, x: Tensor<4>, weights: Conv2dWeights) -> Result<Tensor<4>, OpError> {
        exemplar_conv2d(x, weights, None, *self)
    }

    fn by_channel(&self, values: Tensor<2>) -> Tensor<4> {
        let [rows, channels] = values.dims();
        values.reshape([rows, channels, 1, 1])
    }

    fn y_shape(&self, [rows, _, h, w]: [usize; 4], weight: [usize; 4]) -> [usize; 4] {
        let [channels, _, kh, kw] = weight;
        let padding = self.padding;
        let padded = [
            h + padding.top + padding.bottom,
            w + padding.left + padding.right,
        ];
        let kernel = [kh, kw];
        let size = |axis: usize| {
            let span = self.dilation[axis] * kernel[axis].saturating_sub(1) + 1;
            padded[axis].saturating_sub(span) / self.stride[axis].max(1) + 1
        };
        [rows, channels, size(0), size(1)]
    }
}
