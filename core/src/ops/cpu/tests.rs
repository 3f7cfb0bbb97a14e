//! The ops of the CPU against the twins of the kernels, which are written to be read.

use super::{Flex, FlexTensor, slice, tensor};
use crate::ops::twins::{Visible, check, check_gaussian_samples, check_low_rank_samples};
use bayesadapter_shaders::cases;

impl Visible for Flex {
    fn upload(values: &[f32], shape: Vec<usize>) -> FlexTensor {
        tensor(values.to_vec(), shape)
    }

    fn download(tensor: &FlexTensor) -> Vec<f32> {
        slice(tensor).to_vec()
    }
}

#[test]
fn ops_agree_with_the_twins() {
    for map in cases::small_maps() {
        for source in cases::sources(map.batch()) {
            check::<Flex>(map, source);
        }
    }
}

#[test]
fn samples_agree_with_their_twins() {
    check_gaussian_samples::<Flex>();
    check_low_rank_samples::<Flex>();
}
