//! Every kernel against its twin on the machine's adapter, both variants.

use super::device::{KernelVariant, set_kernel_variant};
use super::*;
use crate::ops::backend;
use bayesadapter_shaders::twin::{self, Parameters};
use bayesadapter_shaders::{Conv2d, DrawAxis, Matmul, NoiseKey, Padding};
use burn::backend::ops::FloatTensorOps;
use burn::tensor::TensorData;
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
        tensors(),
        op,
        wanted,
    );
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

fn maps() -> Vec<Map> {
    let matmul = |batch, rows, inputs, outputs| {
        Map::Matmul(Matmul {
            batch,
            rows,
            inputs,
            outputs,
        })
    };
    let conv = |channels: [usize; 2], image: [usize; 2], kernel: [usize; 2], groups| Conv2d {
        batch: 5,
        channels_in: channels[0],
        channels_out: channels[1],
        image,
        kernel,
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::symmetric(kernel[0] / 2, kernel[1] / 2),
        groups,
    };
    let mut strided = conv([6, 4], [9, 7], [3, 2], 2);
    strided.stride = [2, 3];
    strided.dilation = [2, 1];
    strided.padding.bottom = 0;
    let mut leaping = conv([4, 8], [3, 5], [3, 3], 1);
    leaping.stride = [7, 11];
    vec![
        matmul(5, 1, 1, 1),
        matmul(5, 1, 13, 10),
        matmul(9, 1, 36, 68),
        matmul(5, 7, 12, 20),
        matmul(5, 70, 5, 66),
        Map::Conv2d(conv([8, 12], [6, 10], [3, 3], 1)),
        Map::Conv2d(conv([16, 17], [13, 11], [3, 3], 1)),
        Map::Conv2d(conv([12, 8], [7, 5], [1, 1], 1)),
        Map::Conv2d(conv([6, 6], [7, 9], [3, 3], 6)),
        Map::Conv2d(conv([6, 12], [7, 9], [5, 3], 6)),
        Map::Conv2d(conv([3, 9], [8, 9], [7, 7], 1)),
        Map::Conv2d(conv([2, 2], [24, 23], [21, 23], 1)),
        Map::Conv2d(conv([1, 1], [1, 1], [1, 1], 1)),
        Map::Conv2d(conv([2, 3], [1, 1], [3, 3], 1)),
        Map::Conv2d(leaping),
        Map::Conv2d(strided),
    ]
}

fn sources(batch: usize) -> Vec<Source> {
    let index: std::sync::Arc<[u32]> = (0..batch as u32)
        .map(|b| [0, 3, 1, 0, 3][b as usize % 5])
        .collect();
    vec![
        Source::Given {
            index: index.clone(),
            count: 4,
        },
        Source::Given {
            index: vec![0; batch].into(),
            count: 1,
        },
        Source::Gaussian {
            key: NoiseKey {
                seed: 0x0123_4567_89AB_CDEF,
                draw: 3,
                parameter: 8,
                first_example: 100,
            },
        },
        Source::LowRank {
            index: index.clone(),
            components: 4,
            rank: 1,
        },
        Source::LowRank {
            index,
            components: 12,
            rank: 3,
        },
    ]
}

fn check_all(variant: KernelVariant) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    set_kernel_variant(variant);
    for map in maps() {
        for source in sources(map.batch()) {
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
        let parameters = || vec![upload(&mu, vec![7, 9]), upload(&psi, vec![7, 9])];
        let out = CubeBackend::sample(backend::Parameters::from_vec(parameters()), op.clone());
        assert_close(
            "draws",
            &download(&out),
            &twin::sample_gaussian(key, axis, 3, &mu, &psi),
        );
        let gradients =
            CubeBackend::sample_backward(upload(&grad, vec![3, 7, 9]), parameters(), op);
        let expected = twin::sample_gaussian_backward(key, axis, 3, &grad, &psi);
        assert_close("d mu", &download(&gradients[0]), &expected[0]);
        assert_close("d psi", &download(&gradients[1]), &expected[1]);
    }
}
