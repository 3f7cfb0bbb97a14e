//! Networks with logits that are linear in their input, and the closed form of the gradient of their predictive.

use bayesadapter::{
    models::Normalisation,
    nn::{Linear, LinearConfig},
    ops::{NoiseKey, fill_normals},
    posterior::{Bayes, InitialStd, IntoBayes, MeanField, Posterior},
    predict::Classifier,
};
use bayesadapter_tests::values;
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};
use std::sync::{Mutex, PoisonError};

const SHAPE: [usize; 3] = [3, 4, 4];
pub const INPUTS: usize = 48;
pub const CLASSES: usize = 5;

/// A network with logits that are linear in its input.
pub trait Affine: Classifier<4> {
    /// `[inputs, classes]` and `[classes]`.
    fn weights(&self) -> (Tensor<2>, Tensor<1>);
}

/// Of a layer that gives every row its draw.
#[derive(Module, Debug)]
pub struct Ours {
    pub layer: Linear,
}

impl Classifier<4> for Ours {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        self.layer.forward(x.flatten(1, 3))
    }
}

impl Affine for Ours {
    fn weights(&self) -> (Tensor<2>, Tensor<1>) {
        (
            self.layer.weight.val(),
            self.layer.bias.as_ref().unwrap().val(),
        )
    }
}

/// Of Burn's layer, which shares a draw among the rows of a launch.
#[derive(Module, Debug)]
pub struct Stock {
    pub layer: burn::nn::Linear,
}

impl Classifier<4> for Stock {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        self.layer.forward(x.flatten(1, 3))
    }
}

impl Affine for Stock {
    fn weights(&self) -> (Tensor<2>, Tensor<1>) {
        (
            self.layer.weight.val(),
            self.layer.bias.as_ref().unwrap().val(),
        )
    }
}

/// Reads its weight past the layer, so that only a forward pass tells that rows share a draw.
#[derive(Module, Debug)]
pub struct PastItsLayer {
    pub layer: Linear,
}

impl Classifier<4> for PastItsLayer {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        let (weight, bias) = self.weights();
        x.flatten::<2>(1, 3).matmul(weight) + bias.unsqueeze()
    }
}

impl Affine for PastItsLayer {
    fn weights(&self) -> (Tensor<2>, Tensor<1>) {
        (
            self.layer.weight.val(),
            self.layer.bias.as_ref().unwrap().val(),
        )
    }
}

/// Leaves the graph.
#[derive(Module, Debug)]
pub struct Detached {
    pub layer: Linear,
}

impl Classifier<4> for Detached {
    fn logits(&self, x: Tensor<4>) -> Tensor<2> {
        self.layer.forward(x.flatten(1, 3).detach())
    }
}

/// A network with the same start in every run. Devices have one source of random numbers each, and tests run side by
/// side.
pub fn started<M: Module>(
    device: &Device,
    posterior: impl Into<Posterior>,
    init: impl FnOnce() -> M,
) -> Bayes<M> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    device.seed(3);
    init().into_bayes(posterior).unwrap()
}

pub fn ours(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Ours> {
    started(device, posterior, || Ours {
        layer: LinearConfig::new(INPUTS, CLASSES).init(device),
    })
}

/// Weights that differ from draw to draw by as much as they are large.
pub fn wide() -> MeanField {
    MeanField::fine_tune(100).with_initial_std(InitialStd::LogUniform([-2.0, -1.0]))
}

pub fn normalisation() -> Normalisation {
    Normalisation {
        mean: vec![0.5, 0.4, 0.3],
        std: vec![0.2, 0.25, 0.5],
    }
}

/// Pixels in 0..=1, some of them at the ends.
pub fn pixels(images: usize) -> Vec<f32> {
    let mut pixels = vec![0.0; images * INPUTS];
    fill_normals(&NoiseKey::default(), 0, 0, &mut pixels);
    let pixel = |normal: &f32| (0.5 + 0.4 * normal).clamp(0.0, 1.0);
    pixels.iter().map(pixel).collect()
}

/// What the network takes for pixels, and pixels for what it takes.
fn by_channel(values: &[f32], of_channel: impl Fn(f32, f32, f32) -> f32) -> Vec<f32> {
    let Normalisation { mean, std } = normalisation();
    let each = INPUTS / SHAPE[0];
    let channel = |at: usize| at / each % SHAPE[0];
    let numbered = values.iter().enumerate();
    numbered
        .map(|(at, &value)| of_channel(value, mean[channel(at)], std[channel(at)]))
        .collect()
}

pub fn inputs_of(pixels: &[f32]) -> Vec<f32> {
    by_channel(pixels, |pixel, mean, std| (pixel - mean) / std)
}

pub fn pixels_of(inputs: &[f32]) -> Vec<f32> {
    by_channel(inputs, |input, mean, std| input * std + mean)
}

pub fn tensor(inputs: &[f32], device: &Device) -> Tensor<4> {
    let [channels, height, width] = SHAPE;
    let shape = [inputs.len() / INPUTS, channels, height, width];
    Tensor::from_data(TensorData::new(inputs.to_vec(), shape), device)
}

pub fn labels(images: usize) -> Vec<u32> {
    (0..images).map(|image| (image % CLASSES) as u32).collect()
}

/// `-ln mean_s p_s[y]` and its gradient `sum_s p_s[y] (sum_c p_s[c] w_s[c] - w_s[y]) / sum_s p_s[y]` in f64, image by
/// image.
pub fn closed_form<M: Affine>(
    bayes: &Bayes<M>,
    inputs: &[f32],
    labels: &[u32],
    draws: u32,
) -> (Vec<f32>, Vec<f32>) {
    let networks: Vec<(Vec<f32>, Vec<f32>)> = (0..draws)
        .map(|draw| {
            let (weight, bias) = bayes.draw(draw).unwrap().weights();
            (values(weight), values(bias))
        })
        .collect();
    let (mut nll, mut gradients) = (Vec::new(), Vec::new());
    for (x, &label) in inputs.chunks_exact(INPUTS).zip(labels) {
        let (mut total, mut gradient) = (0.0, vec![0.0; INPUTS]);
        for (weight, bias) in &networks {
            let at = |input: usize, class: usize| f64::from(weight[input * CLASSES + class]);
            let logit = |class: usize| {
                let products = (0..INPUTS).map(|input| f64::from(x[input]) * at(input, class));
                products.sum::<f64>() + f64::from(bias[class])
            };
            let exps: Vec<f64> = (0..CLASSES).map(|class| logit(class).exp()).collect();
            let sum: f64 = exps.iter().sum();
            let p: Vec<f64> = exps.iter().map(|exp| exp / sum).collect();
            let own = p[label as usize];
            total += own;
            for input in 0..INPUTS {
                let mean: f64 = (0..CLASSES).map(|class| p[class] * at(input, class)).sum();
                gradient[input] += own * (mean - at(input, label as usize));
            }
        }
        nll.push(-(total / f64::from(draws)).ln() as f32);
        gradients.extend(gradient.iter().map(|one| (one / total) as f32));
    }
    (nll, gradients)
}
