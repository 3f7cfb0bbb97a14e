//! Predictions with many draws, beside as many single passes.

use crate::{
    peer,
    report::Report,
    subject::{ensemble, images, mean_field},
};
use bayesadapter::{
    models::Network,
    posterior::Bayes,
    predict::{Draws, PredictOptions},
};
use bayesadapter_tests::median_seconds;
use burn::{module::Module, tensor::Device};

const DRAWS: u32 = 20;

pub fn measure(report: &mut Report, quick: bool) {
    let device = Device::flex();
    let repeats = if quick { 3 } else { 7 };
    for (name, bayes) in [
        ("mean-field", mean_field(&device)),
        ("ensemble of rank 1", ensemble(&device)),
    ] {
        for examples in [1, 8, 128] {
            compare(report, &bayes, name, examples, repeats);
        }
    }
    if let Some(peer) = peer::measure(128, repeats) {
        let seconds = f64::from(DRAWS) * peer.prediction;
        report.time("PyTorch, 128 images, 20 single passes", seconds);
    }
}

fn compare(
    report: &mut Report,
    bayes: &Bayes<Network>,
    name: &str,
    examples: usize,
    repeats: usize,
) {
    let x = images(examples, &bayes.devices()[0]);
    let predict = |draws: Draws| {
        let options = PredictOptions::new(draws);
        let prediction = bayes.predict(x.clone(), options);
        drop(prediction.expect("images fit the network"));
    };
    let singly = format!("{name}, {examples} images, 20 single draws");
    let seconds = median_seconds(repeats, || {
        (0..DRAWS).for_each(|draw| predict(Draws::List(vec![draw])));
    });
    report.time(&singly, seconds);
    let together = format!("{name}, {examples} images, 20 draws at once");
    let seconds = median_seconds(repeats, || predict(Draws::Fixed(DRAWS)));
    report.time(&together, seconds);
    report.compare(&together, "of_single_draws", &singly);
}
