//! Sizes at which something gives way: a dispatch, a binding, an index.

use crate::agrees_with_reference;
use bayesadapter::ops::{
    Conv2dWeights, ConvOptions, DrawAxis, MatmulWeights, NoiseKey, Padding, exemplar_conv2d,
    exemplar_matmul, fill_normals, sample_gaussian,
};
use bayesadapter_shaders::kernels::{self, MAX_WORKGROUPS, Reduction, Variant};
use bayesadapter_shaders::{Conv2d, Map, Matmul, Source};
use bayesadapter_tests::{
    By, Place, Problem, Shape, SourceKind, Tolerance, assert_close, devices, places, values, wgpu,
};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Images of one pixel, each times the one element of its kernel.
struct Pixels {
    batch: usize,
    slots: usize,
}

impl Pixels {
    fn index(&self) -> Vec<u32> {
        let examples = 0..self.batch;
        examples.map(|b| (b % self.slots) as u32).collect()
    }

    /// Workgroups of y, dx and the gradient of the weights.
    fn workgroups(&self, variant: Variant) -> [u64; 3] {
        let map = Map::Conv2d(Conv2d {
            batch: self.batch,
            channels_in: 1,
            channels_out: 1,
            image: [1, 1],
            kernel: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::default(),
            groups: 1,
        });
        let source = Source::Given {
            index: self.index().into(),
            count: self.slots,
        };
        let reduction = Reduction::of_all(&source, self.batch, 1);
        [
            kernels::forward(&map, &source, variant),
            kernels::backward_x(&map, &source, variant),
            kernels::backward_w(&map, (&source).into(), &reduction, variant),
        ]
        .map(|launch| launch.workgroups)
    }

    /// Against the closed form, in whole numbers that every order of sums leaves exact.
    fn check(&self, place: &Place) {
        let x: Vec<f32> = (0..self.batch).map(|b| (b % 17) as f32 - 8.0).collect();
        let weights: Vec<f32> = (0..self.slots)
            .map(|slot| (slot % 5) as f32 - 1.0)
            .collect();
        let index = self.index();
        let slots = || index.iter().map(|&slot| slot as usize);
        let y: Vec<f32> = x.iter().zip(slots()).map(|(x, s)| x * weights[s]).collect();
        let d_x: Vec<f32> = slots().map(|slot| weights[slot]).collect();
        let mut d_weights = vec![0.0; self.slots];
        for (x, slot) in x.iter().zip(slots()) {
            d_weights[slot] += x;
        }
        let device = place.device.clone().autodiff();
        let x = TensorData::new(x, [self.batch, 1, 1, 1]);
        let x = Tensor::<4>::from_data(x, &device).require_grad();
        let weights = TensorData::new(weights, [self.slots, 1, 1, 1, 1]);
        let weights = Tensor::<5>::from_data(weights, &device).require_grad();
        let given = Conv2dWeights::Given {
            weights: weights.clone(),
            index: index.clone(),
        };
        let found = exemplar_conv2d(x.clone(), given, None, ConvOptions::default());
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", place.name));
        let gradients = found.clone().sum().backward();
        let exact = Tolerance {
            relative: 0.0,
            absolute: 0.0,
        };
        let grad_x = x.grad(&gradients).expect("a gradient of x");
        let grad_weights = weights.grad(&gradients).expect("a gradient of the weights");
        assert_close(place.name, &values(found), &y, exact);
        assert_close(place.name, &values(grad_x), &d_x, exact);
        assert_close(place.name, &values(grad_weights), &d_weights, exact);
    }
}

/// More workgroups than one dimension of a dispatch holds.
#[test]
fn more_than_65535_workgroups() {
    let [_, software, tiles] = places();
    let most = u64::from(MAX_WORKGROUPS);
    // Eight examples to a workgroup.
    let few_weights = Pixels {
        batch: 8 * 65_535 + 9,
        slots: 3,
    };
    let [y, d_x, _] = few_weights.workgroups(Variant::Software);
    assert!(y > most && d_x > most, "{y} and {d_x} workgroups");
    software.run(|| few_weights.check(&software));
    // A workgroup to every weight.
    let own_weights = Pixels {
        batch: 65_537,
        slots: 65_537,
    };
    let all = own_weights.workgroups(Variant::Gpu);
    assert!(all.iter().all(|&count| count > most), "{all:?} workgroups");
    tiles.run(|| own_weights.check(&tiles));
}

const KEY: NoiseKey = NoiseKey {
    seed: 23,
    draw: 4,
    parameter: 2,
    first_example: 0,
};

/// The logarithm of every deviation below.
const PSI: f32 = -1.0;

/// Noise of one element on the CPU, times the deviation.
fn noise(example: u32, element: u32) -> f32 {
    let mut eps = [0.0];
    fill_normals(&KEY, example, element, &mut eps);
    PSI.exp() * eps[0]
}

/// Whole numbers that differ from neighbour to neighbour.
fn steps(len: usize) -> Vec<f32> {
    (0..len).map(|at| (at % 17) as f32 - 8.0).collect()
}

/// Some elements of a tensor that is too long to be looked at in full.
fn elements(tensor: Tensor<1>, places: &[u32]) -> Vec<f32> {
    let places: Vec<i64> = places.iter().map(|&place| i64::from(place)).collect();
    let places = TensorData::from(places.as_slice());
    let places = Tensor::<1, Int>::from_data(places, &tensor.device());
    values(tensor.select(0, places))
}

/// Draws of a parameter and their gradients, each in more workgroups than one dimension holds.
#[test]
fn draws_of_more_than_65535_workgroups() {
    // 64 invocations of four elements to a workgroup.
    let len = (MAX_WORKGROUPS as usize + 2) * 256;
    for launch in [
        kernels::sample_gaussian(KEY, DrawAxis::Draw, 1, len),
        kernels::sample_gaussian_backward(KEY, DrawAxis::Draw, 1, len),
    ] {
        assert!(launch.workgroups > u64::from(MAX_WORKGROUPS));
    }
    let device = wgpu().autodiff();
    let means = steps(len);
    // Everywhere, at the end of the first dimension, and at the very end.
    let limit = MAX_WORKGROUPS * 256;
    let places: Vec<u32> = (0..len as u32)
        .step_by(70_001)
        .chain(limit - 4..limit + 4)
        .chain(len as u32 - 4..len as u32)
        .collect();
    let noises: Vec<f32> = places.iter().map(|&place| noise(0, place)).collect();
    let mean_at = |&place: &u32| means[place as usize];
    let draws: Vec<f32> = places
        .iter()
        .map(mean_at)
        .zip(&noises)
        .map(|(m, n)| m + n)
        .collect();

    let mu = TensorData::new(means, [len]);
    let mu = Tensor::<1>::from_data(mu, &device).require_grad();
    let psi = Tensor::<1>::full([len], PSI, &device).require_grad();
    let found = sample_gaussian::<1, 2>(mu.clone(), psi.clone(), KEY, DrawAxis::Draw, 1);
    let found = found
        .expect("a set of draws that can be bound")
        .reshape([len]);
    let gradients = found.clone().sum().backward();
    let d_mu = mu.grad(&gradients).expect("a gradient of mu");
    let d_psi = psi.grad(&gradients).expect("a gradient of psi");
    for (what, found, expected) in [
        ("draws", found, draws),
        ("d mu", d_mu, vec![1.0; places.len()]),
        ("d psi", d_psi, noises),
    ] {
        let tolerance = Tolerance::of_largest(1e-5, &expected);
        assert_close(what, &elements(found, &places), &expected, tolerance);
    }
}

/// Single rows with a Gaussian weight per example, eight of them to a workgroup.
#[test]
fn gaussian_rows_of_more_than_65535_workgroups() {
    let batch = 8 * MAX_WORKGROUPS as usize + 9;
    let map = Map::Matmul(Matmul {
        batch,
        rows: 1,
        inputs: 1,
        outputs: 1,
    });
    let source = Source::Gaussian { key: KEY };
    for launch in [
        kernels::forward(&map, &source, Variant::Gpu),
        kernels::backward_x(&map, &source, Variant::Gpu),
    ] {
        assert!(launch.workgroups > u64::from(MAX_WORKGROUPS));
    }
    let (mean, rows) = (0.5, steps(batch));
    let d_x: Vec<f32> = (0..batch as u32).map(|b| mean + noise(b, 0)).collect();
    let y: Vec<f32> = rows.iter().zip(&d_x).map(|(x, w)| x * w).collect();

    let device = wgpu().autodiff();
    let x = TensorData::new(rows, [batch, 1, 1]);
    let x = Tensor::<3>::from_data(x, &device).require_grad();
    let weights = MatmulWeights::Gaussian {
        mu: Tensor::full([1, 1], mean, &device),
        psi: Tensor::full([1, 1], PSI, &device),
        key: KEY,
    };
    let found = exemplar_matmul(x.clone(), weights, None).expect("a valid shape");
    let gradients = found.clone().sum().backward();
    let found_d_x = x.grad(&gradients).expect("a gradient of x");
    assert_close("y", &values(found), &y, Tolerance::of_largest(1e-5, &y));
    let tolerance = Tolerance::of_largest(1e-5, &d_x);
    assert_close("d x", &values(found_d_x), &d_x, tolerance);
}

/// The factors of all examples and ranks together are more than a software adapter binds.
#[test]
fn factors_of_many_ranks_stay_within_a_binding() {
    let problem = Problem {
        shape: Shape::Matmul {
            x: [1024, 1, 2048],
            outputs: 1,
        },
        source: SourceKind::LowRank { rank: 17 },
        slots: 3,
        bias: false,
        seed: 3,
    };
    for (name, device) in devices() {
        agrees_with_reference(&problem, name, &device);
    }
}

/// A stride past the image has one output, as the stride of one has for one pixel.
#[test]
fn strides_may_be_longer_than_the_image() {
    let strided = |stride| Problem {
        shape: Shape::Conv2d {
            x: [2, 5, 1, 1],
            weight: [3, 5, 1, 1],
            options: ConvOptions {
                stride: [stride; 2],
                ..Default::default()
            },
        },
        source: SourceKind::Gaussian,
        slots: 1,
        bias: true,
        seed: 11,
    };
    let by = |by, stride: usize, device: &Device| {
        let outcome = strided(stride).run(by, device);
        outcome.unwrap_or_else(|error| panic!("stride {stride}: {error}"))
    };
    let expected = by(By::Reference, 1, &Device::flex()).results;
    for place in places() {
        place.run(|| {
            for stride in [2, 1_000_000_000, usize::MAX] {
                let found = by(By::Kernels, stride, &place.device).results;
                for ((what, found), (_, expected)) in found.iter().zip(&expected) {
                    let what = format!("{what} at stride {stride} on {}", place.name);
                    let tolerance = Tolerance::of_largest(2e-5, expected);
                    assert_close(&what, found, expected, tolerance);
                }
            }
        });
    }
}
