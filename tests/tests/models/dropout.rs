//! Where dropout acts, as gradients show it.
//!
//! One pixel makes a matrix of every layer, and weights that are next to nothing beside the shifts of norm layers make
//! every activation positive. The gradient of a weight is then the product of what comes back to its outputs and of
//! its inputs, and dropout is all that can make zeros: rows where it drops outputs, columns where it drops inputs.

use crate::state_dict::{OnParam, draw, made, visit};
use bayesadapter::models::{
    Architecture, CifarResNetConfig, DenseNetConfig, EfficientNetLiteConfig, MobileNetV2Config,
    ResNetConfig, WideResNetConfig,
};
use bayesadapter::pass::{Mode, Pass};
use bayesadapter_tests::values;
use burn::module::Param;
use burn::tensor::{Device, Gradients, Tensor, TensorData};

/// What of a layer is dropped before anything else mixes it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Dropped {
    Nothing,
    Inputs,
    Outputs,
}

/// Says what is dropped of the layer with a weight of this name, if that is to be looked at.
type Expected = fn(&str) -> Option<Dropped>;

struct Look {
    architecture: Architecture,
    gradients: Gradients,
    expected: Expected,
    looked_at: usize,
}

impl OnParam for Look {
    fn on<const D: usize>(&mut self, name: String, shape: Vec<usize>, param: &Param<Tensor<D>>) {
        let [outputs, inputs, ref window @ ..] = shape[..] else {
            return;
        };
        let Some(expected) = (self.expected)(&name) else {
            return;
        };
        self.looked_at += 1;
        let gradient = values(param.val().grad(&self.gradients).expect("a gradient"));
        let is_zero = |output: usize, input: usize| {
            let at = match window {
                // Linear layers store the transpose.
                [] => input * outputs + output,
                // Of a window around one pixel, the centre.
                [height, width] => {
                    ((output * inputs + input) * height + height / 2) * width + width / 2
                }
                _ => panic!("{name} is neither linear nor a 2-D convolution"),
            };
            gradient[at] == 0.0
        };
        let rows = (0..outputs).filter(|&row| (0..inputs).all(|column| is_zero(row, column)));
        let columns = (0..inputs).filter(|&column| (0..outputs).all(|row| is_zero(row, column)));
        let zeros = (0..outputs)
            .flat_map(|row| (0..inputs).map(move |column| (row, column)))
            .filter(|&(row, column)| is_zero(row, column));
        let (rows, columns, zeros) = (rows.count(), columns.count(), zeros.count());
        let fits = match expected {
            Dropped::Nothing => zeros == 0,
            Dropped::Inputs => rows == 0 && columns > 0 && zeros == columns * outputs,
            Dropped::Outputs => columns == 0 && rows > 0 && zeros == rows * inputs,
        };
        assert!(
            fits,
            "{:?}, {name}: expected {expected:?} to be dropped, found {zeros} zeros in {rows} rows and {columns} \
             columns of {outputs} x {inputs}",
            self.architecture
        );
    }
}

/// Large shifts, small weights, and what the golden networks have otherwise.
fn shifted(name: &str, shape: Vec<usize>) -> TensorData {
    let drawn: Vec<f32> = draw(name, shape.clone()).try_to_vec().expect("f32");
    let value = |drawn: f32| match shape.len() {
        1 if name.ends_with("bias") => 1.0,
        1 => drawn,
        _ => 1e-3 * drawn,
    };
    TensorData::new(drawn.into_iter().map(value).collect::<Vec<f32>>(), shape)
}

fn before_the_second_convolution(name: &str) -> Option<Dropped> {
    Some(if name.ends_with(".conv1.weight") {
        Dropped::Outputs
    } else if name.ends_with(".conv2.weight") {
        Dropped::Inputs
    } else {
        Dropped::Nothing
    })
}

fn after_convolutions_1_and_2(name: &str) -> Option<Dropped> {
    after([".conv1.weight", ".conv2.weight"], name)
}

fn after_convolutions_2_and_3(name: &str) -> Option<Dropped> {
    after([".conv2.weight", ".conv3.weight"], name)
}

fn after(layers: [&str; 2], name: &str) -> Option<Dropped> {
    Some(match layers.iter().any(|layer| name.ends_with(layer)) {
        true => Dropped::Outputs,
        false => Dropped::Nothing,
    })
}

/// Only the last block of a DenseNet sees single pixels: its pictures cannot be smaller than 32 x 32.
fn after_the_second_of_the_last_block(name: &str) -> Option<Dropped> {
    let in_last_block = name.contains("denseblock4").then_some(name)?;
    after_convolutions_2_and_3(in_last_block)
}

/// What comes back to the layers before is too small for f32.
fn before_the_last_layer(name: &str) -> Option<Dropped> {
    ["classifier.1.weight", "_fc.weight"]
        .contains(&name)
        .then_some(Dropped::Inputs)
}

#[test]
fn dropout_acts_at_the_places_of_the_paper() {
    // So wide that no layer keeps or drops all of its channels.
    let width = 16;
    let cases: [(Architecture, usize, Expected); 7] = [
        (
            Architecture::WideResNet(WideResNetConfig {
                width,
                ..WideResNetConfig::new(10, 1, 5)
            }),
            1,
            before_the_second_convolution,
        ),
        (
            Architecture::CifarResNet(CifarResNetConfig {
                width,
                ..CifarResNetConfig::new(8, 5)
            }),
            1,
            before_the_second_convolution,
        ),
        (
            Architecture::ResNet(ResNetConfig {
                width,
                ..ResNetConfig::new(18, 5)
            }),
            1,
            after_convolutions_1_and_2,
        ),
        (
            Architecture::ResNet(ResNetConfig {
                width,
                ..ResNetConfig::new(50, 5)
            }),
            1,
            after_convolutions_2_and_3,
        ),
        (
            Architecture::DenseNet(DenseNetConfig {
                growth: width,
                ..DenseNetConfig::new(121, 5)
            }),
            32,
            after_the_second_of_the_last_block,
        ),
        (
            Architecture::MobileNetV2(MobileNetV2Config {
                width: 0.25,
                ..MobileNetV2Config::new(5)
            }),
            1,
            before_the_last_layer,
        ),
        (
            Architecture::EfficientNetLite(EfficientNetLiteConfig {
                width: 0.25,
                ..EfficientNetLiteConfig::new(5)
            }),
            1,
            before_the_last_layer,
        ),
    ];
    let device = Device::flex().autodiff();
    let pass = Pass::mean().with_mode(Mode::EvaluateWithDropout);
    for (architecture, side, expected) in cases {
        let dropping = architecture.with_dropout(0.5).expect("a probability");
        let network = made(&dropping, &device, shifted);
        let input = Tensor::<4>::from_data(draw("input", vec![1, 3, side, side]), &device);
        let logits = pass.run(|| network.forward(input)).expect("logits");
        let look = Look {
            architecture: dropping.clone(),
            gradients: logits.sum().backward(),
            expected,
            looked_at: 0,
        };
        let looked_at = visit(&dropping, &network, look).looked_at;
        assert!(looked_at > 0, "{dropping:?}");
    }
}

/// The features of networks with dropout before their last layer know nothing of it.
#[test]
fn dropout_before_the_last_layer_leaves_features_alone() {
    let device = Device::flex();
    let resting = Architecture::MobileNetV2(MobileNetV2Config {
        width: 0.25,
        ..MobileNetV2Config::new(5)
    });
    let dropping = resting.clone().with_dropout(0.5).expect("a probability");
    let network = made(&dropping, &device, draw);
    let input = Tensor::<4>::from_data(draw("input", vec![2, 3, 33, 48]), &device);
    let pass = Pass::mean().with_mode(Mode::EvaluateWithDropout);
    let features = pass.run(|| network.features(input.clone()));
    let network = made(&resting, &device, draw);
    let at_rest = Pass::mean().run(|| network.features(input));
    assert_eq!(
        values(features.expect("features")),
        values(at_rest.expect("features"))
    );
}
