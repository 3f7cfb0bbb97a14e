//! Why an attack failed.

use crate::pass::PassError;

/// Why there are no adversarial images. The network is as it was before.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AttackError {
    /// A setting makes no sense.
    #[error("{what} is {value}, but must be {need}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        need: &'static str,
    },
    /// No images.
    #[error("the batch has no images")]
    NoImages,
    /// Not one label for each image.
    #[error("there are {labels} labels for {images} images; give one class for each")]
    Labels {
        /// Number of images.
        images: usize,
        /// Number of labels.
        labels: usize,
    },
    /// A label that is no class of the network.
    #[error("label {label} is no class of a network with {classes} classes, 0..{classes}")]
    Class {
        /// The label.
        label: u32,
        /// Classes of the network.
        classes: usize,
    },
    /// The normalisation has not one mean and standard deviation for each channel.
    #[error(
        "images of {channels} channels do not fit a normalisation with {means} means and {stds} standard deviations; use \
         the one that the images were prepared with"
    )]
    Channels {
        /// Channels of the images.
        channels: usize,
        /// Means of the normalisation.
        means: usize,
        /// Standard deviations of the normalisation.
        stds: usize,
    },
    /// The network embeds its input and has no classes.
    #[error(
        "the network has no classifier, so that there is no likelihood to attack; give it a classifier"
    )]
    NoClassifier,
    /// The logits are not what a classifier returns.
    #[error("the network returned logits of shape {found:?} for {rows} rows")]
    Logits {
        /// Rows that went in.
        rows: usize,
        /// What came out.
        found: Vec<usize>,
    },
    /// The logits are not connected with the images on the autodiff tape.
    #[error(
        "the network has no gradient in its input: its forward pass detaches it, or leaves autodiff; use differentiable \
         operations from the images to the logits"
    )]
    NoGradient,
    /// A forward or backward pass failed.
    #[error(transparent)]
    Pass(#[from] PassError),
}
