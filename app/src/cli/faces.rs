//! Pairs of faces, and what networks make of them.

use super::{BadInput, Voice, flags::usual_workers};
use crate::network::Opened;
use anyhow::Result;
use bayesadapter::{
    data::{BatchSettings, Batches, CfpPairs, FacePairs},
    predict::{Draws, PredictOptions},
    session::{EvaluationSettings, Method},
};
use burn::tensor::Device;
use std::path::Path;

/// The pairs of a list, or of CFP, whose pictures are in `data`.
pub fn open(data: &str, pairs: &Path) -> Result<FacePairs> {
    let faces = match pairs.to_str() {
        Some("cfp-ff") => FacePairs::open_cfp(data, CfpPairs::FrontalFrontal)?,
        Some("cfp-fp") => FacePairs::open_cfp(data, CfpPairs::FrontalProfile)?,
        _ => FacePairs::open(data, pairs)?,
    };
    // Here, and not after every face was looked at.
    if faces.pairs().iter().all(|pair| pair.fold == 0) {
        return Err(BadInput(format!(
            "{} has one fold, but two or more are needed: the threshold for the pairs of a fold is chosen on those of \
             the others. Begin the list with the numbers of folds and of pairs in each, as in `10 300`",
            pairs.display()
        ))
        .into());
    }
    Ok(faces)
}

/// The features of every picture in the pairs, averaged over draws, one behind the other.
pub fn features(
    opened: &Opened,
    faces: &FacePairs,
    how: &EvaluationSettings,
    workers: Option<usize>,
    device: &Device,
    voice: &Voice,
) -> Result<Vec<f32>> {
    let draws = match opened.method {
        Method::Map => Draws::Mean,
        _ => Draws::Fixed(how.draws),
    };
    let options = PredictOptions::new(draws).with_features_kept();
    let preparation = opened.preparation()?;
    let settings = BatchSettings {
        workers: workers.unwrap_or_else(|| usual_workers(preparation.shape[1])),
        ..BatchSettings::new(how.batch, preparation)
    };
    let pictures = faces.pictures();
    let bar = voice.bar(
        pictures.len() as u64,
        "{bar:24} {pos}/{len} faces  {per_sec}, {eta} left",
    );
    let mut features = Vec::new();
    for batch in Batches::new(pictures, settings)?.epoch(0, 0) {
        let (images, _) = batch?.to_tensors(device);
        bar.inc(images.dims()[0] as u64);
        let prediction = opened.bayes.predict(images, options.clone())?;
        features.extend(prediction.features.unwrap_or_default());
    }
    bar.finish_and_clear();
    Ok(features)
}
