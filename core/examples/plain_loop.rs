//! A network of one's own, trained and then fine-tuned in a plain loop: `cargo run --release --example plain_loop`.
//!
//! Two half moons, a small network, ordinary training; then the same network with a mean-field posterior. Away
//! from the moons the draws of the posterior disagree more than on them.

mod moons;

use bayesadapter::{
    pass::{Estimator, Pass},
    posterior::{InitialStd, IntoBayes, MeanField},
    predict::Classifier,
    train::FineTuning,
};
use burn::{nn::loss::CrossEntropyLossConfig, optim::GradientsParams, tensor::Device};
use moons::{EXAMPLES, moons, pretrained, tensors};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    device.seed(0);
    let (x, labels) = tensors(&moons(0), &device);
    let loss = CrossEntropyLossConfig::new().init(&device);
    let network = pretrained(&x, &labels, &device);

    // So few examples leave much open: the standard deviations start wide.
    let steps = 1_000;
    let settings = FineTuning {
        lr: 0.01,
        ..Default::default()
    };
    let posterior = MeanField {
        initial_std: InitialStd::Relative(0.3),
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

    moons::compare(&bayes, x)?;
    Ok(())
}
