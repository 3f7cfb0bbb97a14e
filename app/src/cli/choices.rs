//! Flags with a few values to choose from.

use bayesadapter::{data::Augmentation, pass::Estimator, posterior::PriorMean, session::Method};
use clap::ValueEnum;

/// A step of augmentation.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Augment {
    /// Nothing.
    None,
    /// Shift by up to an eighth of the side.
    Crop,
    /// Mirror left and right.
    Flip,
    /// Hide a square of half the side.
    Cutout,
    /// Random part of a photograph, as for ImageNet.
    ResizedCrop,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PosteriorFlag {
    /// None: deterministic fine-tuning.
    Map,
    /// Mean-field Gaussian.
    Mfg,
    /// Parameter-sharing ensemble.
    Pse,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PriorFlag {
    /// Zero.
    Zero,
    /// The pre-trained weights (MOPED).
    Pretrained,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum EstimatorFlag {
    /// One weight per mini-batch.
    Vanilla,
    /// One weight per picture.
    Exemplar,
    /// The pre-activation is drawn; MFG only.
    Local,
    /// One perturbation with random signs per picture; MFG only.
    Flipout,
}

impl From<PosteriorFlag> for Method {
    fn from(flag: PosteriorFlag) -> Self {
        match flag {
            PosteriorFlag::Map => Self::Map,
            PosteriorFlag::Mfg => Self::Mfg,
            PosteriorFlag::Pse => Self::Pse,
        }
    }
}

impl From<PriorFlag> for PriorMean {
    fn from(flag: PriorFlag) -> Self {
        match flag {
            PriorFlag::Zero => Self::Zero,
            PriorFlag::Pretrained => Self::Pretrained,
        }
    }
}

impl From<EstimatorFlag> for Estimator {
    fn from(flag: EstimatorFlag) -> Self {
        match flag {
            EstimatorFlag::Vanilla => Self::Vanilla,
            EstimatorFlag::Exemplar => Self::Exemplar,
            EstimatorFlag::Local => Self::Local,
            EstimatorFlag::Flipout => Self::Flipout,
        }
    }
}

/// Sizes of the paper's settings for 32 x 32, in proportion to what the network sees.
pub fn augmentation(steps: &[Augment], side: usize) -> Augmentation {
    let has = |step| steps.contains(&step);
    Augmentation {
        crop_padding: if has(Augment::Crop) { side / 8 } else { 0 },
        flip: has(Augment::Flip),
        cutout: if has(Augment::Cutout) { side / 2 } else { 0 },
        resized_crop: has(Augment::ResizedCrop)
            .then(Augmentation::imagenet)
            .and_then(|imagenet| imagenet.resized_crop),
    }
}
