//! Fine-tuning under Burn's own `Learner`: `cargo run --release --example learner`.
//!
//! The network of `plain_loop.rs`, trained on two half moons and made Bayesian; then `SupervisedTraining` runs
//! the epochs, with data loaders, metrics and its logs in a temporary folder. What it asks for is a module with
//! two steps: one that returns gradients, to which the complexity loss has added its own, and one that
//! predicts.

mod moons;

use bayesadapter::{
    metrics::PROBABILITY_FLOOR,
    pass::{Estimator, Pass},
    posterior::{Bayes, InitialStd, IntoBayes, MeanField},
    predict::{Classifier, Draws},
    train::FineTuning,
};
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderBuilder, batcher::Batcher},
        dataset::InMemDataset,
    },
    module::Module,
    nn::loss::CrossEntropyLossConfig,
    optim::GradientsParams,
    tensor::{Device, Int, Tensor, TensorData},
};
use burn_train::{
    ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep,
    metric::{AccuracyMetric, LossMetric},
};
use moons::{EXAMPLES, Network, Point, moons, pretrained, tensors};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

const BATCH: usize = 64;
const EPOCHS: usize = 40;

/// `[batch, 2]` and `[batch]`
#[derive(Clone, Debug)]
struct Batch {
    x: Tensor<2>,
    labels: Tensor<1, Int>,
}

#[derive(Clone)]
struct ToBatch;

impl Batcher<Point, Batch> for ToBatch {
    fn batch(&self, points: Vec<Point>, device: &Device) -> Batch {
        let (x, labels) = tensors(&points, device);
        Batch { x, labels }
    }
}

/// What the learner trains.
#[derive(Module, Debug)]
struct FineTuned {
    bayes: Bayes<Network>,
    /// Number of the next step, which names its noise. The learner clones the module at every step, and all
    /// clones have to count together.
    #[module(skip)]
    step: Arc<AtomicU32>,
}

/// Burn's steps return no errors. The data of this program fits its network.
fn or_panic<T, E: Error>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

impl TrainStep for FineTuned {
    type Input = Batch;
    type Output = ClassificationOutput;

    fn step(&self, Batch { x, labels }: Batch) -> TrainOutput<ClassificationOutput> {
        let pass = Pass::train(
            Estimator::Exemplar,
            self.step.fetch_add(1, Ordering::Relaxed),
        );
        let logits = or_panic(self.bayes.run(pass, |network| network.logits(x)));
        let loss = CrossEntropyLossConfig::new().init(&logits.device());
        let loss = loss.forward(logits.clone(), labels.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), self);
        TrainOutput {
            // The optimiser comes next, so this is the place of the complexity loss.
            grads: or_panic(self.bayes.with_complexity(gradients)),
            item: ClassificationOutput::new(loss, logits, labels),
        }
    }
}

impl InferenceStep for FineTuned {
    type Input = Batch;
    type Output = ClassificationOutput;

    /// The posterior predictive. Its logarithm stands for logits, of which it is the softmax.
    fn step(&self, Batch { x, labels }: Batch) -> ClassificationOutput {
        let (device, count) = (x.device(), x.dims()[0]);
        let prediction = or_panic(self.bayes.predict(x, Draws::Fixed(20)));
        let probabilities = prediction.probabilities().to_vec();
        let classes = probabilities.len() / count;
        let data = TensorData::new(probabilities, [count, classes]);
        let probabilities = Tensor::<2>::from_data(data, &device);
        let logits = probabilities.clamp_min(PROBABILITY_FLOOR).log();
        let loss = CrossEntropyLossConfig::new().init(&device);
        let loss = loss.forward(logits.clone(), labels.clone());
        ClassificationOutput::new(loss, logits, labels)
    }
}

fn loader(points: Vec<Point>, device: &Device) -> Arc<dyn DataLoader<Batch>> {
    DataLoaderBuilder::new(ToBatch)
        .batch_size(BATCH)
        .shuffle(0)
        .set_device(device.clone())
        .build(InMemDataset::new(points))
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    device.seed(0);
    let posterior = MeanField {
        initial_std: InitialStd::Relative(0.3),
        ..MeanField::fine_tune(EXAMPLES).with_lambda(1e-3)
    };
    let (x, labels) = tensors(&moons(0), &device);
    let bayes = pretrained(&x, &labels, &device).into_bayes(posterior)?;
    println!(
        "{}complexity {:.4}",
        bayes.account(),
        bayes.complexity_loss()?
    );

    let settings = FineTuning {
        lr: 0.01,
        ..Default::default()
    };
    let rates = settings.rates(&bayes, EPOCHS * EXAMPLES.div_ceil(BATCH))?;
    let model = FineTuned {
        bayes,
        step: Arc::default(),
    };
    let learner = Learner::new(model, settings.optimizer(), rates);
    let folder = std::env::temp_dir().join("bayesadapter-learner");
    let [train, test] = [moons(0), moons(1)].map(|points| loader(points, &device));
    let training = SupervisedTraining::new(&folder, train, test)
        .metrics((AccuracyMetric::new(), LossMetric::new()))
        .num_epochs(EPOCHS)
        .summary();
    let result = training.launch(learner);
    if let Some(error) = result.error {
        return Err(error.to_string().into());
    }

    let bayes = result.model.bayes;
    println!("complexity {:.4}", bayes.complexity_loss()?);
    let device = device.without_autodiff();
    let (near, _) = tensors(&moons(1), &device);
    moons::compare(&bayes, near)?;
    Ok(())
}
