//! Sizes at which something gives way: a dispatch, a binding, an index.

use crate::agrees_with_reference;
use bayesadapter::ops::{Conv2dWeights, ConvOptions, Padding, exemplar_conv2d};
use bayesadapter_shaders::kernels::{self, MAX_WORKGROUPS, Reduction, Variant};
use bayesadapter_shaders::{Conv2d, Map, Source};
use bayesadapter_tests::{
    By, Place, Problem, Shape, SourceKind, Tolerance, assert_close, places, values, wgpu,
};
use burn::tensor::{Device, Tensor, TensorData};

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
    agrees_with_reference(&problem, "wgpu", &wgpu());
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
