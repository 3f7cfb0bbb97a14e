//! Verification of faces with a MobileFaceNet: `cargo run --release --example verification -- WEIGHTS FOLDER`.
//!
//! The folder holds `pairs.txt` of Labeled Faces in the Wild and the aligned pictures
//! (`images/NAME/NAME_0001.jpg`, 96 wide and 112 high). Prints the account of the weights, then the accuracy
//! of each fold by the threshold that is best on the others, and their mean.

use bayesadapter::{
    checkpoint::{Checkpoint, LoadOptions},
    data::{BatchSettings, Batches, FacePairs, Preparation},
    models::{Architecture, ModelConfig},
    pass::Pass,
};
use burn::tensor::Device;
use std::{error::Error, path::Path};

const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [weights, folder] = arguments.as_slice() else {
        return Err("give WEIGHTS FOLDER".into());
    };
    let device = Device::flex();
    let architecture: Architecture = "mobilefacenet".parse()?;
    let checkpoint = Checkpoint::open(weights)?;
    let (network, account) = architecture.load(&checkpoint, &LoadOptions::default(), &device)?;
    println!("{account}");

    let folder = Path::new(folder);
    let faces = FacePairs::open(folder.join("images"), folder.join("pairs.txt"))?;
    let pictures = faces.pictures();
    println!(
        "{} pairs of {} pictures",
        faces.pairs().len(),
        pictures.len()
    );
    let preparation = Preparation::new(architecture.input_shape(), architecture.normalisation());
    let mut features: Vec<f32> = Vec::new();
    for batch in Batches::new(pictures, BatchSettings::new(BATCH, preparation))?.epoch(0, 0) {
        let (images, _) = batch?.to_tensors(&device);
        let found = Pass::mean().run(|| network.features(images))?;
        features.extend(found.into_data().try_into_vec::<f32>()?);
    }
    let verification = faces.verify(&features)?;
    for (number, fold) in verification.folds.iter().enumerate() {
        println!("fold {}: {:.4}", number + 1, fold.accuracy);
    }
    println!(
        "accuracy {:.4}, standard error {:.4}",
        verification.mean_accuracy, verification.standard_error
    );
    Ok(())
}
