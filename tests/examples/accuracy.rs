//! Accuracy of a checkpoint on a file of pictures: `cargo run --release --example accuracy -- MODEL WEIGHTS
//! PICTURES [LABEL_BYTES]`.
//!
//! The pictures are records of a label (one byte, or as many as said, the first being the lowest) and of the
//! pixels, channel by channel, row by row, a byte each: what the official CIFAR-10 binary files hold. Prints
//! the account of the weights, then accuracy, top-5 accuracy, NLL and calibration error.

use bayesadapter::{
    checkpoint::{Checkpoint, LoadOptions},
    metrics::{ECE_BINS, Predictions, accuracy, ece, nll, top_k_accuracy},
    models::{Architecture, ModelConfig, Network},
    pass::Pass,
};
use burn::tensor::{Device, Tensor, TensorData, activation::softmax};
use std::error::Error;

const BATCH: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (model, weights, pictures, label_bytes) = match arguments.as_slice() {
        [model, weights, pictures] => (model, weights, pictures, 1),
        [model, weights, pictures, bytes] => (model, weights, pictures, bytes.parse()?),
        _ => return Err("give MODEL WEIGHTS PICTURES [LABEL_BYTES]".into()),
    };
    let architecture: Architecture = model.parse()?;
    let checkpoint = Checkpoint::open(weights)?;
    let options = LoadOptions::default();
    let (network, account) = architecture.load(&checkpoint, &options, &Device::flex())?;
    println!("{account}");
    let bytes = std::fs::read(pictures).map_err(|error| format!("{pictures}: {error}"))?;
    let [channels, height, width] = architecture.input_shape();
    let record = label_bytes + channels * height * width;
    if bytes.is_empty() || !bytes.len().is_multiple_of(record) {
        return Err(format!("{pictures} does not hold records of {record} bytes").into());
    }
    let mut labels = Vec::new();
    let mut probabilities = Vec::new();
    for batch in bytes.chunks(BATCH * record) {
        labels.extend(
            batch
                .chunks(record)
                .map(|record| label(&record[..label_bytes])),
        );
        let pixels = batch
            .chunks(record)
            .flat_map(|record| &record[label_bytes..]);
        let pixels: Vec<u8> = pixels.copied().collect();
        probabilities.extend(classify(&network, &architecture, &pixels)?);
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

fn label(bytes: &[u8]) -> u32 {
    let value = |all: u32, &byte: &u8| all << 8 | u32::from(byte);
    bytes.iter().rev().fold(0, value)
}

fn classify(
    network: &Network,
    architecture: &Architecture,
    pixels: &[u8],
) -> Result<Vec<f32>, Box<dyn Error>> {
    let [channels, height, width] = architecture.input_shape();
    let normalisation = architecture.normalisation();
    let area = height * width;
    let normalised = pixels.iter().enumerate().map(|(at, &pixel)| {
        let channel = at / area % channels;
        (f32::from(pixel) / 255.0 - normalisation.mean[channel]) / normalisation.std[channel]
    });
    let values: Vec<f32> = normalised.collect();
    let examples = values.len() / (channels * area);
    let data = TensorData::new(values, [examples, channels, height, width]);
    let x = Tensor::from_data(data, &Device::flex());
    let logits = Pass::mean().run(|| network.forward(x))?;
    Ok(softmax(logits, 1).into_data().try_into_vec()?)
}
