//! A network of one's own, trained and then fine-tuned in a plain loop: `cargo run --release --example plain_loop`.
//!
//! Two half moons, a small network, ordinary training; then the same network with a mean-field posterior. Away
//! from the moons the draws of the posterior disagree more than on them.

use bayesadapter::{
    nn::{Linear, LinearConfig},
    ops::NoiseKey,
    pass::{Estimator, Pass},
    posterior::{IntoBayes, MeanField},
    predict::{Classifier, Draws},
    train::FineTuning,
};
use burn::{
    module::Module,
    nn::loss::CrossEntropyLossConfig,
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Int, Tensor, TensorData, activation::relu},
};
use std::{error::Error, f32::consts::PI};

const EXAMPLES: usize = 512;

#[derive(Module, Debug)]
struct Network {
    hidden: Linear,
    output: Linear,
}

impl Network {
    fn new(device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(2, 64).init(device),
            output: LinearConfig::new(64, 2).init(device),
        }
    }
}

impl Classifier<2> for Network {
    fn logits(&self, x: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(x)))
    }
}

/// Points `[EXAMPLES, 2]` on two half moons, and which moon they are on.
fn moons(device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let key = NoiseKey::default();
    let point = |example: u32| {
        let angle = PI * key.uniform(example, 0);
        let noise = [1, 2].map(|element| 0.1 * key.normal(example, 4 * element));
        match example % 2 {
            0 => [angle.cos() + noise[0], angle.sin() + noise[1]],
            _ => [1.0 - angle.cos() + noise[0], 0.5 - angle.sin() + noise[1]],
        }
    };
    let points: Vec<f32> = (0..EXAMPLES as u32).flat_map(point).collect();
    let labels: Vec<i32> = (0..EXAMPLES as i32).map(|example| example % 2).collect();
    (
        Tensor::from_data(TensorData::new(points, [EXAMPLES, 2]), device),
        Tensor::from_data(TensorData::new(labels, [EXAMPLES]), device),
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    device.seed(0);
    let (x, labels) = moons(&device);
    let loss = CrossEntropyLossConfig::new().init(&device);

    let mut network = Network::new(&device);
    let mut adam = AdamConfig::new().init();
    for _ in 0..300 {
        let logits = network.logits(x.clone());
        let gradients = loss.forward(logits, labels.clone()).backward();
        let gradients = GradientsParams::from_grads(gradients, &network);
        network = adam.step(0.01, network, gradients);
    }

    // So few examples leave much open: the spreads may start wide and learn fast.
    let steps = 1_000;
    let settings = FineTuning {
        mean_rate: 0.01,
        spread_rate: 1.0,
        ..Default::default()
    };
    let posterior = MeanField {
        initial_log_std: [-3.0, -2.0],
        ..MeanField::fine_tune(EXAMPLES).with_lambda(1e-3)
    };
    let mut bayes = network.into_bayes(posterior)?;
    println!("{}", bayes.account());
    let (mut optimizer, mut rates) = (settings.optimizer(), settings.rates(&bayes, steps)?);
    for step in 0..steps as u32 {
        let pass = Pass::train(Estimator::Exemplar, step);
        let logits = bayes.run(pass, |network| network.logits(x.clone()))?;
        let likelihood = loss.forward(logits, labels.clone());
        if step % 200 == 0 {
            let likelihood = likelihood.clone().into_scalar::<f32>();
            let complexity = bayes.complexity_loss()?;
            println!("step {step}: likelihood {likelihood:.4}, complexity {complexity:.4}");
        }
        let gradients = GradientsParams::from_grads(likelihood.backward(), &bayes);
        bayes = optimizer.step(
            rates.step(),
            bayes.clone(),
            bayes.with_complexity(gradients)?,
        );
    }

    let far = Tensor::<2>::from_floats([[3.0, 3.0], [-2.0, -1.5], [3.5, 1.0]], &device);
    for (place, points) in [("on the moons", x), ("far from them", far)] {
        let prediction = bayes.predict(points, Draws::Fixed(50))?;
        let information = prediction.mutual_information();
        let mean = information.iter().sum::<f64>() / information.len() as f64;
        println!("mutual information {place}: {mean:.4}");
    }
    Ok(())
}
