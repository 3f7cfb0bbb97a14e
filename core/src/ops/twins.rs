//! What the tests of every device share: an op against the twins of the kernels.

use super::backend::{ExemplarBackend, ExemplarGradient, ExemplarOp, Parameters, SampleOp, Wanted};
use bayesadapter_shaders::twin;
use bayesadapter_shaders::{DrawAxis, Map, Matmul, NoiseKey, Source};
use burn::backend::tensor::FloatTensor;

/// A backend whose tensors the tests can write and read.
pub(super) trait Visible: ExemplarBackend + ExemplarGradient {
    fn upload(values: &[f32], shape: Vec<usize>) -> FloatTensor<Self>;
    fn download(tensor: &FloatTensor<Self>) -> Vec<f32>;
}

/// Numbers in (-1, 1) that differ from tensor to tensor.
pub(super) fn values(tensor: u32, len: usize) -> Vec<f32> {
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

pub(super) fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
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

/// One op with its tensors, and what the twins make of them.
pub(super) struct Case {
    pub x: Vec<f32>,
    /// Of y.
    pub grad: Vec<f32>,
    pub parameters: Vec<Vec<f32>>,
    pub shapes: Vec<Vec<usize>>,
    pub y: Vec<f32>,
    /// Of x, and of every parameter.
    pub gradients: Vec<Vec<f32>>,
}

impl Case {
    pub fn new(map: &Map, source: &Source) -> Self {
        let x = values(0, map.x_shape().iter().product());
        let grad = values(1, map.y_shape().iter().product());
        let shapes = parameter_shapes(map, source);
        let parameters: Vec<Vec<f32>> = (2..)
            .zip(&shapes)
            .map(|(tensor, shape)| values(tensor, shape.iter().product()))
            .collect();
        let slices: Vec<&[f32]> = parameters.iter().map(Vec::as_slice).collect();
        let tensors = twin::Parameters { tensors: &slices };
        let y = twin::product_forward(map, source, &x, tensors);
        let dw = twin::product_backward_w(map, &x, &grad);
        let mut gradients = parameter_gradients(map, source, &parameters, &dw);
        gradients.insert(0, twin::product_backward_x(map, source, &grad, tensors));
        Self {
            x,
            grad,
            parameters,
            shapes,
            y,
            gradients,
        }
    }
}

/// Value and gradients of one op.
pub(super) fn check<B: Visible>(map: Map, source: Source) {
    let name = format!("{map:?} {source:?}");
    let Case {
        x,
        grad,
        parameters,
        shapes,
        y: expected_y,
        gradients: expected,
    } = Case::new(&map, &source);
    let tensors = || -> Vec<FloatTensor<B>> {
        let uploads = parameters.iter().zip(&shapes);
        uploads
            .map(|(values, shape)| B::upload(values, shape.clone()))
            .collect()
    };
    let op = ExemplarOp {
        map,
        source: source.clone(),
    };
    let y = B::exemplar(
        B::upload(&x, map.x_shape()),
        Parameters::from_vec(tensors()),
        op.clone(),
    );
    assert_close(&format!("y of {name}"), &B::download(&y), &expected_y);
    for (x_wanted, parameters_wanted) in [(true, true), (true, false), (false, true)] {
        let wanted = Wanted {
            x: x_wanted,
            parameters: parameters_wanted,
        };
        let gradients = B::exemplar_backward(
            B::upload(&grad, map.y_shape()),
            B::upload(&x, map.x_shape()),
            Parameters::from_vec(tensors()),
            op.clone(),
            wanted,
        );
        for (at, found) in gradients.into_vec().iter().enumerate() {
            let what = format!("gradient {at} of {name}, {wanted:?}");
            match if at == 0 { x_wanted } else { parameters_wanted } {
                true => assert_close(&what, &B::download(found), &expected[at]),
                false => assert_close(&what, &B::download(found), &[]),
            }
        }
    }
}

/// Gaussian draws and their gradients.
pub(super) fn check_gaussian_samples<B: Visible>() {
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
            let [mu, psi] = [&mu, &psi].map(|values| B::upload(values, vec![7, 9]));
            Parameters::Gaussian { mu, psi }
        };
        let out = B::sample(parameters(), op.clone());
        assert_close(
            "draws",
            &B::download(&out),
            &twin::sample_gaussian(key, axis, 3, &mu, &psi),
        );
        let gradients =
            B::sample_backward(B::upload(&grad, vec![3, 7, 9]), parameters(), op).into_vec();
        let expected = twin::sample_gaussian_backward(key, axis, 3, &grad, &psi);
        assert_close("d mu", &B::download(&gradients[0]), &expected[0]);
        assert_close("d psi", &B::download(&gradients[1]), &expected[1]);
    }
}

/// Draws of a low-rank ensemble and their gradients.
pub(super) fn check_low_rank_samples<B: Visible>() {
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
        all.map(|(values, shape)| B::upload(values, shape.clone()))
            .collect()
    };
    let op = SampleOp::LowRank {
        op: ExemplarOp { map, source },
    };
    let out = B::sample(Parameters::from_vec(tensors()), op.clone());
    let expected = twin::sample_low_rank(&map, rank, &index, &shared, &left, &right);
    assert_close("draws", &B::download(&out), &expected);
    let grad = values(3, 3 * 7 * 9);
    let gradients = B::sample_backward(
        B::upload(&grad, vec![3, 7, 9]),
        Parameters::from_vec(tensors()),
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
            &B::download(&gradients[at]),
            expected,
        );
    }
}
