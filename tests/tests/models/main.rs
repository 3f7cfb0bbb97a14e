//! The networks against PyTorch: what their parameters are called, and what they compute.
//!
//! `golden/make_models.py` says how the tables were made and what they do not cover.

mod dropout;
mod state_dict;

use bayesadapter::checkpoint::{Checkpoint, LoadOptions};
use bayesadapter::models::{
    Architecture, CifarResNetConfig, DenseNetConfig, KNOWN_NAMES, MlpConfig, MobileFaceNetConfig,
    MobileNetV2Config, ModelConfig, ModelError, ResNetConfig, WideResNetConfig,
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::module::Param;
use burn::tensor::{
    Device, Gradients, Tensor, TensorData, module::avg_pool2d, ops::AvgPoolOptions,
};
use safetensors::{Dtype, tensor::TensorView};
use serde::Deserialize;
use state_dict::{OnParam, draw, drawn, visit};
use std::collections::BTreeMap;

/// Sums in any order, through up to a hundred layers.
const SHARE: f32 = 1e-4;

type Shapes = BTreeMap<String, Vec<usize>>;

#[derive(Deserialize)]
struct Case {
    architecture: Architecture,
    input: [usize; 4],
    logits: Vec<f32>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../golden/models/logits.json");
    serde_json::from_str(text).expect("cases as make_models.py writes them")
}

/// Names and shapes by architecture, with every `a.*` written out.
fn tables() -> BTreeMap<String, Shapes> {
    let text = include_str!("../../golden/models/names.json");
    let folded: BTreeMap<String, Shapes> =
        serde_json::from_str(text).expect("tables as make_models.py writes them");
    let unfold = |(name, shape): (String, Vec<usize>)| match name.strip_suffix('*') {
        Some(norm) => ["weight", "bias", "running_mean", "running_var"]
            .map(|part| (format!("{norm}{part}"), shape.clone()))
            .to_vec(),
        None => vec![(name, shape)],
    };
    folded
        .into_iter()
        .map(|(name, shapes)| (name, shapes.into_iter().flat_map(unfold).collect()))
        .collect()
}

impl OnParam for Shapes {
    fn on<const D: usize>(&mut self, name: String, shape: Vec<usize>, _: &Param<Tensor<D>>) {
        let before = self.insert(name.clone(), shape);
        assert!(before.is_none(), "two parameters are called {name}");
    }
}

#[test]
fn names_and_shapes_are_pytorchs() {
    for (name, expected) in tables() {
        let architecture: Architecture = name.parse().expect("a known name");
        let network = architecture.init(&Device::flex()).expect("a network");
        let found = visit(&architecture, &network, Shapes::new());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn sizes_are_known_without_a_network() {
    let count = |shapes: &Shapes| -> u64 {
        let of_one = |shape: &Vec<usize>| shape.iter().product::<usize>() as u64;
        shapes.values().map(of_one).sum()
    };
    for (name, shapes) in tables() {
        let architecture: Architecture = name.parse().expect("a known name");
        assert_eq!(architecture.scalars(), count(&shapes), "{name}");
    }
    for Case { architecture, .. } in cases() {
        let network = architecture.init(&Device::flex()).expect("a network");
        let shapes = visit(&architecture, &network, Shapes::new());
        assert_eq!(architecture.scalars(), count(&shapes), "{architecture:?}");
    }
}

#[test]
fn no_network_is_without_end() {
    for name in [
        "resnet6000000002-cifar",
        "wrn-6000000004-1",
        "wrn-28-6000000000",
    ] {
        assert!(name.parse::<Architecture>().is_err(), "{name}");
    }
}

#[test]
fn logits_are_pytorchs_on_every_device() {
    for (device_name, device) in devices() {
        for case in cases() {
            if device_name != "cpu" && !suits_an_adapter(&case.architecture) {
                continue;
            }
            let what = format!("{:?} on {device_name}", case.architecture);
            let input = Tensor::<4>::from_data(draw("input", case.input.to_vec()), &device);
            let network = drawn(&case.architecture, &device);
            let tolerance = Tolerance::of_largest(SHARE, &case.logits);
            let found = network.forward(input.clone());
            assert_close(&what, &values(found), &case.logits, tolerance);
        }
    }
}

/// A software adapter compiles for long per layer shape: the thinnest network of each kind of layers. Every layer of a
/// DenseNet has a shape of its own, and the smallest has 121.
fn suits_an_adapter(architecture: &Architecture) -> bool {
    match architecture {
        Architecture::CifarResNet(config) => config.depth == 8,
        Architecture::WideResNet(config) => config.depth == 10,
        Architecture::ResNet(config) => config.depth == 18,
        Architecture::MobileFaceNet(config) => config.classes.is_none(),
        Architecture::DenseNet(_) => false,
        Architecture::MobileNetV2(_)
        | Architecture::EfficientNetLite(_)
        | Architecture::DigitsCnn(_)
        | Architecture::Mlp(_) => true,
    }
}

/// What only DenseNets do, which no adapter runs as a whole above.
#[test]
fn channels_are_joined_and_averaged_on_every_device() {
    let [batch, channels, height, width] = [2, 3, 5, 6];
    let data = draw("input", vec![batch, channels, height, width]);
    let pixels: Vec<f32> = data.try_to_vec().expect("f32");
    let mut expected = Vec::new();
    for example in 0..batch {
        for channel in 0..2 * channels {
            // The doubled pixels are behind the others. An odd last row falls off.
            let factor = if channel < channels { 1.0 } else { 2.0 };
            let first = (example * channels + channel % channels) * height * width;
            for (y, x) in (0..height / 2).flat_map(|y| (0..width / 2).map(move |x| (y, x))) {
                let at = first + 2 * y * width + 2 * x;
                let four = [at, at + 1, at + width, at + width + 1].map(|at| pixels[at]);
                expected.push(factor * four.iter().sum::<f32>() / 4.0);
            }
        }
    }
    let tolerance = Tolerance::of_largest(1e-6, &expected);
    for (name, device) in devices() {
        let x = Tensor::<4>::from_data(data.clone(), &device);
        let joined = Tensor::cat(vec![x.clone(), x * 2.0], 1);
        let found = avg_pool2d(joined, AvgPoolOptions::new([2, 2]));
        assert_close(name, &values(found), &expected, tolerance);
    }
}

#[test]
fn dropout_at_rest_changes_nothing() {
    let device = Device::flex();
    for case in cases() {
        let Ok(dropping) = case.architecture.clone().with_dropout(0.5) else {
            assert!(matches!(case.architecture, Architecture::MobileFaceNet(_)));
            continue;
        };
        assert_ne!(dropping, case.architecture);
        let input = Tensor::<4>::from_data(draw("input", case.input.to_vec()), &device);
        let found = drawn(&dropping, &device).forward(input);
        let tolerance = Tolerance::of_largest(SHARE, &case.logits);
        assert_close("logits", &values(found), &case.logits, tolerance);
    }
}

#[test]
fn features_are_what_the_classifier_sees() {
    let device = Device::flex();
    for case in cases() {
        let network = drawn(&case.architecture, &device);
        let shapes = visit(&case.architecture, &network, Shapes::new());
        let input = Tensor::<4>::from_data(draw("input", case.input.to_vec()), &device);
        let [batch, found] = network.features(input).dims();
        assert_eq!(batch, case.input[0]);
        let classes = case.architecture.classes();
        let sees = |shape: &&Vec<usize>| shape.len() == 2 && Some(shape[0]) == classes;
        match shapes.values().find(sees) {
            Some(classifier) => assert_eq!(found, classifier[1], "{:?}", case.architecture),
            None => assert_eq!(classes, None),
        }
    }
}

/// A safetensors file with the golden weights under PyTorch's names, changed by `name`.
fn file(architecture: &Architecture, name: impl Fn(String) -> String) -> Vec<u8> {
    let network = architecture.init(&Device::flex()).expect("a network");
    let shapes = visit(architecture, &network, Shapes::new());
    let tensors: Vec<(String, TensorData)> = shapes
        .into_iter()
        .map(|(of, shape)| (name(of.clone()), draw(&of, shape)))
        .collect();
    let views = tensors.iter().map(|(name, data)| {
        let view = TensorView::new(Dtype::F32, data.shape().to_vec(), data.as_bytes());
        (name, view.expect("as many bytes as the shape says"))
    });
    safetensors::serialize(views, None).expect("names that differ")
}

fn assert_loads(case: &Case, file: Vec<u8>) {
    let (architecture, device) = (&case.architecture, Device::flex());
    let checkpoint = Checkpoint::from_bytes(file).expect("a file as written");
    let loaded = architecture.load(&checkpoint, &LoadOptions::default(), &device);
    let (loaded, account) = loaded.unwrap_or_else(|error| panic!("{architecture:?}: {error}"));
    assert!(account.unused.is_empty(), "{architecture:?}: {account}");
    let input = Tensor::<4>::from_data(draw("input", case.input.to_vec()), &device);
    let tolerance = Tolerance::of_largest(SHARE, &case.logits);
    let what = format!("{architecture:?}");
    assert_close(
        &what,
        &values(loaded.forward(input)),
        &case.logits,
        tolerance,
    );
}

#[test]
fn files_of_every_family_load() {
    for case in cases() {
        assert_loads(&case, file(&case.architecture, |name| name));
    }
}

/// The files that torchvision offers for download have names of before 2018.
#[test]
fn old_names_of_densenets_load() {
    let mut cases = cases().into_iter();
    let dense = cases.find(|case| matches!(case.architecture, Architecture::DenseNet(_)));
    let dense = dense.expect("a golden DenseNet");
    let old_name = |name: String| {
        let layers = ["norm1.", "norm2.", "conv1.", "conv2."];
        let Some(layer) = layers.into_iter().find(|layer| name.contains(layer)) else {
            return name;
        };
        let (kind, number) = layer.split_at(4);
        name.replace(layer, &format!("{kind}.{number}"))
    };
    let norm = "features.denseblock1.denselayer1.norm1.weight".to_owned();
    assert_eq!(
        old_name(norm),
        "features.denseblock1.denselayer1.norm.1.weight"
    );
    assert_loads(&dense, file(&dense.architecture, old_name));
}

/// Parameters without a gradient.
struct Untouched(Gradients, Vec<String>);

impl OnParam for Untouched {
    fn on<const D: usize>(&mut self, name: String, _: Vec<usize>, param: &Param<Tensor<D>>) {
        if !name.contains("running_") && param.val().grad(&self.0).is_none() {
            self.1.push(name);
        }
    }
}

#[test]
fn gradients_reach_every_parameter() {
    let device = Device::flex().autodiff();
    for case in cases() {
        let network = drawn(&case.architecture, &device);
        let input = Tensor::<4>::from_data(draw("input", case.input.to_vec()), &device);
        let gradients = network.forward(input).powi_scalar(2).sum().backward();
        let untouched = visit(&case.architecture, &network, Untouched(gradients, vec![]));
        assert_eq!(untouched.1, Vec::<String>::new(), "{:?}", case.architecture);
    }
}

/// Standard deviations at the start of training.
struct Deviations(BTreeMap<String, f32>);

impl OnParam for Deviations {
    fn on<const D: usize>(&mut self, name: String, _: Vec<usize>, param: &Param<Tensor<D>>) {
        let values = values(param.val());
        let squares: f32 = values.iter().map(|value| value * value).sum();
        self.0.insert(name, (squares / values.len() as f32).sqrt());
    }
}

#[test]
fn weights_start_as_pytorchs() {
    let kaiming = |fan: f32| (2.0 / fan).sqrt();
    let uniform = |inputs: f32| 1.0 / (3.0 * inputs).sqrt();
    let expected = [
        (
            "resnet20-cifar",
            "layer3.0.conv2.weight",
            kaiming(64.0 * 9.0),
        ),
        ("resnet20-cifar", "linear.weight", kaiming(64.0)),
        ("resnet18", "layer3.0.conv1.weight", kaiming(256.0 * 9.0)),
        ("resnet18", "fc.weight", uniform(512.0)),
        (
            "mobilenet_v2",
            "features.17.conv.1.0.weight",
            kaiming(960.0 * 9.0),
        ),
        ("mobilenet_v2", "classifier.1.weight", 0.01),
        ("mobilenet_v2", "classifier.1.bias", 0.0),
        ("mobilefacenet", "conv2.prelu.weight", 0.25),
    ];
    let device = Device::flex();
    device.seed(20240611);
    for (name, parameter, expected) in expected {
        let architecture: Architecture = name.parse().expect("a known name");
        let network = architecture.init(&device).expect("a network");
        let found = visit(&architecture, &network, Deviations(BTreeMap::new())).0[parameter];
        let difference = (found - expected).abs();
        assert!(
            difference <= 0.1 * expected,
            "{name} {parameter}: {found}, expected {expected}"
        );
    }
}

#[test]
fn descriptions_survive_names_and_files() {
    for name in tables().into_keys() {
        let architecture: Architecture = name.parse().expect("a known name");
        assert_eq!(architecture.name(), name);
        let normalisation = architecture.normalisation();
        let channels = architecture.input_shape()[0];
        assert_eq!(normalisation.mean.len(), channels, "{name}");
        assert_eq!(normalisation.std.len(), channels, "{name}");
        let text = serde_json::to_string(&architecture).expect("JSON");
        let read: Architecture = serde_json::from_str(&text).expect("what was written");
        assert_eq!(read, architecture);
    }
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    for name in [
        "resnet",
        "resnet20cifar",
        "wrn-28",
        "wrn-x-1",
        "densenet",
        "vgg16",
        "",
    ] {
        let error = name.parse::<Architecture>().expect_err(name);
        let expected = ModelError::UnknownName {
            name: name.to_owned(),
        };
        assert_eq!(error, expected);
        let text = error.to_string();
        assert!(
            KNOWN_NAMES.iter().all(|known| text.contains(known)),
            "{text}"
        );
    }
}

#[test]
fn impossible_networks_are_refused() {
    for name in [
        "resnet21-cifar",
        "resnet2-cifar",
        "wrn-27-10",
        "wrn-4-10",
        "resnet20",
        "densenet161",
    ] {
        let error = name.parse::<Architecture>().expect_err(name);
        assert!(matches!(error, ModelError::Depth { .. }), "{error}");
    }

    let size = |architecture: Architecture| {
        let error = architecture.init(&Device::flex()).expect_err("impossible");
        assert!(matches!(error, ModelError::Size { .. }), "{error}");
    };
    size(Architecture::CifarResNet(CifarResNetConfig::new(20, 0)));
    size(Architecture::CifarResNet(CifarResNetConfig {
        width: 0,
        ..CifarResNetConfig::new(20, 10)
    }));
    size(Architecture::WideResNet(WideResNetConfig::new(28, 0, 10)));
    size(Architecture::WideResNet(WideResNetConfig::new(
        28,
        usize::MAX,
        10,
    )));
    size(Architecture::DenseNet(DenseNetConfig {
        growth: 0,
        ..DenseNetConfig::new(121, 10)
    }));
    size(Architecture::MobileFaceNet(MobileFaceNetConfig::new(Some(
        0,
    ))));
    size(Architecture::Mlp(MlpConfig::new([1, 8, 0], vec![], 10)));
    size(Architecture::Mlp(MlpConfig::new([1, 8, 8], vec![3, 0], 10)));

    for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let config = MobileNetV2Config {
            width,
            ..MobileNetV2Config::new(10)
        };
        let error = config.init(&Device::flex()).expect_err("impossible");
        assert!(matches!(error, ModelError::Multiplier { .. }), "{error}");
    }
    for probability in [-0.1, 1.0, f64::NAN] {
        let resnet = Architecture::ResNet(ResNetConfig::new(50, 10));
        let error = resnet.with_dropout(probability).expect_err("impossible");
        assert!(matches!(error, ModelError::Dropout { .. }), "{error}");
    }
}
