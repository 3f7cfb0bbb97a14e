//! Two half moons, and a small network that tells them apart: what the examples share.

use bayesadapter::{
    nn::{Linear, LinearConfig},
    ops::NoiseKey,
    posterior::Bayes,
    predict::{Classifier, Draws, PredictError},
};
use burn::{
    module::Module,
    nn::loss::CrossEntropyLossConfig,
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Int, Tensor, TensorData, activation::relu},
};
use std::f32::consts::PI;

pub const EXAMPLES: usize = 512;

#[derive(Module, Debug)]
pub struct Network {
    hidden: Linear,
    output: Linear,
}

impl Classifier<2> for Network {
    fn logits(&self, x: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(x)))
    }
}

/// A point on one of two half moons, and which moon it is on.
#[derive(Clone, Debug)]
pub struct Point {
    place: [f32; 2],
    moon: i32,
}

pub fn moons(seed: u64) -> Vec<Point> {
    let key = NoiseKey {
        seed,
        ..Default::default()
    };
    let point = |example: u32| {
        let angle = PI * key.uniform(example, 0);
        let noise = [1, 2].map(|element| 0.1 * key.normal(example, 4 * element));
        let place = match example % 2 {
            0 => [angle.cos() + noise[0], angle.sin() + noise[1]],
            _ => [1.0 - angle.cos() + noise[0], 0.5 - angle.sin() + noise[1]],
        };
        let moon = example as i32 % 2;
        Point { place, moon }
    };
    (0..EXAMPLES as u32).map(point).collect()
}

/// Places `[points, 2]` and moons `[points]`.
pub fn tensors(points: &[Point], device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let count = points.len();
    let places: Vec<f32> = points.iter().flat_map(|point| point.place).collect();
    let moons: Vec<i32> = points.iter().map(|point| point.moon).collect();
    (
        Tensor::from_data(TensorData::new(places, [count, 2]), device),
        Tensor::from_data(TensorData::new(moons, [count]), device),
    )
}

/// Ordinary training.
pub fn pretrained(x: &Tensor<2>, labels: &Tensor<1, Int>, device: &Device) -> Network {
    let mut network = Network {
        hidden: LinearConfig::new(2, 64).init(device),
        output: LinearConfig::new(64, 2).init(device),
    };
    let mut adam = AdamConfig::new().init();
    let loss = CrossEntropyLossConfig::new().init(device);
    for _ in 0..300 {
        let logits = network.logits(x.clone());
        let gradients = loss.forward(logits, labels.clone()).backward();
        let gradients = GradientsParams::from_grads(gradients, &network);
        network = adam.step(0.01, network, gradients);
    }
    network
}

/// Prints how much the draws of the posterior disagree on the moons and far from them.
pub fn compare(bayes: &Bayes<Network>, near: Tensor<2>) -> Result<(), PredictError> {
    let far = [[3.0, 3.0], [-2.0, -1.5], [3.5, 1.0]];
    let far = Tensor::<2>::from_floats(far, &near.device());
    for (place, points) in [("on the moons", near), ("far from them", far)] {
        let prediction = bayes.predict(points, Draws::Fixed(50))?;
        let information = prediction.mutual_information();
        let mean = information.iter().sum::<f64>() / information.len() as f64;
        println!("mutual information {place}: {mean:.4}");
    }
    Ok(())
}
