//! `bayesadapter export`: ordinary weights out of a posterior.

use super::{BadInput, Voice};
use crate::network;
use anyhow::Result;
use bayesadapter::{
    checkpoint::{Rename, to_safetensors},
    file::write_atomically,
    models::ModelConfig,
};
use burn::tensor::{Device, read_sync};
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

#[derive(Args)]
pub struct Flags {
    /// The posterior file.
    posterior: PathBuf,
    /// Draw of this number [default: the mean network].
    #[arg(long, value_name = "K")]
    draw: Option<u32>,
    /// Where the weights go, as safetensors with PyTorch's names.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let opened = network::open(&flags.posterior, &Device::flex())?;
    let architecture = opened.header.architecture.clone();
    let architecture = architecture.ok_or_else(|| {
        let text = "the file does not name its network, so its weights have no names of PyTorch";
        BadInput(text.to_owned())
    })?;
    let plain = match flags.draw {
        Some(draw) => opened.bayes.draw(draw)?,
        None => opened.bayes.at_mean()?,
    };
    let rename = Rename::by(move |path| architecture.state_dict_name(path));
    let bytes = read_sync(to_safetensors(&plain, Some(&rename)))?;
    write_atomically(&flags.out, &bytes)?;
    let what = match flags.draw {
        Some(draw) => format!("draw {draw}"),
        None => "the mean network".to_owned(),
    };
    voice.say(format_args!(
        "{what} of {} is in {}",
        flags.posterior.display(),
        flags.out.display()
    ));
    voice.json(&serde_json::json!({ "event": "exported", "draw": flags.draw, "file": flags.out }));
    Ok(ExitCode::SUCCESS)
}
