//! Every kernel against its twin on the machine's adapter, both variants.

use super::device::{KernelVariant, set_kernel_variant};
use super::*;
use crate::ops::{MatmulWeights, OpError, backend, exemplar_matmul};
use bayesadapter_shaders::twin::{self, Parameters};
use bayesadapter_shaders::{DrawAxis, Matmul, NoiseKey, cases};
use burn::backend::ops::FloatTensorOps;
use burn::tensor::{Device, DeviceKind, Tensor, TensorData};
use std::sync::Mutex;

/// The variant is chosen per process, so the tests that choose one take turns.
static TURN: Mutex<()> = Mutex::new(());

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

/// Numbers in (-1, 1) that differ from tensor to tensor.
fn values(tensor: u32, len: usize) -> Vec<f32> {
    let key = NoiseKey {
        seed: 99,
        parameter: tensor,
        ..Default::default()
    };
    (0..len as u32)
        .map(|at| 2.0 * key.uniform(0, at) - 1.0)
        .collect()
}

fn parameter_shapes(map: &Map, source: &Source) -> Vec<Vec<usize>> {
    let weight = map.weight_shape();
    let [fan_in, fan_out] = map.fan();
    match source {
        Source::Given { count, .. } => vec![[vec![*count], weight].concat()],
        Source::Gaussian { .. } => vec![weight.clone(), weight],
        Source::LowRank {
            components, rank, ..
        } => vec![
            weight,
            vec![*components, fan_in, *rank],
            vec![*components, *rank, fan_out],
        ],
    }
}

fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected
        .iter()
        .fold(1.0f32, |most, value| most.max(value.abs()));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error <= 2e-5 * scale,
            "{what}[{at}]: {found} is not {expected}"
        );
    }
}

/// What the gradients of the parameters are, from the gradient of each example's weight.
fn parameter_gradients(
    map: &Map,
    source: &Source,
    parameters: &[Vec<f32>],
    dw: &[f32],
) -> Vec<Vec<f32>> {
    let len = map.weight_len();
    match source {
        Source::Given { index, count } => {
            let mut sums = vec![0.0; count * len];
            for (example, &slot) in index.iter().enumerate() {
                for element in 0..len {
                    sums[slot as usize * len + element] += dw[example * len + element];
                }
            }
            vec![sums]
        }
        Source::Gaussian { key } => {
            twin::sample_gaussian_backward(*key, DrawAxis::Example, map.batch(), dw, &parameters[1])
                .to_vec()
        }
        Source::LowRank {
            index,
            components,
            rank,
        } => {
            let [shared, left, right] = [0, 1, 2].map(|at| &parameters[at][..]);
            vec![
                twin::fold_shared(map, *rank, index, dw, left, right),
                twin::fold_left(map, *rank, index, *components, dw, shared, right),
                twin::fold_right(map, *rank, index, *components, dw, shared, left),
            ]
        }
    }
}

fn check(map: Map, source: Source) {
    let name = format!("{map:?} {source:?}");
    let x = values(0, map.x_shape().iter().product());
    let grad = values(1, map.y_shape().iter().product());
    let shapes = parameter_shapes(&map, &source);
    let parameters: Vec<Vec<f32>> = (2..)
        .zip(&shapes)
        .map(|(tensor, shape)| values(tensor, shape.iter().product()))
        .collect();
    let slices: Vec<&[f32]> = parameters.iter().map(Vec::as_slice).collect();
    let twin_parameters = Parameters { tensors: &slices };
    let tensors = || -> Vec<CubeTensor> {
        let uploads = parameters.iter().zip(&shapes);
        uploads
            .map(|(values, shape)| upload(values, shape.clone()))
            .collect()
    };
    let op = ExemplarOp {
        map,
        source: source.clone(),
    };
    let y = CubeBackend::exemplar(
        upload(&x, map.x_shape()),
        backend::Parameters::from_vec(tensors()),
        op.clone(),
    );
    let expected = twin::product_forward(&map, &source, &x, twin_parameters);
    assert_close(&format!("y of {name}"), &download(&y), &expected);

    let wanted = Wanted {
        x: true,
        parameters: true,
    };
    let gradients = CubeBackend::exemplar_backward(
        upload(&grad, map.y_shape()),
        upload(&x, map.x_shape()),
        backend::Parameters::from_vec(tensors()),
        op,
        wanted,
    )
    .into_vec();
    let expected = twin::product_backward_x(&map, &source, &grad, twin_parameters);
    assert_close(
        &format!("dx of {name}"),
        &download(&gradients[0]),
        &expected,
    );
    let dw = twin::product_backward_w(&map, &x, &grad);
    let expected = parameter_gradients(&map, &source, &parameters, &dw);
    for (at, expected) in expected.iter().enumerate() {
        let what = format!("gradient {at} of {name}");
        assert_close(&what, &download(&gradients[1 + at]), expected);
    }
}

fn check_all(variant: KernelVariant) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    set_kernel_variant(variant);
    for map in cases::small_maps() {
        for source in cases::sources(map.batch()) {
            check(map, source);
        }
    }
    set_kernel_variant(KernelVariant::Auto);
}

#[test]
fn gpu_kernels_agree_with_their_twins() {
    check_all(KernelVariant::Gpu);
}

#[test]
fn software_kernels_agree_with_their_twins() {
    check_all(KernelVariant::Software);
}

#[test]
fn samples_agree_with_their_twins() {
    let key = NoiseKey {
        seed: 5,
        draw: 9,
        parameter: 2,
        first_example: 4,
    };
    let (mu, psi, grad) = (values(0, 7 * 9), values(1, 7 * 9), values(2, 3 * 7 * 9));
    for axis in [DrawAxis::Example, DrawAxis::Draw] {
        let op = SampleOp::Gaussian {
            key,
            axis,
            draws: 3,
        };
        let parameters = || {
            let [mu, psi] = [&mu, &psi].map(|values| upload(values, vec![7, 9]));
            backend::Parameters::Gaussian { mu, psi }
        };
        let out = CubeBackend::sample(parameters(), op.clone());
        assert_close(
            "draws",
            &download(&out),
            &twin::sample_gaussian(key, axis, 3, &mu, &psi),
        );
        let gradients =
            CubeBackend::sample_backward(upload(&grad, vec![3, 7, 9]), parameters(), op).into_vec();
        let expected = twin::sample_gaussian_backward(key, axis, 3, &grad, &psi);
        assert_close("d mu", &download(&gradients[0]), &expected[0]);
        assert_close("d psi", &download(&gradients[1]), &expected[1]);
    }
}

#[test]
fn low_rank_samples_agree_with_their_twins() {
    let map = Map::Matmul(Matmul {
        batch: 3,
        rows: 1,
        inputs: 7,
        outputs: 9,
    });
    let (index, rank): ([u32; 3], usize) = ([1, 0, 1], 2);
    let source = Source::LowRank {
        index: index.into(),
        components: 2,
        rank,
    };
    let shapes = parameter_shapes(&map, &source);
    let len = |at: usize| shapes[at].iter().product();
    let [shared, left, right] = [0, 1, 2].map(|at| values(at as u32, len(at)));
    let tensors = || {
        let all = [&shared, &left, &right].into_iter().zip(&shapes);
        all.map(|(values, shape)| upload(values, shape.clone()))
            .collect()
    };
    let op = SampleOp::LowRank {
        op: ExemplarOp { map, source },
    };
    let out = CubeBackend::sample(backend::Parameters::from_vec(tensors()), op.clone());
    let expected = twin::sample_low_rank(&map, rank, &index, &shared, &left, &right);
    assert_close("draws", &download(&out), &expected);
    let grad = values(3, 3 * 7 * 9);
    let gradients = CubeBackend::sample_backward(
        upload(&grad, vec![3, 7, 9]),
        backend::Parameters::from_vec(tensors()),
        op,
    )
    .into_vec();
    let expected = [
        twin::fold_shared(&map, rank, &index, &grad, &left, &right),
        twin::fold_left(&map, rank, &index, 2, &grad, &shared, &right),
        twin::fold_right(&map, rank, &index, 2, &grad, &shared, &left),
    ];
    for (at, expected) in expected.iter().enumerate() {
        assert_close(
            &format!("gradient {at}"),
            &download(&gradients[at]),
            expected,
        );
    }
}

#[test]
fn sums_of_parts_agree_with_their_twin() {
    // The slot in the middle has no parts.
    let (slot_starts, elements, stride, offset) = ([0, 3, 3, 5], 70, 200, 100);
    let parts = values(0, 5 * stride);
    let tensor = upload(&parts, vec![5 * stride]);
    let out = empty_tensor(&tensor, &[3, elements]);
    let launch = kernels::sum_parts(&slot_starts, elements, stride, offset);
    run(&tensor.client, launch, &[&tensor, &out]);
    let expected = twin::sum_parts(&slot_starts, elements, stride, offset, &parts);
    assert_close("sums", &download(&out), &expected);
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
