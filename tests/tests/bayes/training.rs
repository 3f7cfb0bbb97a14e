//! Converted networks in the hands of Burn's optimisers, and point weights.

use crate::subject::{Network, bayes, images, wide};
use bayesadapter::{
    pass::{Estimator, Mode, Pass},
    posterior::{Bayes, IntoBayes, LeftAlone, LowRankEnsemble, MeanField, Point, Posterior},
};
use bayesadapter_tests::{Tolerance, assert_close, values};
use burn::{
    module::{Module, ModuleVisitor, Param, ParamId},
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Tensor},
};
use std::collections::BTreeMap;

/// Values of all float parameters, attached ones among them, and their gradients.
#[derive(Default)]
struct Seen {
    gradients: Option<GradientsParams>,
    values: BTreeMap<ParamId, (Vec<f32>, Option<Vec<f32>>)>,
}

impl ModuleVisitor for Seen {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradients = self.gradients.as_ref();
        let gradient = gradients.and_then(|all| all.get::<D>(param.id)).map(values);
        let value = values(param.base().without_autodiff());
        self.values.insert(param.id, (value, gradient));
    }
}

fn gradients(bayes: &Bayes<Network>, pass: Pass, device: &Device) -> GradientsParams {
    let y = bayes.run(pass, |net| net.forward(images(4, device)));
    let y = y.unwrap();
    let gradients = (y.clone() * y).mean().backward();
    let gradients = GradientsParams::from_grads(gradients, bayes);
    bayes.with_complexity(gradients).unwrap()
}

/// The first step of Adam is the learning rate against the sign of the gradient, whatever its size.
#[test]
fn adam_moves_means_and_spreads() {
    const RATE: f64 = 1e-3;
    let device = Device::flex().autodiff();
    let posteriors: [Posterior; 2] = [
        wide(MeanField::fine_tune(10)).into(),
        LowRankEnsemble::fine_tune(10)
            .with_components(3)
            .with_rank(2)
            .into(),
    ];
    for posterior in posteriors {
        let before = bayes(posterior.clone(), &device);
        // Evaluation, so that running statistics stay as they are.
        let pass = Pass::train(Estimator::Exemplar, 1).with_mode(Mode::Evaluate);
        let mut seen = Seen {
            gradients: Some(gradients(&before, pass, &device)),
            ..Default::default()
        };
        before.visit(&mut seen);
        let given = gradients(&before, pass, &device);
        let after = AdamConfig::new().init().step(RATE, before, given);
        let mut moved = Seen::default();
        after.visit(&mut moved);
        let mut steps = 0;
        for (id, (old, gradient)) in &seen.values {
            let Some(gradient) = gradient else {
                assert_eq!(&moved.values[id].0, old, "nothing moves it");
                continue;
            };
            for (at, slope) in gradient.iter().enumerate() {
                // Adam adds 1e-5 to the size of a gradient.
                if slope.abs() < 1e-2 {
                    continue;
                }
                let step = f64::from(moved.values[id].0[at] - old[at]);
                let off = step + RATE * f64::from(slope.signum());
                assert!(off.abs() < 0.01 * RATE, "{step} for {slope}: {posterior:?}");
                steps += 1;
            }
        }
        assert!(steps > 20, "{steps} steps: {posterior:?}");
    }
}

/// A point is trained with its prior as weight decay, and is one network however often it is drawn.
#[test]
fn a_point_is_ordinary_training_with_weight_decay() {
    let device = Device::flex().autodiff();
    let network = Network::new(&device);
    let point = network
        .clone()
        .into_bayes(Point::train(10).with_lambda(0.5));
    let point = point.unwrap();
    let account = point.account();
    assert!(account.converted.is_empty());
    assert_eq!(account.parameters_after, account.parameters_before);
    let weight = ("conv.weight".to_owned(), LeftAlone::Point);
    assert!(account.left_alone.contains(&weight), "{account}");

    let x = images(2, &device);
    let run = |pass: Pass| {
        let y = point.run(pass, |net| net.forward(x.clone())).unwrap();
        values(y.without_autodiff())
    };
    assert_eq!(run(Pass::draw(3)), run(Pass::mean()));
    // A pass through everything, with a gradient of zero.
    let y = point.run(Pass::train_mean(), |net| net.forward(x.clone()));
    let none = y.unwrap().mul_scalar(0.0).sum().backward();
    let none = GradientsParams::from_grads(none, &point);
    let decay = point.with_complexity(none).unwrap();
    let found = values(decay.get::<4>(point.network().conv.weight.id).unwrap());
    let weight = values(network.conv.weight.val().without_autodiff());
    let expected: Vec<f32> = weight.iter().map(|weight| 0.5 * weight).collect();
    let tolerance = Tolerance::of_largest(1e-6, &expected);
    assert_close("weight decay", &found, &expected, tolerance);
}
