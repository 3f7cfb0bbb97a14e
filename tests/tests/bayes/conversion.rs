//! What becomes of a network, and what it is at its mean, in draws and in records.

use crate::subject::{Move, Network, Stock, bayes, images, posteriors};
use bayesadapter::{
    checkpoint::{Checkpoint, to_safetensors},
    models::Architecture,
    pass::{Estimator, Pass, PassError},
    posterior::{
        Bayes, ConvertError, InitialStd, IntoBayes, LeftAlone, LowRankEnsemble, LowRankForm,
        MeanField, Point, Posterior, PriorMean, Select, Spread,
    },
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    module::Module,
    tensor::{DType, Device, Tensor, read_sync},
};

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
    let patterns = MeanField::fine_tune(10).with_select(Select::paths(["head.*", "hed.*"]));
    let account = bayes(patterns, &device).account().clone();
    assert_eq!(account.unmatched, ["hed.*"]);
    assert!(account.to_string().contains("hed.*"), "{account}");
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

/// Running mean of the normalisation, as the next evaluation would see it.
fn running_mean(network: &Network) -> Vec<f32> {
    values(network.norm.running_mean.value_sync().without_autodiff())
}

#[test]
fn plain_copies_do_not_follow_the_training_of_the_network() {
    let device = Device::flex().autodiff();
    let bayes = bayes(MeanField::fine_tune(10), &device);
    let step = |number| {
        let pass = Pass::train(Estimator::Exemplar, number);
        let y = bayes.run(pass, |net| net.forward(images(3, &device)));
        drop(y.unwrap());
    };
    step(0);
    let of_network = running_mean(bayes.network());
    let copies = [bayes.at_mean().unwrap(), bayes.draw(1).unwrap()];
    for copy in &copies {
        assert_eq!(running_mean(copy), of_network, "also the last update");
        assert!(copy.conv.weight.val().is_require_grad());
    }
    step(1);
    assert_ne!(running_mean(bayes.network()), of_network);
    for copy in &copies {
        assert_eq!(running_mean(copy), of_network);
    }
    let of_network = running_mean(bayes.network());
    let train = Pass::train_mean().run(|| copies[0].forward(images(3, &device)));
    drop(train.unwrap());
    assert_eq!(running_mean(bayes.network()), of_network);
}

#[test]
fn weights_are_saved_with_the_last_update_of_statistics() {
    let device = Device::flex().autodiff();
    let network = Network::new(&device);
    let x = images(3, &device);
    let before = values(network.norm.running_mean.value().without_autodiff());
    let seen = network.conv.forward(x.clone()).without_autodiff();
    let seen = values(seen.mean_dim(3).mean_dim(2).mean_dim(0));
    drop(Pass::train_mean().run(|| network.forward(x)).unwrap());
    let bytes = read_sync(to_safetensors(&network, None)).unwrap();
    let saved = Checkpoint::from_bytes(bytes).unwrap();
    let expected: Vec<f32> = before
        .iter()
        .zip(seen)
        .map(|(old, new)| 0.9 * old + 0.1 * new)
        .collect();
    let tolerance = Tolerance::of_largest(1e-5, &expected);
    let found = saved.to_f32("norm.running_mean").unwrap();
    assert_close("running mean", &found, &expected, tolerance);
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
    for initial_std in [
        InitialStd::Relative(0.0),
        InitialStd::Relative(f32::NAN),
        InitialStd::LogUniform([-5.0, -6.0]),
    ] {
        let gaussian = MeanField::fine_tune(10).with_initial_std(initial_std);
        setting(gaussian.into());
    }
    setting(LowRankEnsemble::fine_tune(10).with_components(0).into());
    setting(LowRankEnsemble::fine_tune(10).with_rank(0).into());
    // A prior at the pre-trained weights is for Gaussians alone.
    let mut ensemble = LowRankEnsemble::fine_tune(10);
    ensemble.prior.mean = PriorMean::Pretrained;
    setting(ensemble.into());
    let mut point = Point::train(10);
    assert!(convert(point.clone().into()).is_ok());
    point.prior.mean = PriorMean::Pretrained;
    setting(point.into());
    let still = LowRankEnsemble {
        initial_std: 0.0,
        ..LowRankEnsemble::fine_tune(10)
    };
    setting(still.clone().with_rank(2).into());
    assert!(
        convert(still.into()).is_ok(),
        "components part by themselves"
    );
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
fn parameters_that_are_not_f32_are_refused() {
    let device = Device::flex();
    for found in [DType::F16, DType::BF16, DType::F64] {
        let mut network = Network::new(&device);
        network.head.weight = network.head.weight.map(|weight| weight.cast(found));
        let convert = |posterior: Posterior| network.clone().into_bayes(posterior).map(drop);
        for posterior in posteriors() {
            let path = "head.weight".to_owned();
            let expected = ConvertError::DType { path, found };
            assert_eq!(convert(posterior), Err(expected));
        }
        let others = MeanField::fine_tune(10).with_select(Select::paths(["conv.*"]));
        assert_eq!(convert(others.into()), Ok(()));
        assert_eq!(convert(Point::train(10).into()), Ok(()));
    }
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

/// A page cannot unwind: there, whatever leaves a forward pass before its end ends the program.
#[test]
fn a_pass_that_fails_comes_to_its_end() {
    let all = devices();
    let [(_, cpu), (_, other)] = &all[..] else {
        panic!("the CPU and one adapter");
    };
    let cpu = cpu.clone().autodiff();
    let statistics = |bayes: &Bayes<Network>| values(bayes.network().norm.running_mean.value());
    for posterior in posteriors() {
        let bayes = bayes(posterior, &cpu);
        let before = statistics(&bayes);
        let wrong_channels = Tensor::<4>::ones([4, 7, 5, 4], &cpu);
        let too_small = Tensor::<4>::ones([4, 2, 1, 1], &cpu).slice([0..4, 0..2, 0..1, 0..0]);
        let elsewhere = images(4, &other.clone().autodiff());
        for wrong in [wrong_channels, too_small, elsewhere] {
            let mut ended = false;
            let failed = bayes.run(Pass::train(Estimator::Exemplar, 0), |net| {
                let y = net.forward(wrong);
                assert_eq!(y.dims(), [4, 3]);
                y.sum().backward();
                ended = true;
            });
            assert!(matches!(failed, Err(PassError::Op(_))), "{failed:?}");
            assert!(ended);
            assert_eq!(statistics(&bayes), before);
        }
        let uneven = bayes.run(Pass::draws(0, 2), |net| net.forward(images(3, &cpu)).dims());
        assert!(matches!(uneven, Err(PassError::Rows { .. })), "{uneven:?}");
    }
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
