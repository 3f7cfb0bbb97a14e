//! Ordinary checkpoints in the place of posterior files.

use crate::network::Opened;
use anyhow::Result;
use bayesadapter::{
    checkpoint::{Checkpoint, LoadOptions},
    file::{FileError, Header, PosteriorFile},
    models::Architecture,
    posterior::{IntoBayes, Point},
    session::Method,
};
use burn::tensor::Device;
use std::path::Path;

/// Whether a file is a posterior of this library, whole or not, rather than an ordinary checkpoint.
pub fn is_posterior(path: &Path) -> bool {
    !matches!(
        PosteriorFile::open(path),
        Err(FileError::Format(_) | FileError::NoPosterior)
    )
}

/// Opens an ordinary checkpoint for the network called `model`, with the classes of the data that it is evaluated on.
pub fn open_checkpoint(
    path: &Path,
    model: &str,
    class_names: &[String],
    device: &Device,
) -> Result<Opened> {
    let architecture: Architecture = model.parse()?;
    let architecture = architecture.with_classes(class_names.len());
    let checkpoint = Checkpoint::open(path)?;
    let (network, _) = architecture.load(&checkpoint, &LoadOptions::default(), device)?;
    let mut header = Header::of(architecture);
    header.class_names = class_names.to_vec();
    Ok(Opened {
        bayes: network.into_bayes(Point::train(1))?,
        header,
        method: Method::Map,
        device: device.clone(),
    })
}
