//! Materialised draws against ordinary tensor operations and against finite differences.

use bayesadapter::ops::{
    DrawAxis, NoiseKey, OpError, fill_normals, reference, sample_gaussian, sample_low_rank,
};
use bayesadapter_tests::{By, Tolerance, assert_close, devices, values};
use burn::tensor::{Device, Gradients, Tensor, TensorData};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Draws {
    Gaussian(DrawAxis),
    Matrices,
    Kernels,
}

const ALL: [Draws; 4] = [
    Draws::Gaussian(DrawAxis::Example),
    Draws::Gaussian(DrawAxis::Draw),
    Draws::Matrices,
    Draws::Kernels,
];

/// The draws, `sum(draws * probe)`, and the gradient of that in every parameter.
struct Outcome {
    draws: Vec<f32>,
    loss: f64,
    gradients: Vec<Vec<f32>>,
}

impl Draws {
    /// Lengths of the parameters.
    fn lengths(self) -> Vec<usize> {
        match self {
            Self::Gaussian(_) => vec![7 * 9, 7 * 9],
            Self::Matrices => vec![7 * 9, 4 * 7 * 2, 4 * 2 * 9],
            Self::Kernels => vec![5 * 18, 4 * 18 * 2, 4 * 2 * 5],
        }
    }

    fn run(self, parameters: &[Vec<f32>], by: By, device: &Device) -> Result<Outcome, OpError> {
        match self {
            Self::Gaussian(axis) => gaussian(axis, parameters, by, device),
            Self::Matrices => low_rank::<2, 3>([7, 9], [7, 9], parameters, by, device),
            Self::Kernels => low_rank::<4, 5>([5, 3, 2, 3], [18, 5], parameters, by, device),
        }
    }
}

fn gaussian(
    axis: DrawAxis,
    parameters: &[Vec<f32>],
    by: By,
    device: &Device,
) -> Result<Outcome, OpError> {
    let key = NoiseKey {
        seed: 5,
        draw: 9,
        parameter: 2,
        first_example: 4,
    };
    let [mu, psi] = [0, 1].map(|at| tensor(&parameters[at], [7, 9], device));
    let call = match by {
        By::Kernels => sample_gaussian::<2, 3>,
        By::Reference => reference::sample_gaussian::<2, 3>,
    };
    let draws = call(mu.clone(), psi.clone(), key, axis, 3)?;
    Ok(outcome(draws, |gradients| {
        vec![gradient(&mu, gradients), gradient(&psi, gradients)]
    }))
}

/// Four components of rank two, of which two are drawn and one of them twice.
fn low_rank<const D: usize, const K: usize>(
    shape: [usize; D],
    [fan_in, fan_out]: [usize; 2],
    parameters: &[Vec<f32>],
    by: By,
    device: &Device,
) -> Result<Outcome, OpError> {
    let shared = tensor(&parameters[0], shape, device);
    let left = tensor(&parameters[1], [4, fan_in, 2], device);
    let right = tensor(&parameters[2], [4, 2, fan_out], device);
    let call = match by {
        By::Kernels => sample_low_rank::<D, K>,
        By::Reference => reference::sample_low_rank::<D, K>,
    };
    let draws = call(shared.clone(), left.clone(), right.clone(), &[1, 3, 1])?;
    Ok(outcome(draws, |gradients| {
        vec![
            gradient(&shared, gradients),
            gradient(&left, gradients),
            gradient(&right, gradients),
        ]
    }))
}

fn tensor<const D: usize>(values: &[f32], shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), device).require_grad()
}

fn gradient<const D: usize>(of: &Tensor<D>, gradients: &Gradients) -> Vec<f32> {
    values(of.grad(gradients).expect("a gradient of every parameter"))
}

fn outcome<const K: usize>(
    draws: Tensor<K>,
    gradients: impl FnOnce(&Gradients) -> Vec<Vec<f32>>,
) -> Outcome {
    let shape = draws.dims();
    let probe = normals(99, shape.iter().product());
    let data = TensorData::new(probe.clone(), shape);
    let weighted = draws.clone() * Tensor::from_data(data, &draws.device());
    let gradients = gradients(&weighted.sum().backward());
    let draws = values(draws);
    let terms = draws.iter().zip(&probe);
    Outcome {
        loss: terms.map(|(d, p)| f64::from(*d) * f64::from(*p)).sum(),
        draws,
        gradients,
    }
}

/// Reproducible numbers.
fn normals(which: u32, len: usize) -> Vec<f32> {
    let key = NoiseKey {
        seed: 17,
        parameter: which,
        ..Default::default()
    };
    let mut values = vec![0.0; len];
    fill_normals(&key, 0, 0, &mut values);
    values
}

fn parameters(draws: Draws) -> Vec<Vec<f32>> {
    let lengths = draws.lengths().into_iter();
    (0..)
        .zip(lengths)
        .map(|(at, len)| normals(at, len))
        .collect()
}

#[test]
fn draws_agree_with_tensor_operations() {
    for draws in ALL {
        let parameters = parameters(draws);
        let flex = Device::flex().autodiff();
        let expected = draws.run(&parameters, By::Reference, &flex);
        let expected = expected.unwrap_or_else(|error| panic!("{draws:?}: {error}"));
        for (name, device) in devices() {
            let found = draws.run(&parameters, By::Kernels, &device.autodiff());
            let found = found.unwrap_or_else(|error| panic!("{draws:?} on {name}: {error}"));
            let what = format!("{draws:?} on {name}");
            let close = |what: &str, found: &[f32], expected: &[f32]| {
                assert_close(what, found, expected, Tolerance::of_largest(1e-5, expected));
            };
            close(&what, &found.draws, &expected.draws);
            assert_eq!(found.gradients.len(), expected.gradients.len(), "{what}");
            let gradients = found.gradients.iter().zip(&expected.gradients);
            for (at, (found, expected)) in gradients.enumerate() {
                close(&format!("gradient {at} of {what}"), found, expected);
            }
        }
    }
}

/// Along a random direction of every parameter, by central differences. Draws are linear in each of
/// them but psi.
#[test]
fn gradients_of_draws_agree_with_finite_differences() {
    for (name, device) in devices() {
        let device = device.autodiff();
        for draws in ALL {
            let centre = parameters(draws);
            let run = |parameters: &[Vec<f32>]| {
                let outcome = draws.run(parameters, By::Kernels, &device);
                outcome.unwrap_or_else(|error| panic!("{draws:?} on {name}: {error}"))
            };
            for (at, gradient) in run(&centre).gradients.iter().enumerate() {
                let is_psi = matches!(draws, Draws::Gaussian(_)) && at == 1;
                let step = if is_psi { 0.01 } else { 0.5 };
                let along = normals(50 + at as u32, gradient.len());
                let loss = |sign: f32| {
                    let mut moved = centre.clone();
                    for (value, along) in moved[at].iter_mut().zip(&along) {
                        *value += sign * step * along;
                    }
                    run(&moved).loss
                };
                let numeric = (loss(1.0) - loss(-1.0)) / (2.0 * f64::from(step));
                let terms = gradient.iter().zip(&along);
                let terms: Vec<f64> = terms.map(|(g, d)| f64::from(g * d)).collect();
                let scale = terms.iter().map(|term| term * term).sum::<f64>().sqrt();
                let exact: f64 = terms.iter().sum();
                assert!(
                    (numeric - exact).abs() <= 2e-3 * scale,
                    "gradient {at} of {draws:?} on {name}: {exact}, by differences {numeric}"
                );
            }
        }
    }
}
