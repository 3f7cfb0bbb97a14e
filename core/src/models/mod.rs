//! Networks to start from: ordinary Burn models with the parameter names of their PyTorch sources.
//!
//! Nothing in here knows of posteriors. A model uses the layers of [`crate::nn`] and is converted as
//! any other; a user's own model needs nothing from this module.
//!
//! [`Architecture`] describes any of them, in files and on the command line, and builds a [`Network`].
//! Each config builds its own type too. Dropout stands where the paper has it for MC dropout, or else
//! where the family's own source has it, and is off unless asked for.

mod architecture;
mod cifar_resnet;
mod config;
mod densenet;
mod digits_cnn;
mod efficientnet_lite;
mod error;
mod inverted_residual;
mod mlp;
mod mobile_face_net;
mod mobilenet_v2;
mod naming;
mod network;
mod parts;
mod resnet;
mod size;
mod wide_resnet;

pub use architecture::{Architecture, KNOWN_NAMES};
pub use cifar_resnet::{CifarResNet, CifarResNetConfig};
pub use config::{ModelConfig, Normalisation};
pub use densenet::{DenseNet, DenseNetConfig};
pub use digits_cnn::{DigitsCnn, DigitsCnnConfig};
pub use efficientnet_lite::{EfficientNetLite, EfficientNetLiteConfig};
pub use error::{LoadError, ModelError};
pub use mlp::{Mlp, MlpConfig};
pub use mobile_face_net::{MobileFaceNet, MobileFaceNetConfig};
pub use mobilenet_v2::{MobileNetV2, MobileNetV2Config};
pub use network::Network;
pub use resnet::{ResNet, ResNetConfig};
pub use wide_resnet::{WideResNet, WideResNetConfig};
