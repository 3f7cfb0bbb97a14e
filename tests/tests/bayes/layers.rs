//! Posteriors on every kind of layer: what a row sees is the plain layer with weights of its own.

use crate::subject::{Along, Move, filled, normals, wide};
use bayesadapter::{
    nn::{
        self,
        conv::{Conv1dConfig, Conv2dConfig, ConvTranspose2dConfig},
    },
    ops::{DrawAxis, NoiseKey, sample_gaussian},
    pass::{Estimator, Mode, Pass},
    posterior::{Bayes, IntoBayes, LowRankEnsemble, MeanField, Spread},
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    module::{Module, ModuleMapper, Param},
    optim::GradientsParams,
    tensor::{Device, Tensor},
};

const ROWS: usize = 4;
const STEP: u32 = 9;
/// What tells the noise of training steps from that of draws.
const TRAINING: u64 = 0x5bd1_e995_9e37_79b9;

fn mean_field() -> MeanField {
    wide(MeanField::fine_tune(100))
}

fn ensemble() -> LowRankEnsemble {
    let ensemble = LowRankEnsemble::fine_tune(100).with_components(3);
    LowRankEnsemble {
        initial_std: 0.3,
        ..ensemble.with_rank(2)
    }
}

fn row<const D: usize>(x: &Tensor<D>, row: usize) -> Tensor<D> {
    x.clone().slice(row..row + 1)
}

/// Puts values into the parameters, in the order of the module.
struct Put(std::vec::IntoIter<Tensor<1>>);

impl ModuleMapper for Put {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| self.0.next().unwrap().reshape(old.shape()))
    }
}

/// What the exemplar estimator of a Gaussian gives row `row` as parameters. `turned` is the order in which a layer
/// reads its kernels, if that is another one; it is its own reverse.
fn of_row(
    bayes: &Bayes<impl Module>,
    row: usize,
    turned: Option<fn(Tensor<4>) -> Tensor<4>>,
) -> Vec<Tensor<1>> {
    let entries = bayes.inventory().entries.into_iter().enumerate();
    let drawn = entries.map(|(number, entry)| {
        let Spread::MeanField { psi, .. } = entry.spread else {
            panic!("{entry:?}");
        };
        let key = NoiseKey {
            seed: TRAINING,
            draw: STEP,
            parameter: number as u32,
            first_example: row as u32,
        };
        let sample = |mean: Tensor<1>, psi: Tensor<1>| -> Tensor<1> {
            let one = sample_gaussian::<1, 2>(mean, psi, key, DrawAxis::Example, 1);
            one.unwrap().flatten(0, 1)
        };
        match (turned, entry.shape.as_slice()) {
            (Some(turn), &[a, b, c, d]) => {
                let turned = |value: Tensor<1>| turn(value.reshape([a, b, c, d]));
                let (mean, psi) = (turned(entry.value), turned(psi));
                let shape = mean.shape();
                let drawn = sample(mean.flatten(0, 3), psi.flatten(0, 3));
                turn(drawn.reshape(shape)).flatten(0, 3)
            }
            _ => sample(entry.value, psi),
        }
    });
    drawn.collect()
}

/// Draws, alone and together, and rows of the exemplar estimator against the plain layer.
fn rows_are_plain_layers<M: Module, const D: usize>(
    name: &str,
    layer: M,
    shape: [usize; D],
    forward: impl Fn(&M, Tensor<D>) -> Tensor<D>,
    turned: Option<fn(Tensor<4>) -> Tensor<4>>,
) {
    let x = normals(shape, 3, &layer.devices()[0]);
    let layer = filled(layer);
    let run = |bayes: &Bayes<M>, pass: Pass, x: Tensor<D>| {
        values(bayes.run(pass, |layer| forward(layer, x)).unwrap())
    };
    let close = |what: &str, found: &[f32], expected: &[f32]| {
        let tolerance = Tolerance::of_largest(2e-5, expected);
        assert_close(&format!("{what} of {name}"), found, expected, tolerance);
    };
    let gaussian = layer.clone().into_bayes(mean_field()).unwrap();
    // Normalisations have vectors only, which an ensemble shares.
    let low_rank = layer.into_bayes(ensemble()).ok();
    for bayes in [Some(&gaussian), low_rank.as_ref()].into_iter().flatten() {
        let plain = |k: u32| values(forward(&bayes.draw(k).unwrap(), x.clone()));
        let expected = [plain(1), plain(2)].concat();
        let alone = [1, 2].map(|k| run(bayes, Pass::draw(k), x.clone()));
        close("draws", &alone.concat(), &expected);
        let together = run(bayes, Pass::draws(1, 2), x.clone().repeat_dim(0, 2));
        close("draws together", &together, &expected);
        assert_ne!(alone[0], alone[1], "{name}");
    }
    let exemplar = Pass::train(Estimator::Exemplar, STEP).with_mode(Mode::Evaluate);
    let expected: Vec<f32> = (0..ROWS)
        .flat_map(|at| {
            let parameters = of_row(&gaussian, at, turned);
            let plain = gaussian.at_mean().unwrap();
            let plain = plain.map(&mut Put(parameters.into_iter()));
            values(forward(&plain, row(&x, at)))
        })
        .collect();
    close("rows", &run(&gaussian, exemplar, x.clone()), &expected);
    if let Some(low_rank) = &low_rank {
        let key = NoiseKey {
            seed: TRAINING,
            draw: STEP,
            parameter: u32::MAX,
            first_example: 0,
        };
        let component = |at: usize| key.bits(at as u32, 0)[0] % 3;
        let expected = (0..ROWS).flat_map(|at| {
            let plain = low_rank.draw(component(at)).unwrap();
            values(forward(&plain, row(&x, at)))
        });
        let expected: Vec<f32> = expected.collect();
        let found = run(low_rank, exemplar, x.clone());
        close("rows of components", &found, &expected);
    }
}

/// The kernels of a transposed convolution as those of the ordinary one that it is.
fn half_a_turn(kernels: Tensor<4>) -> Tensor<4> {
    kernels.swap_dims(0, 1).flip([2, 3])
}

#[test]
fn rows_of_convolutions_are_plain_layers_on_every_device() {
    for (name, device) in devices() {
        rows_are_plain_layers(
            &format!("Conv1d on {name}"),
            Conv1dConfig::new(4, 6, 3)
                .with_stride(2)
                .with_groups(2)
                .init(&device),
            [ROWS, 4, 9],
            nn::Conv1d::forward,
            None,
        );
        for (what, channels, groups) in [
            ("Conv2d in groups", [4, 6], 2),
            ("depthwise Conv2d", [4, 4], 4),
            ("depthwise Conv2d with more outputs", [2, 6], 2),
        ] {
            let conv = Conv2dConfig::new(channels, [3, 2]).with_groups(groups);
            rows_are_plain_layers(
                &format!("{what} on {name}"),
                conv.init(&device),
                [ROWS, channels[0], 5, 4],
                nn::Conv2d::forward,
                None,
            );
        }
    }
}

#[test]
fn rows_of_transposed_convolutions_are_plain_layers_on_every_device() {
    for (name, device) in devices() {
        let conv = ConvTranspose2dConfig::new([3, 2], [3, 2]).with_stride([2, 1]);
        rows_are_plain_layers(
            &format!("ConvTranspose2d on {name}"),
            conv.init(&device),
            [ROWS, 3, 3, 4],
            nn::ConvTranspose2d::forward,
            Some(half_a_turn),
        );
    }
}

#[test]
fn rows_of_normalisations_are_plain_layers_on_every_device() {
    for (name, device) in devices() {
        rows_are_plain_layers(
            &format!("LayerNorm on {name}"),
            nn::LayerNormConfig::new(6).init(&device),
            [ROWS, 5, 6],
            nn::LayerNorm::forward,
            None,
        );
        rows_are_plain_layers(
            &format!("GroupNorm on {name}"),
            nn::GroupNormConfig::new(2, 6).init(&device),
            [ROWS, 6, 5],
            nn::GroupNorm::forward,
            None,
        );
    }
}

#[test]
fn a_vector_is_normalised_as_one_example() {
    let device = Device::flex();
    let layer = filled(nn::LayerNormConfig::new(6).init(&device));
    let bayes = layer.into_bayes(mean_field()).unwrap();
    let vector = normals([6], 3, &device);
    let batch: Tensor<2> = vector.clone().unsqueeze();
    for pass in [
        Pass::mean(),
        Pass::draw(2),
        Pass::train(Estimator::Exemplar, STEP),
    ] {
        let found = bayes.run(pass, |layer| layer.forward(vector.clone()));
        let expected = bayes.run(pass, |layer| layer.forward(batch.clone()));
        let (found, expected) = (found.unwrap(), expected.unwrap());
        assert_eq!(found.dims(), [6]);
        assert_eq!(values(found), values(expected), "{pass:?}");
    }
}

#[test]
fn rows_of_slopes_are_plain_layers_on_every_device() {
    for (name, device) in devices() {
        for slopes in [1, 6] {
            rows_are_plain_layers(
                &format!("PRelu of {slopes} on {name}"),
                nn::PReluConfig::new()
                    .with_num_parameters(slopes)
                    .init(&device),
                [ROWS, 6, 5],
                nn::PRelu::forward,
                None,
            );
        }
    }
}

/// A convolution whose loss is a smooth function of its parameters, the noise of a step being fixed.
fn convolution(device: &Device) -> Bayes<nn::Conv2d> {
    let conv = filled(Conv2dConfig::new([2, 3], [3, 2]).init(device));
    conv.into_bayes(mean_field()).unwrap()
}

/// Mean and variance that the posterior gives to every output of one example.
fn exact_moments(bayes: &Bayes<nn::Conv2d>, x: Tensor<4>) -> [Vec<f32>; 2] {
    let mean = bayes.at_mean().unwrap();
    let variances = bayes.inventory().entries.into_iter();
    let variances: Vec<Tensor<1>> = variances
        .map(|entry| match entry.spread {
            Spread::MeanField { psi, .. } => psi.mul_scalar(2.0).exp(),
            other => panic!("{other:?}"),
        })
        .collect();
    let variance = mean.clone().map(&mut Put(variances.into_iter()));
    [
        values(mean.forward(x.clone())),
        values(variance.forward(x.clone() * x)),
    ]
}

#[test]
fn local_and_flipout_convolutions_have_the_moments_of_the_posterior() {
    for (name, device) in devices() {
        let bayes = convolution(&device);
        let x = normals([1, 2, 4, 3], 1, &device);
        let [mean, variance] = exact_moments(&bayes, x.clone());
        // Rows of the local estimator are independent. Flipout shares one size of the noise among the rows of a
        // step, so that its variance takes many steps, which the CPU makes.
        let (rows, steps) = match name {
            "cpu" => (16, 500),
            _ => (4_000, 2),
        };
        for estimator in [Estimator::Local, Estimator::Flipout] {
            let x = x.clone().repeat_dim(0, rows);
            let (mut sums, mut squares) = (vec![0.0f64; mean.len()], vec![0.0f64; mean.len()]);
            for step in 0..steps {
                let pass = Pass::train(estimator, step);
                let y = bayes.run(pass, |conv| conv.forward(x.clone())).unwrap();
                for (at, y) in values(y).into_iter().enumerate() {
                    let at = at % mean.len();
                    sums[at] += f64::from(y);
                    squares[at] += f64::from(y - mean[at]).powi(2);
                }
            }
            let count = f64::from(steps) * rows as f64;
            for at in 0..mean.len() {
                let exact = f64::from(variance[at]);
                let off = (sums[at] / count - f64::from(mean[at])).abs() / exact.sqrt();
                assert!(off < 0.1, "{estimator} on {name}: mean off by {off}");
                let ratio = squares[at] / count / exact;
                if estimator == Estimator::Local || name == "cpu" {
                    let near = (ratio - 1.0).abs() < 0.25;
                    assert!(near, "{estimator} on {name}: variance ratio {ratio}");
                }
            }
        }
    }
}

#[test]
fn local_and_flipout_gradients_of_convolutions_agree_with_finite_differences() {
    for (name, device) in devices() {
        let device = device.autodiff();
        let bayes = convolution(&device);
        let x = normals([3, 2, 4, 3], 1, &device);
        for estimator in [Estimator::Local, Estimator::Flipout] {
            let loss = |bayes: &Bayes<nn::Conv2d>| {
                let pass = Pass::train(estimator, STEP);
                let y = bayes.run(pass, |conv| conv.forward(x.clone())).unwrap();
                (y.clone() * y).mean()
            };
            let gradients = GradientsParams::from_grads(loss(&bayes).backward(), &bayes);
            let mut along = Along {
                gradients,
                seed: 900,
                total: 0.0,
            };
            bayes.visit(&mut along);
            let moved = |by: f32| {
                let moved = bayes.clone().map(&mut Move { by, seed: 900 });
                f64::from(values(loss(&moved).inner())[0])
            };
            let step = 0.01;
            let expected = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
            let off = (along.total - expected).abs();
            assert!(
                off < 1e-2 * expected.abs().max(0.1),
                "{estimator} on {name}: {} along the direction, expected {expected}",
                along.total
            );
        }
    }
}
