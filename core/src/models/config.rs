//! What every description of a network can tell.

use super::error::ModelError;
use serde::{Deserialize, Serialize};

/// A description of a network that a program can ask about before it builds anything.
pub trait ModelConfig {
    /// The family, as errors call it.
    fn family(&self) -> &'static str;

    /// The name on the command line. It leaves out widths and dropout.
    fn name(&self) -> String;

    /// Channels, height and width of the pictures the network was made for.
    fn input_shape(&self) -> [usize; 3];

    /// What the published weights expect of pixels, or a fair choice where there are none.
    fn normalisation(&self) -> Normalisation;

    /// Outputs of the classifier; `None` for a network without one.
    fn classes(&self) -> Option<usize>;

    /// Parameters and running statistics of the network, which must be [valid](Self::validate), counted without
    /// building it.
    fn scalars(&self) -> u64;

    /// Whether such a network can be built.
    fn validate(&self) -> Result<(), ModelError>;

    /// The state-dict name of the parameter at a path of the network.
    ///
    /// The scale and shift of a norm layer keep Burn's names, `gamma` and `beta`: whoever reads the
    /// file knows the layer and calls them `weight` and `bias`.
    fn state_dict_name(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// Makes network inputs of pixels: `(pixel / 255 - mean) / std`, channel by channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normalisation {
    /// One per channel, of pixels in `0..=1`.
    pub mean: Vec<f32>,
    /// One per channel, of pixels in `0..=1`.
    pub std: Vec<f32>,
}

impl Normalisation {
    /// Of ImageNet, in RGB order: what torchvision's weights expect, and many others too.
    pub fn imagenet() -> Self {
        Self {
            mean: vec![0.485, 0.456, 0.406],
            std: vec![0.229, 0.224, 0.225],
        }
    }

    /// Of CIFAR-10's training set, in RGB order.
    pub fn cifar10() -> Self {
        Self {
            mean: vec![0.4914, 0.48216, 0.44553],
            std: vec![0.24703, 0.24349, 0.26159],
        }
    }

    /// Of the 1,797 handwritten digits of 8 x 8 pixels, the same for every channel.
    pub fn digits(channels: usize) -> Self {
        Self::uniform(channels, 0.3053, 0.3760)
    }

    /// The same in each of several channels.
    pub fn uniform(channels: usize, mean: f32, std: f32) -> Self {
        Self {
            mean: vec![mean; channels],
            std: vec![std; channels],
        }
    }
}
