//! What the account of a conversion tells of estimators before any pass, and what predictions make of it.

use crate::subject::{Network, Stock, images, normals, wide};
use bayesadapter::{
    models::{Architecture, MobileFaceNetConfig},
    nn,
    pass::{Estimator, Pass},
    posterior::{Conversion, InitialStd, IntoBayes, LowRankEnsemble, MeanField, Posterior},
    predict::{Classifier, Draws, PredictOptions},
};
use bayesadapter_tests::{Tolerance, assert_close, values};
use burn::{
    module::{Module, Param},
    nn::LinearLayout,
    tensor::{Device, Tensor, activation::softmax},
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// Those of an ensemble first.
const ESTIMATORS: [Estimator; 4] = [
    Estimator::Vanilla,
    Estimator::Exemplar,
    Estimator::Local,
    Estimator::Flipout,
];

/// What a parameter gets when `asked` is asked for.
fn gets(one: &Conversion, asked: Estimator) -> Estimator {
    let mut choices = [asked, Estimator::Exemplar, Estimator::Vanilla].into_iter();
    let has = |estimator: &Estimator| one.estimators.contains(estimator);
    choices.find(has).unwrap()
}

/// The account gives every converted parameter the estimator that a pass was seen to use.
fn account_agrees<M: Module>(what: &str, network: M, forward: impl Fn(&M)) {
    let ensemble = LowRankEnsemble::fine_tune(10).with_components(2);
    for (posterior, count) in [
        (Posterior::from(MeanField::fine_tune(10)), 4),
        (ensemble.into(), 2),
    ] {
        let bayes = network.clone().into_bayes(posterior).unwrap();
        let converted = &bayes.account().converted;
        for &asked in &ESTIMATORS[..count] {
            let told = converted
                .iter()
                .map(|one| (one.path.clone(), gets(one, asked)));
            let told: BTreeMap<String, Estimator> = told.collect();
            let traced = bayes.estimators(asked, &forward).unwrap();
            let traced: BTreeMap<String, Estimator> = traced.into_iter().collect();
            assert_eq!(told, traced, "{asked} of {what}");
        }
        for one in converted {
            let others = one
                .estimators
                .iter()
                .filter(|of| !ESTIMATORS[..count].contains(of));
            assert_eq!(others.count(), 0, "{one:?} of {what}");
        }
    }
}

/// Layers of ours and of Burn's, and a parameter of no layer.
#[derive(Module, Debug)]
struct Mixed {
    blocks: Vec<nn::Linear>,
    norm: burn::nn::LayerNorm,
    slope: nn::PRelu,
    head: burn::nn::Linear,
    scale: Param<Tensor<1>>,
}

impl Mixed {
    fn new(device: &Device) -> Self {
        let block = || nn::LinearConfig::new(4, 4).init(device);
        Self {
            blocks: vec![block(), block()],
            norm: burn::nn::LayerNormConfig::new(4).init(device),
            slope: nn::PReluConfig::new().init(device),
            head: burn::nn::LinearConfig::new(4, 3).init(device),
            scale: Param::from_tensor(Tensor::ones([3], device)),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x));
        let x = self.slope.forward(self.norm.forward(x));
        self.head.forward(x) * self.scale.val().unsqueeze::<2>()
    }
}

#[derive(Deserialize)]
struct Case {
    architecture: Architecture,
    input: [usize; 4],
}

#[test]
fn the_account_tells_estimators_before_any_pass() {
    let device = Device::flex();
    let text = include_str!("../../golden/models/logits.json");
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    for Case {
        architecture,
        input,
    } in cases
    {
        let network = architecture.init(&device).unwrap();
        let x = normals(input, 2, &device);
        account_agrees(&format!("{architecture:?}"), network, |network| {
            drop(network.forward(x.clone()));
        });
    }
    account_agrees("ours", Network::new(&device), |network| {
        drop(network.forward(images(2, &device)));
    });
    account_agrees("stock", Stock::new(&device), |network| {
        drop(network.forward(images(2, &device)));
    });
    account_agrees("mixed", Mixed::new(&device), |network| {
        drop(network.forward(normals([2, 4], 3, &device)));
    });
}

#[test]
fn the_account_names_what_shares_its_draws() {
    let device = Device::flex();
    let mixed = Mixed::new(&device).into_bayes(MeanField::fine_tune(10));
    let mixed = mixed.unwrap();
    let text = mixed.account().to_string();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let expected = [
        "  2 with the estimators vanilla, exemplar, local, flipout",
        "  3 with the estimators vanilla, exemplar",
        "  5 with the vanilla estimator alone, in layers that are not of `bayesadapter::nn`: norm.gamma, norm.beta, \
         head.weight, head.bias, and 1 more",
    ];
    assert_eq!(lines, expected);
    let scale = mixed.account().converted.last().unwrap();
    assert_eq!(scale.path, "scale");
    assert!(scale.is_vanilla_only());
    let older = r#"{ "path": "a.weight", "shape": [2, 1], "added": 2 }"#;
    let older: Conversion = serde_json::from_str(older).unwrap();
    assert!(older.estimators.is_empty() && !older.is_vanilla_only());
}

#[test]
fn the_account_has_the_shape_that_a_layer_computes_with() {
    let device = Device::flex();
    for layout in [LinearLayout::Row, LinearLayout::Col] {
        let layer = || {
            nn::LinearConfig::new(5, 3)
                .with_layout(layout)
                .init(&device)
        };
        let bayes = layer().into_bayes(MeanField::fine_tune(10)).unwrap();
        let weight = &bayes.account().converted[0];
        assert_eq!(
            (weight.path.as_str(), &weight.shape[..]),
            ("weight", &[5, 3][..])
        );
        let inventory = bayes.inventory();
        assert_eq!(weight.shape, inventory.entries[0].shape);
    }
}

/// A layer of Burn's, which shares one draw among all rows. Counts its passes.
#[derive(Module, Debug)]
struct Counted {
    layer: burn::nn::Linear,
    #[module(skip)]
    passes: Arc<AtomicUsize>,
}

impl Classifier<2> for Counted {
    fn logits(&self, x: Tensor<2>) -> Tensor<2> {
        self.passes.fetch_add(1, Relaxed);
        self.layer.forward(x)
    }
}

/// A layer of ours, whose weight is read past it.
#[derive(Module, Debug)]
struct Past {
    layer: nn::Linear,
}

impl Classifier<2> for Past {
    fn logits(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.layer.weight.val())
    }
}

#[test]
fn no_launch_is_lost_where_the_account_tells_of_shared_draws() {
    let device = Device::flex();
    let x = normals([2, 4], 3, &device);
    let options = PredictOptions::new(Draws::Fixed(5)).with_draws_kept();
    let passes = Arc::new(AtomicUsize::new(0));
    let counted = Counted {
        layer: burn::nn::LinearConfig::new(4, 3).init(&device),
        passes: Arc::clone(&passes),
    };
    let counted = counted.into_bayes(wide(MeanField::fine_tune(10))).unwrap();
    counted.predict(x.clone(), options.clone()).unwrap();
    assert_eq!(passes.load(Relaxed), 5);

    // Here only the first launch can tell, and it is made again.
    let layer = nn::LinearConfig::new(4, 3).init(&device);
    let past = Past { layer }
        .into_bayes(wide(MeanField::fine_tune(10)))
        .unwrap();
    assert!(
        !past
            .account()
            .converted
            .iter()
            .any(Conversion::is_vanilla_only)
    );
    let found = past.predict(x.clone(), options).unwrap();
    let expected: Vec<f32> = (0..5)
        .flat_map(|k| values(softmax(past.draw(k).unwrap().logits(x.clone()), 1)))
        .collect();
    assert_eq!(found.draw_probabilities.unwrap(), expected);
}

#[test]
fn draws_of_a_face_network_go_through_it_together() {
    let device = Device::flex();
    device.seed(5);
    let faces = MobileFaceNetConfig {
        width: 0.05,
        input: [32, 32],
        embedding: 6,
        ..MobileFaceNetConfig::new(Some(3))
    };
    let network = Architecture::MobileFaceNet(faces).init(&device).unwrap();
    let posterior = MeanField {
        initial_std: InitialStd::LogUniform([-4.0, -3.0]),
        ..MeanField::fine_tune(1_000)
    };
    let bayes = network.into_bayes(posterior).unwrap();
    let exemplar = |one: &Conversion| one.estimators.contains(&Estimator::Exemplar);
    assert!(bayes.account().converted.iter().all(exemplar));
    let x = normals([2, 3, 32, 32], 1, &device);
    let run = |pass: Pass, x: Tensor<4>| {
        let logits = bayes.run(pass, |network| network.forward(x));
        values(softmax(logits.unwrap(), 1))
    };
    let alone: Vec<f32> = (0..3).flat_map(|k| run(Pass::draw(k), x.clone())).collect();
    assert_ne!(alone[..6], alone[6..12]);
    let together = run(Pass::draws(0, 3), x.clone().repeat_dim(0, 3));
    let tolerance = Tolerance::of_largest(1e-4, &alone);
    assert_close("together", &together, &alone, tolerance);
    let options = PredictOptions::new(Draws::Fixed(3)).with_draws_kept();
    let predicted = bayes.predict(x, options).unwrap().draw_probabilities;
    assert_close("predicted", &predicted.unwrap(), &alone, tolerance);
}
