//! One name, one description and one type for all networks.

use super::cifar_resnet::CifarResNetConfig;
use super::config::{ModelConfig, Normalisation};
use super::densenet::DenseNetConfig;
use super::digits_cnn::DigitsCnnConfig;
use super::efficientnet_lite::EfficientNetLiteConfig;
use super::error::{LoadError, ModelError};
use super::mlp::MlpConfig;
use super::mobile_face_net::MobileFaceNetConfig;
use super::mobilenet_v2::MobileNetV2Config;
use super::naming::without_variant;
use super::network::Network;
use super::resnet::ResNetConfig;
use super::wide_resnet::WideResNetConfig;
use crate::checkpoint::{Checkpoint, LoadAccount, LoadOptions, Rename, load_into};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What [`Architecture::from_str`] understands. `<n>` stands for a number.
pub const KNOWN_NAMES: &[&str] = &[
    "resnet<6n+2>-cifar (20, 32, 44, 56, 110)",
    "wrn-<6n+4>-<widen> (wrn-28-10)",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "densenet121",
    "densenet169",
    "densenet201",
    "mobilenet_v2",
    "efficientnet_lite0",
    "mobilefacenet",
    "digits-cnn",
    "mlp",
];

const CIFAR_CLASSES: usize = 10;
const IMAGENET_CLASSES: usize = 1000;
const DIGITS_CLASSES: usize = 10;

/// A description of any network of the library: what files, flags and settings hold.
///
/// ```
/// use bayesadapter::models::{Architecture, CifarResNetConfig, ModelConfig};
///
/// let architecture: Architecture = "resnet20-cifar".parse()?;
/// assert_eq!(architecture, Architecture::CifarResNet(CifarResNetConfig::new(20, 10)));
/// assert_eq!(architecture.input_shape(), [3, 32, 32]);
/// let network = architecture.with_classes(100).init(&burn::tensor::Device::flex())?;
/// # Ok::<(), bayesadapter::models::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "family")]
pub enum Architecture {
    /// Residual networks for CIFAR.
    #[serde(rename = "cifar-resnet")]
    CifarResNet(CifarResNetConfig),
    /// Wide residual networks for CIFAR.
    #[serde(rename = "wide-resnet")]
    WideResNet(WideResNetConfig),
    /// Residual networks for ImageNet.
    #[serde(rename = "resnet")]
    ResNet(ResNetConfig),
    /// Densely connected networks for ImageNet.
    #[serde(rename = "densenet")]
    DenseNet(DenseNetConfig),
    /// MobileNetV2 for ImageNet.
    #[serde(rename = "mobilenet-v2")]
    MobileNetV2(MobileNetV2Config),
    /// EfficientNet-lite0 for ImageNet.
    #[serde(rename = "efficientnet-lite")]
    EfficientNetLite(EfficientNetLiteConfig),
    /// MobileFaceNet for aligned faces.
    #[serde(rename = "mobilefacenet")]
    MobileFaceNet(MobileFaceNetConfig),
    /// A small network for digits of 8 x 8.
    #[serde(rename = "digits-cnn")]
    DigitsCnn(DigitsCnnConfig),
    /// A multi-layer perceptron.
    #[serde(rename = "mlp")]
    Mlp(MlpConfig),
}

impl Architecture {
    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<Network, ModelError> {
        Ok(match self {
            Self::CifarResNet(config) => Network::CifarResNet(config.init(device)?),
            Self::WideResNet(config) => Network::WideResNet(config.init(device)?),
            Self::ResNet(config) => Network::ResNet(config.init(device)?),
            Self::DenseNet(config) => Network::DenseNet(config.init(device)?),
            Self::MobileNetV2(config) => Network::MobileNetV2(config.init(device)?),
            Self::EfficientNetLite(config) => Network::EfficientNetLite(config.init(device)?),
            Self::MobileFaceNet(config) => Network::MobileFaceNet(config.init(device)?),
            Self::DigitsCnn(config) => Network::DigitsCnn(config.init(device)?),
            Self::Mlp(config) => Network::Mlp(config.init(device)?),
        })
    }

    /// The same with another number of classes; a MobileFaceNet gets a classifier.
    pub fn with_classes(mut self, classes: usize) -> Self {
        match &mut self {
            Self::CifarResNet(config) => config.classes = classes,
            Self::WideResNet(config) => config.classes = classes,
            Self::ResNet(config) => config.classes = classes,
            Self::DenseNet(config) => config.classes = classes,
            Self::MobileNetV2(config) => config.classes = classes,
            Self::EfficientNetLite(config) => config.classes = classes,
            Self::MobileFaceNet(config) => config.classes = Some(classes),
            Self::DigitsCnn(config) => config.classes = classes,
            Self::Mlp(config) => config.classes = classes,
        }
        self
    }

    /// The same with dropout of a probability at the family's places.
    pub fn with_dropout(mut self, probability: f64) -> Result<Self, ModelError> {
        let family = self.family();
        let place = match &mut self {
            Self::CifarResNet(config) => &mut config.dropout,
            Self::WideResNet(config) => &mut config.dropout,
            Self::ResNet(config) => &mut config.dropout,
            Self::DenseNet(config) => &mut config.dropout,
            Self::MobileNetV2(config) => &mut config.dropout,
            Self::EfficientNetLite(config) => &mut config.dropout,
            Self::MobileFaceNet(_) => return Err(ModelError::NoDropout { family }),
            Self::DigitsCnn(config) => &mut config.dropout,
            Self::Mlp(config) => &mut config.dropout,
        };
        *place = Some(probability);
        self.validate()?;
        Ok(self)
    }

    /// The network with the weights of a checkpoint in PyTorch's or Burn's names, and an account of them.
    /// A name given in the options goes before the architecture's own.
    ///
    /// # Errors
    ///
    /// A description that makes no network, and weights that do not fit it.
    pub fn load(
        &self,
        checkpoint: &Checkpoint,
        options: &LoadOptions,
        device: &Device,
    ) -> Result<(Network, LoadAccount), LoadError> {
        let mut options = options.clone();
        options.rename.get_or_insert_with(|| {
            let architecture = self.clone();
            Rename::by(move |path| architecture.state_dict_name(path))
        });
        let network = self.init(device)?;
        Ok(load_into(network, checkpoint, &options)?)
    }

    fn config(&self) -> &dyn ModelConfig {
        match self {
            Self::CifarResNet(config) => config,
            Self::WideResNet(config) => config,
            Self::ResNet(config) => config,
            Self::DenseNet(config) => config,
            Self::MobileNetV2(config) => config,
            Self::EfficientNetLite(config) => config,
            Self::MobileFaceNet(config) => config,
            Self::DigitsCnn(config) => config,
            Self::Mlp(config) => config,
        }
    }
}

impl ModelConfig for Architecture {
    fn family(&self) -> &'static str {
        self.config().family()
    }

    fn name(&self) -> String {
        self.config().name()
    }

    fn input_shape(&self) -> [usize; 3] {
        self.config().input_shape()
    }

    fn normalisation(&self) -> Normalisation {
        self.config().normalisation()
    }

    fn classes(&self) -> Option<usize> {
        self.config().classes()
    }

    fn scalars(&self) -> u64 {
        self.config().scalars()
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.config().validate()
    }

    /// Of a path in the [`Network`], or in the model inside it.
    fn state_dict_name(&self, path: &str) -> String {
        self.config().state_dict_name(without_variant(path))
    }
}

impl FromStr for Architecture {
    type Err = ModelError;

    /// The network that a name of [`KNOWN_NAMES`] stands for: published widths, the classes of the
    /// data it was made for, no dropout.
    fn from_str(name: &str) -> Result<Self, ModelError> {
        let fixed = match name {
            "mobilenet_v2" => Self::MobileNetV2(MobileNetV2Config::new(IMAGENET_CLASSES)),
            "efficientnet_lite0" => {
                Self::EfficientNetLite(EfficientNetLiteConfig::new(IMAGENET_CLASSES))
            }
            "mobilefacenet" => Self::MobileFaceNet(MobileFaceNetConfig::new(None)),
            "digits-cnn" => Self::DigitsCnn(DigitsCnnConfig::new(DIGITS_CLASSES)),
            "mlp" => Self::Mlp(MlpConfig::new([1, 8, 8], vec![64, 64], DIGITS_CLASSES)),
            _ => {
                let numbered = numbered(name).ok_or_else(|| ModelError::UnknownName {
                    name: name.to_owned(),
                })?;
                numbered.validate()?;
                numbered
            }
        };
        Ok(fixed)
    }
}

/// Names with numbers in them. The numbers are still to be checked.
fn numbered(name: &str) -> Option<Architecture> {
    if let Some(rest) = name.strip_prefix("wrn-") {
        let (depth, widen) = rest.split_once('-')?;
        let (depth, widen) = (depth.parse().ok()?, widen.parse().ok()?);
        let config = WideResNetConfig::new(depth, widen, CIFAR_CLASSES);
        return Some(Architecture::WideResNet(config));
    }
    if let Some(depth) = name.strip_prefix("densenet") {
        let config = DenseNetConfig::new(depth.parse().ok()?, IMAGENET_CLASSES);
        return Some(Architecture::DenseNet(config));
    }
    let depth = name.strip_prefix("resnet")?;
    if let Some(depth) = depth.strip_suffix("-cifar") {
        let config = CifarResNetConfig::new(depth.parse().ok()?, CIFAR_CLASSES);
        return Some(Architecture::CifarResNet(config));
    }
    let config = ResNetConfig::new(depth.parse().ok()?, IMAGENET_CLASSES);
    Some(Architecture::ResNet(config))
}
