//! Accuracy of a checkpoint on test pictures: `cargo run --release --example accuracy -- MODEL WEIGHTS DATA
//! [--device cpu|gpu] [--normalisation imagenet|cifar10]`.
//!
//! The data may have any layout that `finetune` takes, and their test part is used, or all of them if they come in
//! one piece. Pixels are normalised as the library does for the model, unless another way is named: ports of a model
//! were trained with different ones. Prints the account of the weights, then accuracy, top-5 accuracy, NLL and
//! calibration error.

use bayesadapter::{
    checkpoint::{Checkpoint, LoadOptions},
    data::{BatchSettings, Batches, Preparation, Split},
    metrics::{ECE_BINS, Predictions, accuracy, ece, nll, top_k_accuracy},
    models::{Architecture, ModelConfig, Normalisation},
    pass::Pass,
    session::open_any,
};
use burn::tensor::{Device, activation::softmax};
use std::error::Error;

const BATCH: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut places, mut device, mut normalisation) = (Vec::new(), Device::flex(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--device" => device = device_called(arguments.next().as_deref())?,
            "--normalisation" => {
                normalisation = Some(normalisation_called(arguments.next().as_deref())?);
            }
            _ => places.push(argument),
        }
    }
    let [model, weights, data] = places.as_slice() else {
        return Err("give MODEL WEIGHTS DATA".into());
    };
    let architecture: Architecture = model.parse()?;
    let checkpoint = Checkpoint::open(weights)?;
    let (network, account) = architecture.load(&checkpoint, &LoadOptions::default(), &device)?;
    println!("{account}");

    let normalisation = normalisation.unwrap_or_else(|| architecture.normalisation());
    let preparation = Preparation::new(architecture.input_shape(), normalisation);
    let pictures = open_any(data, Split::Test)?;
    let batches = Batches::new(pictures, BatchSettings::new(BATCH, preparation))?;
    let (mut labels, mut probabilities) = (Vec::new(), Vec::<f32>::new());
    for batch in batches.epoch(0, 0) {
        let batch = batch?;
        let (images, _) = batch.to_tensors(&device);
        let logits = Pass::mean().run(|| network.forward(images))?;
        probabilities.extend(softmax(logits, 1).into_data().try_into_vec::<f32>()?);
        labels.extend(batch.labels);
    }
    let classes = probabilities.len() / labels.len();
    let predictions = Predictions::new(&probabilities, classes, &labels)?;
    println!("{} pictures", labels.len());
    println!("accuracy {:.4}", accuracy(&predictions));
    println!("top-5 accuracy {:.4}", top_k_accuracy(&predictions, 5)?);
    println!("NLL {:.4}", nll(&predictions));
    println!("ECE {:.4}", ece(&predictions, ECE_BINS)?);
    Ok(())
}

fn device_called(name: Option<&str>) -> Result<Device, Box<dyn Error>> {
    match name {
        Some("cpu") => Ok(Device::flex()),
        Some("gpu") => Ok(Device::wgpu_options().init()?),
        other => Err(format!("--device is cpu or gpu, not {other:?}").into()),
    }
}

fn normalisation_called(name: Option<&str>) -> Result<Normalisation, Box<dyn Error>> {
    match name {
        Some("imagenet") => Ok(Normalisation::imagenet()),
        Some("cifar10") => Ok(Normalisation::cifar10()),
        other => Err(format!("--normalisation is imagenet or cifar10, not {other:?}").into()),
    }
}
