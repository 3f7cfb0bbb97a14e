//! A report as a network on ten classes would give it, from pretended draws.

use bayesadapter::{
    evaluate::{Collector, Evaluation, KernelPosterior},
    metrics::{DrawProbabilities, decompose},
    ops::{NoiseKey, fill_normals},
    predict::Prediction,
    session::ValidationScores,
};
use bayesadapter_app::report::{
    FirstLayer, Pictures, Recognition, Report, StrangeFigure, StrangeTile, TrainingPoint,
    TrainingPoints, TrainingRun, ValidationPoint,
};
use image::{Rgb, RgbImage};

pub const CLASSES: [&str; 10] = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
];

fn normals(seed: u64, count: usize) -> Vec<f32> {
    let key = NoiseKey {
        seed,
        ..NoiseKey::default()
    };
    let mut normals = vec![0.0; count];
    fill_normals(&key, 0, 0, &mut normals);
    normals
}

/// How a pretended network behaves.
pub struct Behaviour {
    pub draws: usize,
    /// How much the draws disagree.
    pub spread: f32,
    /// By what logits are multiplied: beyond 1, the network is too sure.
    pub sharpness: f32,
}

/// What a network says of `examples`, whose classes it knows or not.
pub fn prediction(examples: usize, known: bool, seed: u64, behaviour: &Behaviour) -> Prediction {
    let (classes, draws) = (CLASSES.len(), behaviour.draws.max(1));
    let shared = normals(seed, examples * classes);
    let difficulty = normals(seed + 1, examples);
    let own = normals(
        seed + 2 + behaviour.draws as u64,
        draws * examples * classes,
    );
    let mut probabilities = Vec::with_capacity(own.len());
    for draw in 0..draws {
        for example in 0..examples {
            // Most examples are easy, some are not; strangers are hard.
            let ease = if known {
                9.0 - 2.6 * difficulty[example].abs().powf(1.5)
            } else {
                2.0
            };
            let doubt = behaviour.spread
                * if known {
                    (1.2 - 0.1 * ease).max(0.25)
                } else {
                    1.6
                };
            let row = (0..classes).map(|class| {
                let at = example * classes + class;
                let favourite = if known {
                    label(example) as usize
                } else {
                    example % classes
                };
                let signal = if class == favourite { ease } else { 0.0 };
                let noise = doubt * own[draw * examples * classes + at];
                behaviour.sharpness * (signal + 1.9 * shared[at] + noise)
            });
            probabilities.extend(softmax(row.collect()));
        }
    }
    let summary = decompose(&DrawProbabilities::new(&probabilities, draws, classes).unwrap());
    Prediction {
        classes,
        draws: (0..behaviour.draws as u32).collect(),
        summary,
        draw_probabilities: Some(probabilities),
        features: None,
    }
}

fn softmax(logits: Vec<f32>) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::MIN, f32::max);
    let powers: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

pub fn label(example: usize) -> u32 {
    (example * 7 % CLASSES.len()) as u32
}

pub fn evaluation(
    method: &str,
    examples: usize,
    strangers: usize,
    behaviour: &Behaviour,
) -> Evaluation {
    let mut collector = Collector::new(CLASSES);
    // Without the doubt of the draws, the mean network is too sure.
    let at_mean = Behaviour {
        draws: 0,
        spread: 0.0,
        sharpness: 1.4 * behaviour.sharpness,
    };
    let labels: Vec<u32> = (0..examples).map(label).collect();
    let mean_network = prediction(examples, true, 10, &at_mean);
    let predicted = prediction(examples, true, 10, behaviour);
    collector
        .add(&predicted, Some(&mean_network), &labels)
        .unwrap();
    if strangers > 0 {
        let strange = prediction(strangers, false, 20, behaviour);
        collector.add_out_of_distribution("SVHN", &strange).unwrap();
    }
    collector.finish(method).unwrap()
}

/// MAP, which is too sure, and two Bayesian networks.
pub fn report() -> Report {
    let behaviour = |draws, spread, sharpness| Behaviour {
        draws,
        spread,
        sharpness,
    };
    let evaluations = vec![
        evaluation("MAP", 4_000, 2_000, &behaviour(0, 0.0, 2.4)),
        evaluation("MFG", 4_000, 2_000, &behaviour(20, 1.2, 2.0)),
        evaluation("PSE", 4_000, 2_000, &behaviour(20, 2.0, 1.8)),
    ];
    let pictures = Pictures::of(&evaluations[2], 8, |at| Some(picture(at)));
    Report {
        title: "ResNet-20 on CIFAR-10".to_owned(),
        created: "Pretended data, for trying the report".to_owned(),
        settings: [
            ("Network", "resnet20-cifar"),
            ("Posterior", "low-rank ensemble, 20 components, rank 1"),
            ("λ", "0.0001"),
            ("Epochs", "12"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        evaluations,
        training: vec![training("MFG", 1), training("PSE", 2)],
        first_layers: vec![
            first_layer("MFG", [16, 3, 3, 3]),
            first_layer("PSE", [64, 3, 7, 7]),
        ],
        pictures: Some(pictures),
        strange: Some(strange()),
    }
}

/// What two pretended networks say of two images.
fn strange() -> StrangeFigure {
    let tile = |at: usize, recognition| StrangeTile {
        image: picture(at),
        baseline_class: "cat".to_owned(),
        baseline_confidence: 0.97,
        class: "dog".to_owned(),
        recognition,
    };
    StrangeFigure {
        baseline: "MAP".to_owned(),
        method: "PSE".to_owned(),
        drawings: 2_000,
        baseline_confidence: 0.9,
        recognised: 0.8,
        known: vec![tile(0, Recognition::Sure)],
        strange: vec![tile(1, Recognition::NeverSeen)],
    }
}

fn training(method: &str, seed: u64) -> TrainingRun {
    let noise = normals(seed, 4_692);
    let points = noise.iter().enumerate().map(|(step, &noise)| {
        let (progress, noise) = (step as f64 / 1_500.0, f64::from(noise));
        TrainingPoint {
            step: step as u64,
            likelihood_loss: 0.05 + 0.25 * (-progress).exp() + 0.03 * noise.abs(),
            complexity_loss: 2_900.0 - 90.0 * (1.0 - (-progress).exp()) * seed as f64,
            accuracy: Some((0.985 - 0.07 * (-progress).exp() + 0.01 * noise).min(1.0)),
        }
    });
    let epoch = |number: u64| {
        let step = 391 * number;
        let progress = (-(step as f64) / 1_500.0).exp();
        let scores = ValidationScores {
            accuracy: 0.91 - 0.05 * progress,
            nll: 0.28 + 0.06 * progress,
            ece: 0.04 - 0.01 * progress,
            images: 1_000,
        };
        ValidationPoint { step, scores }
    };
    TrainingRun {
        method: method.to_owned(),
        points: TrainingPoints {
            training: points.collect(),
            validation: (1..=12).map(epoch).collect(),
        },
    }
}

fn first_layer(method: &str, shape: [usize; 4]) -> FirstLayer {
    let elements = shape.iter().product();
    let spread = normals(4, elements);
    let [_, _, height, width] = shape;
    let mean = normals(3, elements)
        .into_iter()
        .enumerate()
        .map(|(at, noise)| {
            let (x, y, kernel) = (at % width, at / width % height, at / (height * width));
            let angle = kernel as f32 * 0.7;
            let wave = (x as f32 * angle.cos() + y as f32 * angle.sin()) * 6.0 / width as f32;
            0.3 * wave.sin() + 0.04 * noise
        });
    FirstLayer {
        method: method.to_owned(),
        kernels: KernelPosterior {
            path: "conv1.weight".to_owned(),
            shape,
            mean: mean.collect(),
            std: spread.iter().map(|noise| 0.01 * noise.abs()).collect(),
        },
    }
}

fn picture(example: usize) -> RgbImage {
    let shade = |x: u32, y: u32, channel: u32| {
        ((x * 5 + y * 3 + example as u32 * 11 * channel) % 256) as u8
    };
    RgbImage::from_fn(32, 32, |x, y| {
        Rgb([1, 2, 3].map(|channel| shade(x, y, channel)))
    })
}
