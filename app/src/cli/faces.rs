//! What networks make of faces.

use super::{Voice, flags::usual_workers};
use crate::network::Opened;
use anyhow::Result;
use bayesadapter::{
    data::{BatchSettings, Batches, FacePairs},
    predict::{Draws, PredictOptions},
    session::{EvaluationSettings, Method},
};
use burn::tensor::Device;

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
