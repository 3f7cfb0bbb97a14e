//! The ops of the CPU against the twins of the kernels, which are written to be read.

use super::{Flex, FlexTensor, lanes::Level, slice, tensor};
use crate::ops::MatmulWeights;
use crate::ops::exemplar_matmul;
use crate::ops::twins::{
    Case, Visible, assert_close, check, check_gaussian_samples, check_low_rank_samples,
};
use bayesadapter_shaders::{Conv2d, Map, Matmul, Padding, Source, cases};
use burn::tensor::{Device, Tensor, TensorData};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many of this processor's instruction sets are passed over, the widest first. Tests that run at the same time
/// may see it: their results do not depend on it.
static PASSED_OVER: AtomicUsize = AtomicUsize::new(0);

/// The instruction sets of this processor, the widest first.
fn levels() -> Vec<Level> {
    let mut levels = vec![
        #[cfg(target_arch = "x86_64")]
        Level::Avx512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2,
        Level::Portable,
    ];
    levels.retain(|&level| level <= Level::widest());
    levels
}

/// The instruction set that tasks use now.
pub(super) fn level() -> Level {
    levels()[PASSED_OVER.load(Ordering::Relaxed)]
}

impl Visible for Flex {
    fn upload(values: &[f32], shape: Vec<usize>) -> FlexTensor {
        tensor(values.to_vec(), shape)
    }

    fn download(tensor: &FlexTensor) -> Vec<f32> {
        slice(tensor).to_vec()
    }
}

/// What takes other ways on the CPU than on GPUs: rows of two tiles, and of two and a half; dot products.
fn own_maps() -> Vec<Map> {
    let wide = |channels_out: usize, width: usize| {
        Map::Conv2d(Conv2d {
            batch: 5,
            channels_in: 3,
            channels_out,
            image: [5, width],
            kernel: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::symmetric(1, 1),
            groups: 1,
        })
    };
    let dots = Matmul {
        batch: 70,
        rows: 1,
        inputs: 41,
        outputs: 72,
    };
    vec![wide(11, 16), wide(8, 32), wide(7, 20), Map::Matmul(dots)]
}

#[test]
fn ops_agree_with_the_twins() {
    for passed_over in 0..levels().len() {
        PASSED_OVER.store(passed_over, Ordering::Relaxed);
        for map in cases::small_maps().into_iter().chain(own_maps()) {
            for source in cases::sources(map.batch()) {
                match (map, &source) {
                    (Map::Matmul(_), Source::LowRank { index, .. }) => {
                        check_composed(&map, &source, index);
                    }
                    _ => check::<Flex>(map, source),
                }
            }
        }
    }
    PASSED_OVER.store(0, Ordering::Relaxed);
}

/// A low-rank product, which the public op composes of one with the shared weight and two scalings.
fn check_composed(map: &Map, source: &Source, index: &[u32]) {
    fn leaf<const D: usize>(values: &[f32], shape: &[usize]) -> Tensor<D> {
        let data = TensorData::new(values.to_vec(), shape);
        Tensor::from_data(data, &Device::flex().autodiff()).require_grad()
    }
    fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().expect("f32")
    }
    let case = Case::new(map, source);
    let x = leaf::<3>(&case.x, &map.x_shape());
    let shared = leaf::<2>(&case.parameters[0], &case.shapes[0]);
    let [left, right] = [1, 2].map(|at| leaf::<3>(&case.parameters[at], &case.shapes[at]));
    let weights = MatmulWeights::LowRank {
        shared: shared.clone(),
        left: left.clone(),
        right: right.clone(),
        index: index.to_vec(),
    };
    let y = exemplar_matmul(x.clone(), weights, None).expect("a valid shape");
    let name = format!("{map:?} {source:?}");
    assert_close(&format!("y of {name}"), &read(y.clone()), &case.y);
    let gradients = (y * leaf(&case.grad, &map.y_shape())).sum().backward();
    let found = [
        x.grad(&gradients).map(read),
        shared.grad(&gradients).map(read),
        left.grad(&gradients).map(read),
        right.grad(&gradients).map(read),
    ];
    for (at, (found, expected)) in found.iter().zip(&case.gradients).enumerate() {
        let found = found.as_deref().unwrap_or_default();
        assert_close(&format!("gradient {at} of {name}"), found, expected);
    }
}

#[test]
fn samples_agree_with_their_twins() {
    check_gaussian_samples::<Flex>();
    check_low_rank_samples::<Flex>();
}
