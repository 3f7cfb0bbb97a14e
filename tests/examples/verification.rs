//! Verification of faces with a MobileFaceNet: `cargo run --release --example verification -- WEIGHTS FOLDER`.
//!
//! The folder holds `pairs.txt` of Labeled Faces in the Wild and the aligned pictures
//! (`images/NAME/NAME_0001.jpg`, 96 wide and 112 high). Prints the account of the weights, then the accuracy
//! of each fold by the threshold that is best on the others, and their mean. Pairs are compared by the cosine
//! of their embeddings, from which the mean embedding is subtracted.

use bayesadapter::{
    checkpoint::{Checkpoint, LoadOptions},
    metrics::verification_accuracy,
    models::{Architecture, ModelConfig, Network},
    pass::Pass,
};
use burn::tensor::{Device, Tensor, TensorData};
use std::{collections::BTreeMap, error::Error, path::Path};

const BATCH: usize = 64;

/// Two pictures, by name.
struct Pair {
    pictures: [String; 2],
    same_person: bool,
    fold: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [weights, folder] = arguments.as_slice() else {
        return Err("give WEIGHTS FOLDER".into());
    };
    let folder = Path::new(folder);
    let architecture: Architecture = "mobilefacenet".parse()?;
    let checkpoint = Checkpoint::open(weights)?;
    let options = LoadOptions::default();
    let (network, account) = architecture.load(&checkpoint, &options, &Device::flex())?;
    println!("{account}");

    let text = read(&folder.join("pairs.txt"))?;
    let pairs = pairs(&text).ok_or("pairs.txt is not the list of pairs of LFW")?;
    let names: Vec<&String> = pairs.iter().flat_map(|pair| &pair.pictures).collect();
    let mut embeddings: BTreeMap<&String, Vec<f32>> =
        names.iter().map(|name| (*name, Vec::new())).collect();
    println!("{} pairs of {} pictures", pairs.len(), embeddings.len());
    let pictures: Vec<&String> = embeddings.keys().copied().collect();
    for batch in pictures.chunks(BATCH) {
        let found = embed(&network, &architecture, &folder.join("images"), batch)?;
        let length = found.len() / batch.len();
        for (name, embedding) in batch.iter().zip(found.chunks(length)) {
            embeddings.insert(name, embedding.to_vec());
        }
    }
    centre(&mut embeddings);

    let similarities: Vec<f32> = (pairs.iter())
        .map(|pair| cosine(pair.pictures.each_ref().map(|name| &embeddings[name][..])))
        .collect();
    let same: Vec<bool> = pairs.iter().map(|pair| pair.same_person).collect();
    let folds: Vec<usize> = pairs.iter().map(|pair| pair.fold).collect();
    let verification = verification_accuracy(&similarities, &same, &folds)?;
    for (number, fold) in verification.folds.iter().enumerate() {
        println!("fold {}: {:.4}", number + 1, fold.accuracy);
    }
    println!(
        "accuracy {:.4}, standard error {:.4}",
        verification.mean_accuracy, verification.standard_error
    );
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// After a line with the number of folds and of pairs: for each fold so many pairs of one person (name and
/// two numbers), then as many of two (name and number, twice).
fn pairs(text: &str) -> Option<Vec<Pair>> {
    let mut lines = text.lines().map(|line| line.split_whitespace());
    let mut sizes = lines.next()?.map(str::parse::<usize>);
    let (folds, count) = (sizes.next()?.ok()?, sizes.next()?.ok()?);
    let mut pairs = Vec::new();
    for fold in 0..folds {
        for at in 0..2 * count {
            let words: Vec<&str> = lines.next()?.collect();
            let people = match (words.as_slice(), at < count) {
                ([name, one, other], true) => [(*name, *one), (*name, *other)],
                ([name, one, another, other], false) => [(*name, *one), (*another, *other)],
                _ => return None,
            };
            let [first, second] = people.map(|(name, number)| {
                let number: u32 = number.parse().ok()?;
                Some(format!("{name}/{name}_{number:04}.jpg"))
            });
            pairs.push(Pair {
                pictures: [first?, second?],
                same_person: at < count,
                fold,
            });
        }
    }
    Some(pairs)
}

/// Embeddings of pictures, one behind the other.
fn embed(
    network: &Network,
    architecture: &Architecture,
    folder: &Path,
    names: &[&String],
) -> Result<Vec<f32>, Box<dyn Error>> {
    let [channels, height, width] = architecture.input_shape();
    let normalisation = architecture.normalisation();
    let mut values = Vec::with_capacity(names.len() * channels * height * width);
    for name in names {
        let path = folder.join(name);
        let failed = |error: &dyn Error| format!("{}: {error}", path.display());
        let picture = image::open(&path).map_err(|error| failed(&error))?;
        let picture = picture.to_rgb8();
        let found = picture.dimensions();
        if found != (width as u32, height as u32) {
            let what = format!("{found:?} pixels instead of {width} x {height}");
            return Err(format!("{}: {what}", path.display()).into());
        }
        for channel in 0..channels {
            let (mean, std) = (normalisation.mean[channel], normalisation.std[channel]);
            let pixels = picture.pixels();
            values.extend(pixels.map(|pixel| (f32::from(pixel.0[channel]) / 255.0 - mean) / std));
        }
    }
    let data = TensorData::new(values, [names.len(), channels, height, width]);
    let faces = Tensor::from_data(data, &Device::flex());
    let features = Pass::mean().run(|| network.features(faces))?;
    Ok(features.into_data().try_into_vec()?)
}

/// Subtracts the mean of all.
fn centre(embeddings: &mut BTreeMap<&String, Vec<f32>>) {
    let count = embeddings.len() as f64;
    let length = embeddings.values().next().map_or(0, Vec::len);
    let sum = |at: usize| {
        embeddings
            .values()
            .map(|one| f64::from(one[at]))
            .sum::<f64>()
    };
    let mean: Vec<f32> = (0..length).map(|at| (sum(at) / count) as f32).collect();
    for embedding in embeddings.values_mut() {
        for (value, mean) in embedding.iter_mut().zip(&mean) {
            *value -= mean;
        }
    }
}

fn cosine([a, b]: [&[f32]; 2]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}
