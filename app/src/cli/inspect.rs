//! `bayesadapter inspect`: what a file holds.

use super::Voice;
use crate::network;
use anyhow::{Context, Result};
use bayesadapter::{checkpoint::Checkpoint, evaluate::KernelPosterior, models::ModelConfig};
use burn::tensor::{Device, read_sync};
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

#[derive(Args)]
pub struct Flags {
    /// A posterior file, or a checkpoint of PyTorch, safetensors or Burn.
    file: PathBuf,
    /// Write the kernels of a convolution, mean and standard deviation, as a picture.
    #[arg(long, value_name = "PNG")]
    kernels: Option<PathBuf>,
    /// Path of that convolution [default: the first].
    #[arg(long, value_name = "PATH", requires = "kernels")]
    layer: Option<String>,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let bytes = std::fs::read(&flags.file)
        .with_context(|| format!("{} cannot be read", flags.file.display()))?;
    let is_posterior = safetensors_key(&bytes, "bayesadapter");
    drop(bytes);
    match is_posterior {
        true => posterior(flags, voice),
        false => checkpoint(flags, voice),
    }
}

/// Whether the header of a safetensors file mentions a key: a look that never fails.
fn safetensors_key(bytes: &[u8], key: &str) -> bool {
    let length: Option<[u8; 8]> = bytes.get(..8).and_then(|head| head.try_into().ok());
    let length = length.map_or(0, u64::from_le_bytes) as usize;
    let header = bytes.get(8..length.saturating_add(8)).unwrap_or_default();
    let needle = format!("\"{key}\":");
    header
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}

fn checkpoint(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let checkpoint = Checkpoint::open(&flags.file)?;
    let elements: usize = checkpoint.iter().map(|(_, tensor)| tensor.elements()).sum();
    voice.say(format_args!(
        "{}: {} checkpoint, {} tensors, {elements} numbers",
        flags.file.display(),
        checkpoint.format(),
        checkpoint.len()
    ));
    for (name, tensor) in checkpoint.iter() {
        voice.say(format_args!(
            "  {name:48} {:?} {}",
            tensor.shape(),
            tensor.dtype()
        ));
        voice.json(&serde_json::json!({ "name": name, "shape": tensor.shape(), "dtype": tensor.dtype().to_string() }));
    }
    Ok(ExitCode::SUCCESS)
}

fn posterior(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let opened = network::open(&flags.file, &Device::flex())?;
    let (account, prior) = (opened.bayes.account(), opened.bayes.posterior().prior());
    let name = opened.header.architecture.as_ref().map(ModelConfig::name);
    voice.say(format_args!(
        "{}: {} posterior of {}, {} parameters for {} weights, prior lambda {} for {} examples",
        flags.file.display(),
        opened.method,
        name.as_deref().unwrap_or("a network of its own"),
        account.parameters_after,
        account.parameters_before,
        prior.lambda,
        prior.examples
    ));
    if !opened.header.class_names.is_empty() {
        voice.say(format_args!(
            "Classes: {}",
            opened.header.class_names.join(", ")
        ));
    }
    voice.say(format_args!(
        "  {:44} {:20} {:>9} {:>9} {:>9}",
        "parameter", "shape", "mean", "std", "spread"
    ));
    let inventory = opened.bayes.inventory();
    for line in read_sync(inventory.summaries())? {
        voice.json(&line);
        let shape = format!("{:?}", line.shape);
        let spread = line
            .spread
            .map_or("-".to_owned(), |spread| format!("{spread:.2e}"));
        voice.say(format_args!(
            "  {:44} {shape:20} {:>9.4} {:>9.4} {spread:>9}",
            line.path, line.mean, line.std
        ));
    }
    if let Some(out) = &flags.kernels {
        let kernels = match &flags.layer {
            Some(path) => Some(read_sync(KernelPosterior::of_path(&inventory, path))?),
            None => read_sync(KernelPosterior::of_first_convolution(&inventory))?,
        };
        let kernels = kernels.context("the network has no convolution")?;
        crate::picture::save_kernels(&kernels, out)?;
        voice.say(format_args!(
            "Kernels of {}: {}",
            kernels.path,
            out.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
