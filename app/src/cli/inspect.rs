//! `bayesadapter inspect`: what a file holds.

use super::{BadInput, Voice, kernels};
use crate::network;
use anyhow::Result;
use bayesadapter::{checkpoint::Checkpoint, evaluate::KernelPosterior};
use burn::tensor::{Device, read_sync};
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

#[derive(Args)]
pub struct Flags {
    /// A posterior file, or a checkpoint of PyTorch, safetensors or Burn.
    file: PathBuf,
    /// Write the kernels of a posterior's convolution, mean and standard deviation, as a picture [default: none].
    #[arg(long, value_name = "PNG")]
    kernels: Option<PathBuf>,
    /// Path of that convolution [default: the first].
    #[arg(long, value_name = "PATH", requires = "kernels")]
    layer: Option<String>,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let bytes = std::fs::read(&flags.file)
        .map_err(|error| BadInput(format!("{} cannot be read: {error}", flags.file.display())))?;
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
    if flags.kernels.is_some() {
        return Err(BadInput(format!(
            "{} is a checkpoint; --kernels draws those of a posterior file, as `finetune` and `pretrain` leave it",
            flags.file.display()
        ))
        .into());
    }
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
    let file = flags.file.display();
    voice.say(format_args!("{file}: {}", opened.about()));
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
        let kernels =
            kernels.ok_or_else(|| BadInput("the network has no convolution".to_owned()))?;
        kernels::save_kernels(&kernels, out)?;
        voice.say(format_args!(
            "Kernels of {}: {}",
            kernels.path,
            out.display()
        ));
        voice.json(&serde_json::json!({ "event": "kernels", "layer": kernels.path, "file": out }));
    }
    Ok(ExitCode::SUCCESS)
}
