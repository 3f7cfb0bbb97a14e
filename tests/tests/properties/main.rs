//! The kernels against ordinary tensor operations and against finite differences, over random
//! geometry, on every device.

mod limits;
mod samples;

use bayesadapter::ops::{KernelVariant, MatmulWeights, NoiseKey, OpError, exemplar_matmul};
use bayesadapter_tests::{
    By, Dice, Place, Problem, Shape, SourceKind, Tolerance, assert_close, devices, direction,
    places, values, wgpu,
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

/// So many random ops of each source, and with the tiles for real adapters so many convolutions: matrix
/// products have the same kernels on every adapter, and those of tiles take long to compile on this one.
fn problems(place: &Place, seed: u64, rounds: usize, tiled: usize) -> Vec<Problem> {
    let of_source = |(which, source)| {
        let rolled = (0..).map(move |round| Dice::new(seed + 10 * round + which).problem(source));
        let is_conv = |problem: &Problem| matches!(problem.shape, Shape::Conv2d { .. });
        match place.kernels {
            Some(KernelVariant::Gpu) => rolled.filter(is_conv).take(tiled).collect(),
            _ => rolled.take(rounds).collect::<Vec<_>>(),
        }
    };
    (0..).zip(SOURCES).flat_map(of_source).collect()
}

#[test]
fn random_geometry_agrees_with_tensor_operations() {
    for (place, rounds) in places().into_iter().zip([60, 15, 0]) {
        place.run(|| {
            let problems = problems(&place, 1000, rounds, 2);
            for problem in &problems {
                agrees_with_reference(problem, place.name, &place.device);
            }
        });
    }
}

/// What serves a device that takes no WGSL serves an adapter as well as the CPU.
#[test]
fn tensor_operations_serve_every_device() {
    for (seed, source) in (9000..).zip(SOURCES) {
        let problem = Dice::new(seed).problem(source);
        let [found, expected] = [wgpu(), Device::flex()].map(|device| {
            let outcome = problem.run(By::Reference, &device);
            outcome.unwrap_or_else(|error| panic!("{problem:?}: {error}"))
        });
        for ((what, found), (_, expected)) in found.results.iter().zip(&expected.results) {
            let what = format!("{what} of {problem:?}");
            let tolerance = Tolerance::of_largest(2e-5, expected);
            assert_close(&what, found, expected, tolerance);
        }
    }
}

/// The directional derivative of the loss along a random direction of every input, by central
/// differences. All inputs but psi enter linearly, so a wide step is exact for them.
#[test]
fn gradients_agree_with_finite_differences() {
    let product = Problem {
        shape: Shape::Matmul {
            x: [5, 2, 7],
            outputs: 70,
        },
        source: SourceKind::LowRank { rank: 3 },
        slots: 3,
        bias: true,
        seed: 7000,
    };
    for place in places() {
        place.run(|| {
            for problem in problems(&place, 7000, 4, 1).iter().chain([&product]) {
                check_differences(problem, place.name, &place.device);
            }
        });
    }
}

/// Gradients are of the first order only: a gradient lies outside of every graph, as for every op of Burn,
/// and a penalty made of it adds a value to the loss and no gradient, though by the textbook it has one.
#[test]
fn gradients_are_constants() {
    for (name, device) in devices() {
        // A second autodiff is no second order.
        let device = device.autodiff().autodiff();
        let plain = penalised(0.5, false, &device).expect(name);
        let with_penalty = penalised(0.5, true, &device).expect(name);
        let moved = penalised(0.6, true, &device).expect(name);
        // In d x the weights stand, so that its square changes with them.
        assert!((moved.penalty - with_penalty.penalty).abs() > 0.1, "{name}");
        assert!(with_penalty.loss > plain.loss + 0.1, "{name}");
        assert_eq!(with_penalty.gradients, plain.gradients, "{name}");
    }
}

struct Penalised {
    loss: f32,
    penalty: f32,
    /// Of mu and psi.
    gradients: [Vec<f32>; 2],
}

/// A loss of a Gaussian layer, to which the square of its gradient in x may be added.
fn penalised(mean: f32, add_penalty: bool, device: &Device) -> Result<Penalised, OpError> {
    let mu = Tensor::<2>::full([3, 2], mean, device).require_grad();
    let psi = Tensor::<2>::full([3, 2], -1.0, device).require_grad();
    let x = Tensor::<3>::ones([4, 1, 3], device).require_grad();
    let loss = || {
        let weights = MatmulWeights::Gaussian {
            mu: mu.clone(),
            psi: psi.clone(),
            key: NoiseKey::default(),
        };
        exemplar_matmul(x.clone(), weights, None).map(|y| y.powi_scalar(2).sum())
    };
    let of_x = x.grad(&loss()?.backward());
    let of_x = of_x.expect("a gradient of the first order");
    assert!(!of_x.device().is_autodiff());
    let penalty = Tensor::from_inner(of_x).powi_scalar(2).sum();
    let loss = match add_penalty {
        true => loss()? + penalty.clone(),
        false => loss()?,
    };
    let gradients = loss.backward();
    Ok(Penalised {
        loss: loss.into_scalar(),
        penalty: penalty.into_scalar(),
        gradients: [&mu, &psi].map(|tensor| {
            values(
                tensor
                    .grad(&gradients)
                    .expect("a gradient of the first order"),
            )
        }),
    })
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
