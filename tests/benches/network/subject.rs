//! What is measured: a ResNet-20, a batch, and posteriors for the network.

use bayesadapter::{
    models::{Architecture, Network},
    ops::{NoiseKey, fill_normals},
    pass::{Estimator, Pass},
    posterior::{Bayes, IntoBayes, LowRankEnsemble, MeanField, Posterior},
};
use burn::{
    nn::loss::CrossEntropyLossConfig,
    optim::GradientsParams,
    tensor::{Device, Int, Tensor, TensorData},
};

/// Of CIFAR-10's training set.
const EXAMPLES: usize = 50_000;

pub fn network(device: &Device) -> Network {
    let architecture: Architecture = "resnet20-cifar".parse().expect("a known name");
    architecture.init(device).expect("a network as published")
}

pub fn images(batch: usize, device: &Device) -> Tensor<4> {
    let shape = [batch, 3, 32, 32];
    let mut pixels = vec![0.0; shape.iter().product()];
    fill_normals(&NoiseKey::default(), 0, 0, &mut pixels);
    Tensor::from_data(TensorData::new(pixels, shape), device)
}

pub fn mean_field(device: &Device) -> Bayes<Network> {
    with(MeanField::fine_tune(EXAMPLES), device)
}

pub fn ensemble(device: &Device) -> Bayes<Network> {
    with(LowRankEnsemble::fine_tune(EXAMPLES), device)
}

fn with(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Network> {
    let converted = network(device).into_bayes(posterior);
    converted.expect("a network without posteriors")
}

/// A batch for training.
pub struct Batch {
    images: Tensor<4>,
    labels: Tensor<1, Int>,
}

impl Batch {
    pub fn new(examples: usize, device: &Device) -> Self {
        let labels: Vec<i32> = (0..examples as i32).map(|example| example % 10).collect();
        Self {
            images: images(examples, device),
            labels: Tensor::from_data(TensorData::new(labels, [examples]), device),
        }
    }

    /// Forward and backward pass.
    pub fn step(&self, bayes: &Bayes<Network>, pass: Pass) -> GradientsParams {
        let logits = bayes.run(pass, |network| network.forward(self.images.clone()));
        let logits = logits.expect("images fit the network");
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits, self.labels.clone());
        GradientsParams::from_grads(loss.backward(), bayes)
    }
}

/// The estimators with their names.
pub const ESTIMATORS: [(&str, Estimator); 4] = [
    ("vanilla", Estimator::Vanilla),
    ("exemplar", Estimator::Exemplar),
    ("local", Estimator::Local),
    ("flipout", Estimator::Flipout),
];
