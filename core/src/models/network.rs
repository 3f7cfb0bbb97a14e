//! A network of any family, as one type.

use super::cifar_resnet::CifarResNet;
use super::densenet::DenseNet;
use super::digits_cnn::DigitsCnn;
use super::efficientnet_lite::EfficientNetLite;
use super::mlp::Mlp;
use super::mobile_face_net::MobileFaceNet;
use super::mobilenet_v2::MobileNetV2;
use super::resnet::ResNet;
use super::wide_resnet::WideResNet;
use crate::predict::Classifier;
use burn::module::Module;
use burn::tensor::Tensor;

/// What an [`Architecture`](super::Architecture) builds.
///
/// Burn puts the variant's name before the paths of its parameters (`CifarResNet.conv1.weight`);
/// [`state_dict_name`](super::ModelConfig::state_dict_name) leaves it out.
#[derive(Module, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a program holds few networks, and Burn implements no module for a box"
)]
pub enum Network {
    /// Residual networks for CIFAR.
    CifarResNet(CifarResNet),
    /// Wide residual networks for CIFAR.
    WideResNet(WideResNet),
    /// Residual networks for ImageNet.
    ResNet(ResNet),
    /// Densely connected networks for ImageNet.
    DenseNet(DenseNet),
    /// MobileNetV2 for ImageNet.
    MobileNetV2(MobileNetV2),
    /// EfficientNet-lite0 for ImageNet.
    EfficientNetLite(EfficientNetLite),
    /// MobileFaceNet for aligned faces.
    MobileFaceNet(MobileFaceNet),
    /// A small network for digits of 8 x 8.
    DigitsCnn(DigitsCnn),
    /// A multi-layer perceptron.
    Mlp(Mlp),
}

impl Network {
    /// Logits `[batch, classes]` of images `[batch, channels, height, width]`; embeddings, if it is a
    /// MobileFaceNet without a classifier.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        match self {
            Self::CifarResNet(model) => model.classify(features),
            Self::WideResNet(model) => model.classify(features),
            Self::ResNet(model) => model.classify(features),
            Self::DenseNet(model) => model.classify(features),
            Self::MobileNetV2(model) => model.classify(features),
            Self::EfficientNetLite(model) => model.classify(features),
            Self::MobileFaceNet(model) => model.classify(features),
            Self::DigitsCnn(model) => model.classify(features),
            Self::Mlp(model) => model.classify(features),
        }
    }

    /// What the classifier sees, `[batch, features]`, of images `[batch, channels, height, width]`.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        match self {
            Self::CifarResNet(model) => model.features(images),
            Self::WideResNet(model) => model.features(images),
            Self::ResNet(model) => model.features(images),
            Self::DenseNet(model) => model.features(images),
            Self::MobileNetV2(model) => model.features(images),
            Self::EfficientNetLite(model) => model.features(images),
            Self::MobileFaceNet(model) => model.features(images),
            Self::DigitsCnn(model) => model.features(images),
            Self::Mlp(model) => model.features(images),
        }
    }
}

impl Classifier<4> for Network {
    fn logits(&self, images: Tensor<4>) -> Tensor<2> {
        self.forward(images)
    }

    fn features_and_logits(&self, images: Tensor<4>) -> (Option<Tensor<2>>, Tensor<2>) {
        let features = self.features(images);
        (Some(features.clone()), self.classify(features))
    }

    fn has_classifier(&self) -> bool {
        match self {
            Self::MobileFaceNet(model) => model.has_classifier(),
            _ => true,
        }
    }
}
