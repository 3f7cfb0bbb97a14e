//! Batch normalisation against ordinary tensor operations and finite differences, for shared scales and
//! for one per row, on every device.

use bayesadapter::{
    nn::BatchNormConfig,
    ops::{AfterNorm, NoiseKey, OpError, batch_norm, batch_norm_train, fill_normals, reference},
    pass::Pass,
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::tensor::{Device, Tensor, TensorData};

const EPSILON: f64 = 1e-3;

/// What is normalised, and how.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: [usize; 4],
    by_batch: bool,
    each: bool,
    added: bool,
    relu: bool,
}

impl Case {
    /// Everything, for planes shorter and longer than the blocks and lanes of kernels, and enough of them for threads.
    fn all() -> impl Iterator<Item = Self> {
        let shapes = [
            [6, 4, 3, 5],
            [1, 3, 7, 1],
            [7, 5, 1, 1],
            [3, 2, 33, 31],
            [2, 130, 2, 4],
            [8, 16, 24, 24],
        ];
        shapes.into_iter().flat_map(|shape| {
            (0..16).map(move |bits| Self {
                shape,
                by_batch: bits & 1 > 0,
                each: bits & 2 > 0,
                added: bits & 4 > 0,
                relu: bits & 8 > 0,
            })
        })
    }

    /// x, scale, shift and what is added, each off its place by `along` times noise.
    fn inputs(&self, along: [f32; 4]) -> [Vec<f32>; 4] {
        let [rows, channels, height, width] = self.shape;
        let affine = if self.each { rows } else { 1 } * channels;
        let len = rows * channels * height * width;
        std::array::from_fn(|input| {
            let count = [len, affine, affine, len][input];
            let mut values = normals(input as u32, count);
            for (value, off) in values.iter_mut().zip(normals(10 + input as u32, count)) {
                // Channels far from zero, as convolutions without bias make them.
                *value = [3.0, 1.0, 0.0, 0.0][input] + *value + along[input] * off;
            }
            values
        })
    }

    fn run(&self, by: By, device: &Device, along: [f32; 4]) -> Outcome {
        let device = &device.clone().autodiff();
        let [x, scale, shift, added] = self.inputs(along);
        let channels = self.shape[1];
        let affine = [scale.len() / channels, channels];
        let x = leaf(x, self.shape, device);
        let after = AfterNorm {
            scale: leaf(scale, affine, device),
            shift: leaf(shift, affine, device),
            added: self.added.then(|| leaf(added, self.shape, device)),
            relu: self.relu,
        };
        let y = self.value(by, x.clone(), after.clone());
        // Weights that a normalised batch does not make constant.
        let weights = normals(20, x.shape().num_elements());
        let weights = Tensor::from_data(TensorData::new(weights, self.shape), device);
        let loss = (y.clone() * y.clone() * weights).sum();
        let gradients = loss.backward();
        let grad = |tensor: &Tensor<4>| tensor.grad(&gradients).map(values).unwrap_or_default();
        let affine = |tensor: &Tensor<2>| tensor.grad(&gradients).map(values).unwrap_or_default();
        Outcome {
            loss: loss.into_scalar::<f32>().into(),
            y: values(y.inner()),
            gradients: [
                grad(&x),
                affine(&after.scale),
                affine(&after.shift),
                after.added.as_ref().map(grad).unwrap_or_default(),
            ],
        }
    }

    fn value(&self, by: By, x: Tensor<4>, after: AfterNorm<4>) -> Tensor<4> {
        let channels = [self.shape[1]];
        let constant = |number, offset: f32| {
            let values: Vec<f32> = normals(number, channels[0]);
            let values = values.iter().map(|value| offset + value.abs()).collect();
            Tensor::<1>::from_data(TensorData::new(values, channels), &x.device())
        };
        let (mean, variance) = (constant(30, 2.0), constant(31, 0.5));
        match (by, self.by_batch) {
            (By::Op, true) => batch_norm_train(x, after, EPSILON).unwrap().y,
            (By::Op, false) => batch_norm(x, after, mean, variance, EPSILON).unwrap(),
            (By::Reference, true) => reference::batch_norm_train(x, after, EPSILON).y,
            (By::Reference, false) => reference::batch_norm(x, after, mean, variance, EPSILON),
        }
    }
}

#[derive(Clone, Copy)]
enum By {
    Op,
    Reference,
}

struct Outcome {
    loss: f64,
    y: Vec<f32>,
    gradients: [Vec<f32>; 4],
}

const INPUTS: [&str; 4] = ["x", "scale", "shift", "what is added"];

fn normals(parameter: u32, count: usize) -> Vec<f32> {
    let key = NoiseKey {
        parameter,
        ..Default::default()
    };
    let mut values = vec![0.0; count];
    fill_normals(&key, 0, 0, &mut values);
    values
}

fn leaf<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device).require_grad()
}

#[test]
fn values_and_gradients_are_those_of_tensor_operations() {
    for (name, device) in devices() {
        for case in Case::all() {
            let found = case.run(By::Op, &device, [0.0; 4]);
            let expected = case.run(By::Reference, &Device::flex(), [0.0; 4]);
            let what = |what: &str| format!("{what} of {case:?} on {name}");
            let tolerance = Tolerance::of_largest(2e-5, &expected.y);
            assert_close(&what("y"), &found.y, &expected.y, tolerance);
            let gradients = found.gradients.iter().zip(&expected.gradients);
            for (input, (found, expected)) in INPUTS.into_iter().zip(gradients) {
                let tolerance = Tolerance::of_largest(5e-5, expected);
                assert_close(&what(input), found, expected, tolerance);
            }
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    const STEP: f32 = 1e-2;
    for (name, device) in devices() {
        // A ReLU has a kink for a difference to step over.
        for case in Case::all().filter(|case| !case.relu && case.shape[0] > 2) {
            let at = case.run(By::Op, &device, [0.0; 4]);
            for (input, gradient) in at.gradients.iter().enumerate() {
                let loss = |sign: f32| {
                    let along = std::array::from_fn(|i| if i == input { sign * STEP } else { 0.0 });
                    case.run(By::Op, &device, along).loss
                };
                let numeric = (loss(1.0) - loss(-1.0)) / f64::from(2.0 * STEP);
                let along = normals(10 + input as u32, gradient.len());
                let terms = || gradient.iter().zip(&along).map(|(g, d)| f64::from(g * d));
                let exact: f64 = terms().sum();
                let scale = terms().map(|term| term * term).sum::<f64>().sqrt();
                assert!(
                    (numeric - exact).abs() <= 2e-2 * scale + 1e-2,
                    "{} of {case:?} on {name}: {exact}, by differences {numeric}",
                    INPUTS[input]
                );
            }
        }
    }
}

#[test]
fn statistics_are_those_of_the_batch() {
    let shape = [5, 3, 21, 30];
    let [rows, channels, height, width] = shape;
    // Far from zero, where a sum of squares would lose all digits.
    let x: Vec<f32> = normals(0, shape.iter().product());
    let x: Vec<f32> = x.iter().map(|x| 300.0 + x).collect();
    let exact = |channel: usize| {
        let plane = height * width;
        let row = |row: usize| &x[(row * channels + channel) * plane..][..plane];
        let all = || (0..rows).flat_map(row).map(|&x| f64::from(x));
        let mean = all().sum::<f64>() / (rows * plane) as f64;
        let squares = all().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        [mean as f32, (squares / (rows * plane) as f64) as f32]
    };
    let expected: Vec<[f32; 2]> = (0..channels).map(exact).collect();
    let device = Device::flex();
    let after = AfterNorm {
        scale: Tensor::ones([1, channels], &device),
        shift: Tensor::zeros([1, channels], &device),
        added: None,
        relu: false,
    };
    let x = Tensor::<4>::from_data(TensorData::new(x.clone(), shape), &device);
    let batch = batch_norm_train(x, after, EPSILON).unwrap();
    for (what, found, at) in [("mean", batch.mean, 0), ("variance", batch.variance, 1)] {
        let expected: Vec<f32> = expected.iter().map(|both| both[at]).collect();
        let tolerance = Tolerance::of_largest(1e-6, &expected);
        assert_close(what, &values(found), &expected, tolerance);
    }
}

#[test]
fn a_gradient_that_others_need_too_stays() {
    let device = Device::flex().autodiff();
    let x = leaf(normals(0, 12), [2, 3, 2, 1], &device);
    let shared = leaf(normals(1, 12), [2, 3, 2, 1], &device);
    let after = AfterNorm {
        scale: Tensor::ones([1, 3], &device),
        shift: Tensor::zeros([1, 3], &device),
        added: None,
        relu: true,
    };
    let y = batch_norm_train(x, after, EPSILON).unwrap().y;
    // Both terms of a sum get the same gradient tensor, and the ReLU masks its own in place.
    let gradients = (y + shared.clone()).sum().backward();
    assert_eq!(values(shared.grad(&gradients).unwrap()), [1.0; 12]);
}

#[test]
fn refuses_what_does_not_fit() {
    let device = Device::flex();
    let run = |scale: [usize; 2], shift: [usize; 2], rows: usize| {
        let after = AfterNorm {
            scale: Tensor::ones(scale, &device),
            shift: Tensor::ones(shift, &device),
            added: None,
            relu: false,
        };
        let x = Tensor::<3>::ones([rows, 3, 2], &device);
        batch_norm_train(x, after, EPSILON).map(drop)
    };
    let shape = |what, expected: [usize; 2], found: [usize; 2]| {
        Err(OpError::Shape {
            what,
            expected: expected.to_vec(),
            found: found.to_vec(),
        })
    };
    assert_eq!(run([1, 3], [1, 3], 4), Ok(()));
    assert_eq!(run([2, 3], [2, 3], 4), shape("scale", [4, 3], [2, 3]));
    assert_eq!(run([4, 3], [1, 3], 4), shape("shift", [4, 3], [1, 3]));
    let empty = OpError::Empty { what: "the batch" };
    assert_eq!(run([1, 3], [1, 3], 0), Err(empty));
}

#[test]
fn running_variances_are_unbiased_as_pytorchs() {
    for (name, device) in devices() {
        let layer = BatchNormConfig::new(1).init(&device);
        // Mean 2, and squares of deviations that sum to 10: a variance of 10 / 4 by the unbiased estimate.
        let x = TensorData::new(vec![0.0f32, 1.0, 2.0, 3.0, 4.0], [5, 1, 1]);
        let x = Tensor::<3>::from_data(x, &device);
        Pass::train_mean().run(|| layer.forward(x)).unwrap();
        let running = |state: Tensor<1>| values(state)[0];
        let mean = running(layer.running_mean.value_sync());
        let variance = running(layer.running_var.value_sync());
        assert!((mean - 0.2).abs() < 1e-6, "{name}: {mean}");
        assert!(
            (variance - (0.9 + 0.1 * 2.5)).abs() < 1e-6,
            "{name}: {variance}"
        );
        // Of a single value there is no variance: nothing becomes infinite.
        let one = Tensor::<3>::ones([1, 1, 1], &device);
        Pass::train_mean().run(|| layer.forward(one)).unwrap();
        assert!(running(layer.running_var.value_sync()).is_finite());
    }
}
