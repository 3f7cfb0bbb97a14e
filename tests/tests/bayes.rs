//! Conversion, draws, estimators and the complexity loss of whole networks.

use bayesadapter::{
    models::Architecture,
    nn::{self, conv::Conv2dConfig},
    ops::{DrawAxis, NoiseKey, fill_normals, sample_gaussian},
    pass::{Estimator, Pass, PassError},
    posterior::{
        Bayes, ConvertError, IntoBayes, LeftAlone, LowRankEnsemble, LowRankForm, MeanField,
        Posterior, Select, Spread,
    },
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    module::Module,
    nn::PaddingConfig2d,
    optim::GradientsParams,
    tensor::{Device, Tensor, TensorData, activation::relu},
};

/// A small network of drop-in layers.
#[derive(Module, Debug)]
struct Network {
    conv: nn::conv::Conv2d,
    norm: nn::BatchNorm,
    head: nn::Linear,
}

impl Network {
    fn new(device: &Device) -> Self {
        // Zeros would hide mistakes in how parameters are used.
        let conv = Conv2dConfig::new([2, 5], [3, 2]).with_padding(PaddingConfig2d::Same);
        let network = Self {
            conv: conv.init(device),
            norm: nn::BatchNormConfig::new(5).init(device),
            head: nn::LinearConfig::new(5, 3).init(device),
        };
        filled(network)
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let x = relu(self.norm.forward(self.conv.forward(x)));
        let x: Tensor<2> = x.mean_dim(3).mean_dim(2).flatten(1, 3);
        self.head.forward(x)
    }
}

/// The same of Burn's own layers.
#[derive(Module, Debug)]
struct Stock {
    conv: burn::nn::conv::Conv2d,
    norm: burn::nn::BatchNorm,
    head: burn::nn::Linear,
}

impl Stock {
    fn new(device: &Device) -> Self {
        let conv = burn::nn::conv::Conv2dConfig::new([2, 5], [3, 2]);
        filled(Self {
            conv: conv.with_padding(PaddingConfig2d::Same).init(device),
            norm: burn::nn::BatchNormConfig::new(5).init(device),
            head: burn::nn::LinearConfig::new(5, 3).init(device),
        })
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let x = relu(self.norm.forward(self.conv.forward(x)));
        let x: Tensor<2> = x.mean_dim(3).mean_dim(2).flatten(1, 3);
        self.head.forward(x)
    }
}

/// The module with parameters that depend on nothing but their place.
fn filled<M: Module>(module: M) -> M {
    struct Fill(u32);
    impl burn::module::ModuleMapper for Fill {
        fn map_float<const D: usize>(
            &mut self,
            param: burn::module::Param<Tensor<D>>,
        ) -> burn::module::Param<Tensor<D>> {
            self.0 += 1;
            param.map(|old| {
                let normals = normals(old.dims(), 100 + self.0, &old.device());
                let require_grad = old.is_require_grad();
                (normals * 0.3).abs().set_require_grad(require_grad)
            })
        }
    }
    module.map(&mut Fill(0))
}

fn normals<const D: usize>(shape: [usize; D], draw: u32, device: &Device) -> Tensor<D> {
    let mut values = vec![0.0; shape.iter().product()];
    let key = NoiseKey {
        seed: 99,
        draw,
        ..Default::default()
    };
    fill_normals(&key, 0, 0, &mut values);
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn images(rows: usize, device: &Device) -> Tensor<4> {
    normals([rows, 2, 5, 4], 1, device)
}

fn wide(posterior: MeanField) -> MeanField {
    MeanField {
        initial_log_std: [-2.0, -1.0],
        ..posterior
    }
}

fn posteriors() -> Vec<Posterior> {
    let ensemble = LowRankEnsemble::fine_tune(1_000);
    vec![
        wide(MeanField::fine_tune(1_000)).into(),
        wide(MeanField::fine_tune(1_000))
            .with_pretrained_prior()
            .into(),
        ensemble.clone().into(),
        ensemble.clone().with_components(7).with_rank(2).into(),
        ensemble
            .clone()
            .with_components(3)
            .with_form(LowRankForm::Channels)
            .into(),
        ensemble.with_components(1).with_rank(3).into(),
    ]
}

fn bayes(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Network> {
    Network::new(device).into_bayes(posterior).unwrap()
}

#[test]
fn at_the_mean_the_network_is_the_original_to_the_last_bit() {
    for (name, device) in devices() {
        let x = images(3, &device);
        let network = Network::new(&device);
        let expected = values(network.forward(x.clone()));
        let stock = Stock::new(&device);
        let expected_of_stock = values(stock.forward(x.clone()));
        for posterior in posteriors() {
            let bayes = network.clone().into_bayes(posterior.clone()).unwrap();
            let run = |pass: Pass| values(bayes.run(pass, |net| net.forward(x.clone())).unwrap());
            assert_eq!(run(Pass::mean()), expected, "{posterior:?} on {name}");
            let outside = values(bayes.network().forward(x.clone()));
            assert_eq!(
                outside, expected,
                "outside of a pass, {posterior:?} on {name}"
            );
            let plain = bayes.at_mean().unwrap();
            assert_eq!(
                values(plain.forward(x.clone())),
                expected,
                "{posterior:?} on {name}"
            );
            assert_eq!(plain.num_params(), network.num_params());

            let stock = stock.clone().into_bayes(posterior.clone()).unwrap();
            let found = values(stock.network().forward(x.clone()));
            assert_eq!(
                found, expected_of_stock,
                "stock layers, {posterior:?} on {name}"
            );
        }
    }
}

#[test]
fn the_account_tells_what_was_converted_and_why_not() {
    let device = Device::flex();
    let mean_field = bayes(MeanField::fine_tune(10), &device);
    let account = mean_field.account();
    let paths: Vec<&str> = account
        .converted
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    let all = [
        "conv.weight",
        "conv.bias",
        "norm.gamma",
        "norm.beta",
        "head.weight",
        "head.bias",
    ];
    assert_eq!(paths, all);
    let running = |path: &str| (path.to_owned(), LeftAlone::NotTrained);
    assert_eq!(
        account.left_alone,
        [running("norm.running_mean"), running("norm.running_var")]
    );
    let parameters = 2 * 5 * 6 + 5 + 5 + 5 + 15 + 3;
    assert_eq!(account.parameters_before, parameters);
    assert_eq!(account.parameters_after, 2 * parameters);

    let ensemble = bayes(
        LowRankEnsemble::fine_tune(10)
            .with_components(4)
            .with_rank(2),
        &device,
    );
    let account = ensemble.account();
    assert_eq!(account.converted.len(), 2);
    assert_eq!(
        account.parameters_after - parameters,
        4 * 2 * (12 + 5 + 5 + 3)
    );
    let shared = ("conv.bias".to_owned(), LeftAlone::SharedVector);
    assert!(account.left_alone.contains(&shared), "{account}");

    let channels = LowRankEnsemble::fine_tune(10).with_form(LowRankForm::Channels);
    let account = bayes(channels, &device).account().clone();
    assert_eq!(account.parameters_after - parameters, 20 * (2 + 5 + 5 + 3));

    let last = bayes(
        MeanField::fine_tune(10).with_select(Select::LastLayer),
        &device,
    );
    let paths: Vec<&str> = last
        .account()
        .converted
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(paths, ["head.weight", "head.bias"]);
    let some = Select::matching(|path, shape| path.starts_with("conv") && shape.len() == 4);
    let chosen = bayes(MeanField::fine_tune(10).with_select(some), &device);
    assert_eq!(chosen.account().converted.len(), 1);
}

#[test]
fn a_network_in_evaluation_mode_converts_alike() {
    let device = Device::flex().autodiff();
    let network = Network::new(&device);
    let in_training = network
        .clone()
        .into_bayes(MeanField::fine_tune(10))
        .unwrap();
    let in_evaluation = network
        .valid()
        .into_bayes(MeanField::fine_tune(10))
        .unwrap();
    assert_eq!(in_training.account(), in_evaluation.account());
}

#[test]
fn settings_without_sense_are_refused() {
    let device = Device::flex();
    let convert = |posterior: Posterior| Network::new(&device).into_bayes(posterior).map(drop);
    let setting = |posterior: Posterior| {
        let error = convert(posterior).unwrap_err();
        assert!(matches!(error, ConvertError::Setting { .. }), "{error}");
    };
    setting(MeanField::fine_tune(0).into());
    setting(MeanField::fine_tune(10).with_lambda(-1.0).into());
    setting(MeanField::fine_tune(10).with_lambda(f64::NAN).into());
    setting(LowRankEnsemble::fine_tune(10).with_components(0).into());
    setting(LowRankEnsemble::fine_tune(10).with_rank(0).into());
    let nothing = MeanField::fine_tune(10).with_select(Select::paths(["encoder.*"]));
    let error = convert(nothing.into()).unwrap_err();
    assert!(
        error.to_string().contains("conv.weight"),
        "names what there is: {error}"
    );
    let twice = bayes(MeanField::fine_tune(10), &device).into_bayes(MeanField::fine_tune(10));
    assert!(matches!(twice, Err(ConvertError::Converted { .. })));
}

#[test]
fn draws_are_the_same_network_however_they_are_made() {
    let x = images(3, &Device::flex());
    for posterior in posteriors() {
        let mut by_device = Vec::new();
        for (name, device) in devices() {
            let bayes = bayes(posterior.clone(), &device);
            let x = x.clone().to_device(&device);
            let run = |pass: Pass, x: &Tensor<4>| {
                values(bayes.run(pass, |net| net.forward(x.clone())).unwrap())
            };
            let of_pass = [run(Pass::draw(4), &x), run(Pass::draw(5), &x)].concat();
            let plain = |k| values(bayes.draw(k).unwrap().forward(x.clone()));
            let of_plain = [plain(4), plain(5)].concat();
            let together = run(Pass::draws(4, 2), &x.clone().repeat_dim(0, 2));
            let tolerance = Tolerance::of_largest(1e-5, &of_pass);
            let what = format!("{posterior:?} on {name}");
            assert_close(&what, &of_plain, &of_pass, tolerance);
            assert_close(&what, &together, &of_pass, tolerance);
            if !matches!(&posterior, Posterior::LowRankEnsemble(one) if one.components == 1) {
                assert_ne!(of_pass[..9], of_pass[9..], "draws differ: {what}");
            }
            by_device.push(of_pass);
        }
        for other in &by_device[1..] {
            let tolerance = Tolerance::of_largest(2e-5, other);
            assert_close("across devices", other, &by_device[0], tolerance);
        }
    }
}

/// Mean and variance, over steps, of the outputs of a linear layer for one example.
fn moments(estimator: Estimator) -> [Vec<f32>; 2] {
    let device = Device::flex();
    let layer = filled(nn::LinearConfig::new(4, 3).init(&device));
    let layer = layer.into_bayes(wide(MeanField::fine_tune(10))).unwrap();
    let x = normals([1, 4], 1, &device).repeat_dim(0, 50);
    let steps = 400;
    let mut samples: Vec<f32> = Vec::new();
    for step in 0..steps {
        let pass = Pass::train(estimator, step);
        samples.extend(values(
            layer.run(pass, |layer| layer.forward(x.clone())).unwrap(),
        ));
    }
    let count = (samples.len() / 3) as f32;
    let sum = |of: &dyn Fn(usize, f32) -> f32| -> Vec<f32> {
        let column = |output: usize| samples.iter().skip(output).step_by(3);
        (0..3)
            .map(|o| column(o).map(|&y| of(o, y)).sum::<f32>() / count)
            .collect()
    };
    let mean = sum(&|_, y| y);
    let variance = sum(&|o, y| (y - mean[o]).powi(2));
    [mean, variance]
}

/// All estimators draw the pre-activation of an example from the same Gaussian.
#[test]
fn estimators_have_the_mean_and_variance_of_the_posterior() {
    let device = Device::flex();
    let layer = filled(nn::LinearConfig::new(4, 3).init(&device));
    let bayes = layer
        .clone()
        .into_bayes(wide(MeanField::fine_tune(10)))
        .unwrap();
    let x = normals([1, 4], 1, &device);
    let mean = values(layer.forward(x.clone()));
    let variances: Vec<Tensor<1>> = bayes
        .inventory()
        .entries
        .iter()
        .map(|entry| match &entry.spread {
            Spread::MeanField { psi, .. } => psi.clone().mul_scalar(2.0).exp(),
            other => panic!("{other:?}"),
        })
        .collect();
    let of_weight = (x.clone() * x).matmul(variances[0].clone().reshape([4, 3]));
    let variance = values(of_weight.reshape([3]) + variances[1].clone());
    for estimator in [
        Estimator::Vanilla,
        Estimator::Exemplar,
        Estimator::Local,
        Estimator::Flipout,
    ] {
        let [found_mean, found_variance] = moments(estimator);
        // 20,000 independent samples, or 400 where the examples of a step share their noise; flipout
        // shares its size, and only the sign differs.
        let few = matches!(estimator, Estimator::Vanilla);
        let share = if few { 0.3 } else { 0.06 };
        let variance_share = if few || estimator == Estimator::Flipout {
            0.3
        } else {
            0.06
        };
        for output in 0..3 {
            let std = variance[output].sqrt();
            let off = (found_mean[output] - mean[output]).abs() / std;
            assert!(
                off < share,
                "{estimator}: mean off by {off} standard deviations"
            );
            let ratio = found_variance[output] / variance[output];
            assert!(
                (ratio - 1.0).abs() < variance_share,
                "{estimator}: variance ratio {ratio}"
            );
        }
    }
}

#[test]
fn only_the_vanilla_estimator_shares_noise_among_examples() {
    let device = Device::flex();
    let x = images(1, &device).repeat_dim(0, 2);
    for posterior in posteriors().into_iter().take(3) {
        let ensemble = matches!(posterior, Posterior::LowRankEnsemble(_));
        let bayes = bayes(posterior, &device);
        let rows = |pass: Pass| {
            let pass = pass.with_mode(bayesadapter::pass::Mode::Evaluate);
            let y = values(bayes.run(pass, |net| net.forward(x.clone())).unwrap());
            [y[..3].to_vec(), y[3..].to_vec()]
        };
        let [first, second] = rows(Pass::train(Estimator::Vanilla, 1));
        assert_eq!(first, second);
        let [first, second] = rows(Pass::train(Estimator::Exemplar, 1));
        assert_ne!(first, second);
        assert_eq!(rows(Pass::train(Estimator::Exemplar, 1)), [first, second]);
        if !ensemble {
            for estimator in [Estimator::Local, Estimator::Flipout] {
                let [first, second] = rows(Pass::train(estimator, 1));
                assert_ne!(first, second, "{estimator}");
            }
        }
    }
}

/// A batch in two parts sees the noise of the whole.
#[test]
fn parts_of_a_batch_keep_their_noise() {
    let device = Device::flex();
    let x = images(4, &device);
    let bayes = bayes(wide(MeanField::fine_tune(10)), &device);
    for estimator in [Estimator::Vanilla, Estimator::Exemplar, Estimator::Local] {
        let pass = Pass::train(estimator, 3).with_mode(bayesadapter::pass::Mode::Evaluate);
        let run = |pass: Pass, x: Tensor<4>| values(bayes.run(pass, |net| net.forward(x)).unwrap());
        let whole = run(pass, x.clone());
        let first = run(pass, x.clone().slice(0..1));
        let rest = run(pass.with_first_example(1), x.clone().slice(1..4));
        let parts = [first, rest].concat();
        let tolerance = Tolerance::of_largest(1e-5, &whole);
        assert_close(&format!("{estimator}"), &parts, &whole, tolerance);
    }
}

#[test]
fn exemplar_gradients_are_those_of_a_weight_per_example() {
    for (name, device) in devices() {
        let device = device.autodiff();
        let posterior = wide(MeanField::fine_tune(10));
        let layer = filled(nn::LinearConfig::new(4, 3).with_bias(false).init(&device));
        let bayes = layer.into_bayes(posterior).unwrap();
        let x = normals([6, 4], 2, &device);
        let pass = Pass::train(Estimator::Exemplar, 9);
        let y = bayes.run(pass, |layer| layer.forward(x.clone())).unwrap();
        let gradients = (y.clone() * y.clone()).sum().backward();
        let found = GradientsParams::from_grads(gradients, &bayes);

        let entry = &bayes.inventory().entries[0];
        let Spread::MeanField { psi_id, psi, .. } = &entry.spread else {
            panic!("{entry:?}");
        };
        let leaf = |value: &Tensor<1>| Tensor::from_inner(value.clone()).require_grad();
        let (mu, psi) = (leaf(&entry.value), leaf(psi));
        let key = NoiseKey {
            seed: 0x5bd1_e995_9e37_79b9,
            draw: 9,
            ..Default::default()
        };
        let weights: Tensor<2> =
            sample_gaussian(mu.clone(), psi.clone(), key, DrawAxis::Example, 6).unwrap();
        let expected_y = x.reshape([6, 1, 4]).matmul(weights.reshape([6, 4, 3]));
        let tolerance = Tolerance::of_largest(1e-5, &values(y.clone().inner()));
        assert_close(
            name,
            &values(y.inner()),
            &values(expected_y.clone().inner()),
            tolerance,
        );
        let expected = (expected_y.clone() * expected_y).sum().backward();
        for (what, found, expected) in [
            (
                "mu",
                found.get::<2>(entry.id).map(values),
                mu.grad(&expected),
            ),
            (
                "psi",
                found.get::<1>(*psi_id).map(values),
                psi.grad(&expected),
            ),
        ] {
            let (found, expected) = (found.unwrap(), values(expected.unwrap()));
            let tolerance = Tolerance::of_largest(1e-5, &expected);
            assert_close(&format!("{what} on {name}"), &found, &expected, tolerance);
        }
    }
}

#[test]
fn an_ensemble_refuses_estimators_of_gaussians() {
    let device = Device::flex();
    let ensemble = bayes(LowRankEnsemble::fine_tune(10), &device);
    for estimator in [Estimator::Local, Estimator::Flipout] {
        let result = ensemble.run(Pass::train(estimator, 0), |net| {
            net.forward(images(2, &device))
        });
        let error = result.unwrap_err();
        assert!(matches!(error, PassError::Estimator { .. }));
        assert!(
            error.to_string().contains("exemplar"),
            "says what to use: {error}"
        );
    }
}

#[test]
fn what_goes_wrong_inside_a_pass_is_an_error_and_ends_the_pass() {
    let device = Device::flex();
    let bayes = bayes(MeanField::fine_tune(10), &device);
    let nested = bayes.run(Pass::mean(), |_| Pass::mean().run(|| ()));
    assert_eq!(nested, Ok(Err(PassError::Nested)));
    let wrong = Tensor::<4>::zeros([2, 7, 5, 4], &device);
    let result = bayes.run(Pass::mean(), |net| net.forward(wrong));
    assert!(matches!(result, Err(PassError::Op(_))), "{result:?}");
    let uneven = bayes.run(Pass::draws(0, 2), |net| net.forward(images(3, &device)));
    assert!(
        matches!(uneven, Err(PassError::Rows { rows: 3, draws: 2 })),
        "{uneven:?}"
    );
    let panicked = bayes.run(Pass::mean(), |_| -> Tensor<1> { panic!("on purpose") });
    assert!(matches!(panicked, Err(PassError::Panicked(text)) if text == "on purpose"));
    assert!(
        bayes
            .run(Pass::mean(), |net| net.forward(images(3, &device)))
            .is_ok()
    );
}

#[test]
fn layers_tell_which_estimator_they_used() {
    let device = Device::flex();
    let x = images(2, &device);
    let ours = bayes(MeanField::fine_tune(10), &device);
    let used = ours
        .estimators(Estimator::Local, |net| net.forward(x.clone()))
        .unwrap();
    let of = |path: &str| {
        used.iter()
            .find(|(one, _)| one == path)
            .map(|(_, used)| *used)
    };
    assert_eq!(of("conv.weight"), Some(Estimator::Local));
    assert_eq!(of("head.bias"), Some(Estimator::Exemplar));
    assert_eq!(of("norm.gamma"), Some(Estimator::Exemplar));
    let stock = Stock::new(&device)
        .into_bayes(MeanField::fine_tune(10))
        .unwrap();
    let used = stock
        .estimators(Estimator::Exemplar, |net| net.forward(x.clone()))
        .unwrap();
    assert_eq!(used.len(), 6);
    assert!(
        used.iter().all(|(_, used)| *used == Estimator::Vanilla),
        "{used:?}"
    );
}

/// The gradient that is added after the backward pass is that of the loss that is reported.
#[test]
fn complexity_gradients_agree_with_finite_differences() {
    for (name, device) in devices() {
        for posterior in posteriors() {
            complexity_gradients_agree(&posterior, name, &device.clone().autodiff());
        }
    }
}

fn complexity_gradients_agree(posterior: &Posterior, name: &str, device: &Device) {
    let bayes = bayes(posterior.clone(), device);
    let moved = bayes.clone().map(&mut Move {
        by: 0.05,
        seed: 500,
    });
    // A pass through everything, with a gradient of zero.
    let y = moved
        .run(Pass::train(Estimator::Exemplar, 0), |net| {
            net.forward(images(2, device))
        })
        .unwrap();
    let gradients = GradientsParams::from_grads(y.mul_scalar(0.0).sum().backward(), &moved);
    let gradients = moved.with_complexity(gradients).unwrap();
    let mut along = Along {
        gradients,
        seed: 900,
        total: 0.0,
    };
    moved.visit(&mut along);

    let step = 0.01;
    let loss = |by: f32| {
        let bayes = moved.clone().map(&mut Move { by, seed: 900 });
        bayes.complexity_loss().unwrap()
    };
    let expected = (loss(step) - loss(-step)) / (2.0 * f64::from(step));
    let off = (along.total - expected).abs();
    assert!(
        off < 2e-3 * expected.abs().max(1e-3),
        "{posterior:?} on {name}: {} along the direction, expected {expected}",
        along.total
    );
}

/// Moves every trained parameter along a random direction.
struct Move {
    by: f32,
    seed: u32,
}

impl burn::module::ModuleMapper for Move {
    fn map_float<const D: usize>(
        &mut self,
        param: burn::module::Param<Tensor<D>>,
    ) -> burn::module::Param<Tensor<D>> {
        self.seed += 1;
        param.map(|value| {
            if !value.is_require_grad() {
                return value;
            }
            let direction = normals(value.dims(), self.seed, &value.device());
            (value + direction.mul_scalar(self.by))
                .detach()
                .require_grad()
        })
    }
}

/// The directional derivative along the direction of [`Move`].
struct Along {
    gradients: GradientsParams,
    seed: u32,
    total: f64,
}

impl burn::module::ModuleVisitor for Along {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
        self.seed += 1;
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let direction = normals(gradient.dims(), self.seed, &gradient.device());
            let products = values(gradient * direction);
            self.total += products.iter().map(|&one| f64::from(one)).sum::<f64>();
        }
    }
}

/// `KL / n` of one weight by the textbook formula.
#[test]
fn the_complexity_loss_of_a_gaussian_is_its_divergence() {
    let device = Device::flex();
    let layer = nn::LinearConfig::new(1, 1).with_bias(false).init(&device);
    let mut posterior = MeanField::fine_tune(50).with_lambda(0.1);
    posterior.initial_log_std = [-1.0, -1.0];
    let bayes = filled(layer).into_bayes(posterior).unwrap();
    let mean = f64::from(values(bayes.network().weight.base())[0]);
    let (std, prior_std) = ((-1.0f64).exp(), (1.0 / (0.1 * 50.0f64)).sqrt());
    let divergence =
        (prior_std / std).ln() + (std * std + mean * mean) / (2.0 * prior_std * prior_std) - 0.5;
    let found = bayes.complexity_loss().unwrap();
    assert!(
        (found - divergence / 50.0).abs() < 1e-7,
        "{found} and {divergence} / 50"
    );
}

#[test]
fn records_keep_the_posterior() {
    let device = Device::flex();
    for posterior in posteriors() {
        let trained = bayes(posterior.clone(), &device).map(&mut Move { by: 0.1, seed: 40 });
        let fresh = bayes(posterior, &device).map(&mut Move { by: 0.3, seed: 70 });
        let loaded = fresh.load_record(trained.clone().into_record());
        let x = images(2, &device);
        for pass in [Pass::mean(), Pass::draw(3)] {
            let y = |bayes: &Bayes<Network>| {
                values(bayes.run(pass, |net| net.forward(x.clone())).unwrap())
            };
            assert_eq!(y(&loaded), y(&trained));
        }
    }
}

#[test]
fn groups_hold_means_and_spreads_apart() {
    let device = Device::flex();
    for posterior in posteriors() {
        let bayes = bayes(posterior, &device);
        let inventory = bayes.inventory();
        let (means, spreads) = (inventory.means(), inventory.spreads());
        for entry in &inventory.entries {
            assert!(means.matches(&entry.id, None) && !spreads.matches(&entry.id, None));
            let ids = match &entry.spread {
                Spread::Point => vec![],
                Spread::MeanField { psi_id, .. } => vec![*psi_id],
                Spread::LowRank {
                    left_id, right_id, ..
                } => vec![*left_id, *right_id],
            };
            for id in ids {
                assert!(spreads.matches(&id, None) && !means.matches(&id, None));
            }
        }
    }
}

/// The paper's table: a ResNet-50 of 25.56 M parameters becomes an ensemble of 27.21 M with rank 1.
#[test]
fn an_ensemble_of_resnet50_has_the_papers_size() {
    let architecture: Architecture = "resnet50".parse().unwrap();
    let network = architecture.init(&Device::flex()).unwrap();
    let ensemble = network
        .into_bayes(LowRankEnsemble::fine_tune(1_281_167))
        .unwrap();
    let account = ensemble.account();
    assert_eq!(account.parameters_before, 25_557_032);
    let added = account.parameters_after - account.parameters_before;
    assert_eq!(added, 20 * 82_491);
}
