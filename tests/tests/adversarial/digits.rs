//! A convolutional network on handwritten digits, and its loss by prediction.

use crate::linear::started;
use bayesadapter::{
    data::{Dataset, Preparation, Split, digits},
    models::{Architecture, Network, Normalisation},
    posterior::{Bayes, Posterior},
    predict::Draws,
};
use burn::tensor::{Device, Tensor, TensorData};

pub fn convolutional(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Network> {
    let architecture: Architecture = "digits-cnn".parse().unwrap();
    started(device, posterior, || architecture.init(device).unwrap())
}

pub fn some_digits(count: usize, device: &Device) -> (Tensor<4>, Vec<u32>) {
    let data = digits(Split::Test);
    let preparation = Preparation::new([1, 8, 8], Normalisation::digits(1));
    let images: Vec<f32> = (0..count)
        .flat_map(|index| preparation.prepare(&data.picture(index).unwrap()).unwrap())
        .collect();
    let images = TensorData::new(images, [count, 1, 8, 8]);
    let labels = (0..count).map(|index| data.label(index)).collect();
    (Tensor::from_data(images, device), labels)
}

/// Of every image, from predictions, which share no code with the gradient.
pub fn nll_of_prediction(
    bayes: &Bayes<Network>,
    x: Tensor<4>,
    labels: &[u32],
    draws: u32,
) -> Vec<f64> {
    let prediction = bayes.predict(x, Draws::Fixed(draws)).unwrap();
    let rows = prediction.probabilities().chunks(prediction.classes);
    rows.zip(labels)
        .map(|(row, &label)| -f64::from(row[label as usize]).ln())
        .collect()
}
