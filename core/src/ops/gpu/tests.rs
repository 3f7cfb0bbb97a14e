//! Every kernel against its twin on the machine's adapter, both variants.

use super::device::{KernelVariant, set_kernel_variant};
use super::*;
use crate::ops::twins::{
    Visible, assert_close, check, check_gaussian_samples, check_low_rank_samples, values,
};
use crate::ops::{MatmulWeights, OpError, exemplar_matmul};
use bayesadapter_shaders::{Conv2d, Matmul, Padding, cases, twin};
use burn::backend::ops::FloatTensorOps;
use burn::tensor::{Device, DeviceKind, Tensor, TensorData};
use std::sync::{Arc, Mutex};

/// The variant is chosen per process, so the tests that choose one take turns.
static TURN: Mutex<()> = Mutex::new(());

fn with_kernels(variant: KernelVariant, run: impl FnOnce()) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    set_kernel_variant(variant);
    run();
    set_kernel_variant(KernelVariant::Auto);
}

impl Visible for CubeBackend {
    fn upload(values: &[f32], shape: Vec<usize>) -> CubeTensor {
        let device = cubecl::Device::Wgpu(burn_wgpu::WgpuDevice::default());
        CubeBackend::float_from_data(TensorData::new(values.to_vec(), shape), &device)
    }

    fn download(tensor: &CubeTensor) -> Vec<f32> {
        let bytes = tensor
            .client
            .read_one(tensor.handle.clone())
            .expect("a readable tensor");
        bytemuck::pod_collect_to_vec::<u8, f32>(&bytes)[..tensor.meta.num_elements()].to_vec()
    }
}

fn check_all(variant: KernelVariant) {
    with_kernels(variant, || {
        for map in cases::small_maps() {
            for source in cases::sources(map.batch()) {
                check::<CubeBackend>(map, source);
            }
        }
    });
}

#[test]
fn gpu_kernels_agree_with_their_twins() {
    check_all(KernelVariant::Gpu);
}

#[test]
fn software_kernels_agree_with_their_twins() {
    check_all(KernelVariant::Software);
}

/// All or nearly all examples in one of many slots, so that tiles are searched for among empty blocks and a
/// slot takes far more of them than its share; and a slot for each.
#[test]
fn uneven_slots_agree_with_their_twins() {
    let (batch, slots) = (40, 50);
    let mut nearly = vec![37; batch];
    (nearly[1], nearly[20], nearly[batch - 1]) = (3, 49, 38);
    let each: Vec<u32> = (0..batch as u32).rev().collect();
    let indices = [nearly, vec![37; batch], each].map(Arc::<[u32]>::from);
    let maps = [
        Map::Matmul(Matmul {
            batch,
            rows: 13,
            inputs: 6,
            outputs: 9,
        }),
        Map::Conv2d(Conv2d {
            batch,
            channels_in: 3,
            channels_out: 5,
            image: [6, 7],
            kernel: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::symmetric(1, 1),
            groups: 1,
        }),
    ];
    with_kernels(KernelVariant::Gpu, || {
        for map in maps {
            for index in &indices {
                let given = Source::Given {
                    index: index.clone(),
                    count: slots,
                };
                let low_rank = Source::LowRank {
                    index: index.clone(),
                    components: slots,
                    rank: 2,
                };
                check::<CubeBackend>(map, given);
                check::<CubeBackend>(map, low_rank);
            }
        }
    });
}

#[test]
fn samples_agree_with_their_twins() {
    check_gaussian_samples::<CubeBackend>();
    check_low_rank_samples::<CubeBackend>();
}

#[test]
fn sums_of_parts_agree_with_their_twin() {
    // The slot in the middle has no parts.
    let (slot_starts, elements, stride, offset) = ([0, 3, 3, 5], 70, 200, 100);
    let parts = values(0, 5 * stride);
    let tensor = CubeBackend::upload(&parts, vec![5 * stride]);
    let out = empty_tensor(&tensor, &[3, elements]);
    let launch = kernels::sum_parts(&slot_starts, elements, stride, offset);
    run(&tensor.client, launch, &[&tensor, &out]);
    let expected = twin::sum_parts(&slot_starts, elements, stride, offset, &parts);
    assert_close("sums", &CubeBackend::download(&out), &expected);
}

/// Vulkan and WebGPU count the bytes of a binding in 32 bits, so no adapter binds such a result.
#[test]
fn a_result_that_cannot_be_bound_is_refused() {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let side = 46_000;
    let weights = MatmulWeights::Given {
        weights: Tensor::zeros([1, 1, side], &device),
        index: vec![0],
    };
    let refused = exemplar_matmul(Tensor::zeros([1, side, 1], &device), weights, None);
    let bytes = 4 * (side * side) as u64;
    assert!(matches!(
        refused,
        Err(OpError::Limit { what: "the result", bytes: needed, limit }) if needed == bytes && limit < bytes
    ));
}
