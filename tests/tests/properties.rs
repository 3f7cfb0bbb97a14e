//! The kernels against ordinary tensor operations and against finite differences, over random
//! geometry, on every device.

use bayesadapter_tests::{
    By, Dice, Problem, Shape, SourceKind, Tolerance, assert_close, devices, direction,
};
use burn::tensor::{Device, Tensor};

const SOURCES: [SourceKind; 4] = [
    SourceKind::Given,
    SourceKind::Gaussian,
    SourceKind::LowRank { rank: 1 },
    SourceKind::LowRank { rank: 3 },
];

/// Leaves not-a-number behind in the device's free memory, where an output that is not written in
/// full would find it.
fn poison(problem: &Problem, device: &Device) {
    let largest = match problem.shape {
        Shape::Matmul { x, outputs } => x[0] * x[1] * x[2].max(outputs),
        Shape::Conv2d { x, weight, .. } => 4 * x[0] * x[2] * x[3] * x[1].max(weight[0]),
    };
    for len in [64, 1024, largest.max(1), 4 * largest.max(1)] {
        let poisoned = Tensor::<1>::full([len], f32::NAN, device);
        let sum = poisoned.sum().into_scalar::<f32>();
        assert!(sum.is_nan());
    }
}

fn agrees_with_reference(problem: &Problem, name: &str, device: &Device) {
    poison(problem, device);
    let found = problem.run(By::Kernels, device);
    let found = found.unwrap_or_else(|error| panic!("{problem:?} on {name}: {error}"));
    let expected = problem.run(By::Reference, &Device::flex());
    let expected = expected.unwrap_or_else(|error| panic!("{problem:?}: {error}"));
    for ((what, found), (_, expected)) in found.results.iter().zip(&expected.results) {
        let what = format!("{what} of {problem:?} on {name}");
        let tolerance = Tolerance::of_largest(2e-5, expected);
        assert_close(&what, found, expected, tolerance);
    }
}

/// Whether the CPU composes it of products with the shared weight.
fn is_composed(problem: &Problem) -> bool {
    let is_low_rank = matches!(problem.source, SourceKind::LowRank { .. });
    is_low_rank && matches!(problem.shape, Shape::Matmul { outputs, .. } if outputs > 64)
}

#[test]
fn random_geometry_agrees_with_tensor_operations() {
    for (name, device) in devices() {
        let rounds = if name == "cpu" { 60 } else { 15 };
        let mut composed = 0;
        for round in 0..rounds {
            for (which, source) in SOURCES.into_iter().enumerate() {
                let problem = Dice::new(1000 + 10 * round + which as u64).problem(source);
                agrees_with_reference(&problem, name, &device);
                composed += usize::from(is_composed(&problem));
            }
        }
        assert!(composed > 0, "no composed product on {name}");
    }
}

/// The directional derivative of the loss along a random direction of every input, by central
/// differences. All inputs but psi enter linearly, so a wide step is exact for them.
#[test]
fn gradients_agree_with_finite_differences() {
    for (name, device) in devices() {
        for (which, source) in SOURCES.into_iter().enumerate() {
            for round in 0..4 {
                let problem = Dice::new(7000 + 10 * round + which as u64).problem(source);
                check_differences(&problem, name, &device);
            }
        }
        let composed = Problem {
            shape: Shape::Matmul {
                x: [5, 2, 7],
                outputs: 70,
            },
            source: SourceKind::LowRank { rank: 3 },
            slots: 3,
            bias: true,
            seed: 7000,
        };
        assert!(is_composed(&composed));
        check_differences(&composed, name, &device);
    }
}

/// Second-order gradients are refused: a gradient is a constant without a graph, as for every op of Burn,
/// and a loss made of it moves nothing.
#[test]
fn gradients_are_constants() {
    use bayesadapter::ops::{MatmulWeights, NoiseKey, exemplar_matmul};
    for (name, device) in devices() {
        // A second autodiff is no second order.
        let device = device.autodiff().autodiff();
        let mu = Tensor::<2>::full([3, 2], 0.5, &device).require_grad();
        let psi = Tensor::<2>::full([3, 2], -1.0, &device).require_grad();
        let weights = MatmulWeights::Gaussian {
            mu: mu.clone(),
            psi: psi.clone(),
            key: NoiseKey::default(),
        };
        let x = Tensor::<3>::ones([4, 1, 3], &device).require_grad();
        let y = exemplar_matmul(x.clone(), weights, None).unwrap_or_else(|error| panic!("{error}"));
        // In d x the weights stand, so that its square has a gradient in them by the textbook.
        let gradients = y.powi_scalar(2).sum().backward();
        let of_x = x.grad(&gradients).expect("a gradient of the first order");
        assert!(!of_x.device().is_autodiff(), "{name}");
        let penalty = Tensor::from_inner(of_x).powi_scalar(2).sum();
        assert!(penalty.clone().into_scalar::<f32>() > 0.0, "{name}");
        let second = penalty.require_grad().backward();
        assert!(
            mu.grad(&second).is_none() && psi.grad(&second).is_none(),
            "{name}"
        );
    }
}

fn check_differences(problem: &Problem, name: &str, device: &Device) {
    let run = |shift: &dyn Fn(usize) -> f32| {
        let outcome = problem.run_shifted(By::Kernels, device, shift);
        outcome.unwrap_or_else(|error| panic!("{problem:?} on {name}: {error}"))
    };
    let at = run(&|_| 0.0);
    for (input, (what, gradient)) in at.results[1..].iter().enumerate() {
        let step = if what == "d psi" { 0.02 } else { 0.5 };
        let loss = |sign: f32| run(&|i| if i == input { sign * step } else { 0.0 }).loss;
        let numeric = (loss(1.0) - loss(-1.0)) / (2.0 * f64::from(step));
        let along = direction(problem, input, gradient.len(), 1);
        let terms = || gradient.iter().zip(&along).map(|(g, d)| f64::from(g * d));
        let exact: f64 = terms().sum();
        // The error of a difference grows with what is summed, not with what remains.
        let scale = terms().map(|term| term * term).sum::<f64>().sqrt() + at.loss.abs() * 1e-2;
        assert!(
            (numeric - exact).abs() <= 5e-3 * scale + 1e-3,
            "{what} of {problem:?} on {name}: {exact}, by differences {numeric}"
        );
    }
}

/// More workgroups than one dimension of a dispatch holds, against the closed form.
#[test]
fn more_than_65535_workgroups() {
    use bayesadapter::ops::{Conv2dWeights, ConvOptions, exemplar_conv2d};
    use burn::tensor::TensorData;
    let batch = 70_001;
    let image: Vec<f32> = (0..batch).map(|b| (b % 17) as f32 - 8.0).collect();
    let index: Vec<u32> = (0..batch as u32).map(|b| b % 3).collect();
    let expected: Vec<f32> = (image.iter().zip(&index))
        .map(|(x, &slot)| x * [2.0, -1.0, 0.5][slot as usize])
        .collect();
    for (name, device) in devices() {
        let x = Tensor::<4>::from_data(TensorData::new(image.clone(), [batch, 1, 1, 1]), &device);
        let weights = Conv2dWeights::Given {
            weights: Tensor::<1>::from_data([2.0, -1.0, 0.5], &device).reshape([3, 1, 1, 1, 1]),
            index: index.clone(),
        };
        let y = exemplar_conv2d(x, weights, None, ConvOptions::default());
        let y = y.unwrap_or_else(|error| panic!("{name}: {error}"));
        let exact = Tolerance {
            relative: 0.0,
            absolute: 0.0,
        };
        assert_close(name, &bayesadapter_tests::values(y), &expected, exact);
    }
}
