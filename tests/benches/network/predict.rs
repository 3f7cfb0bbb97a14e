//! Predictions with many draws at once, beside as many passes through the network, one draw after the other, and beside
//! as many predictions with one draw.

use crate::{
    peer,
    report::Report,
    subject::{ensemble, images, mean_field},
};
use bayesadapter::{
    models::Network,
    pass::Pass,
    posterior::Bayes,
    predict::{Draws, PredictOptions},
};
use bayesadapter_tests::median_seconds;
use burn::{
    module::Module,
    tensor::{Device, activation::softmax},
};

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
    let name = |how: &str| format!("{name}, {examples} images, 20 {how}");
    let pass = |draw| {
        let logits = bayes.run(Pass::draw(draw), |network| network.forward(x.clone()));
        let probabilities = softmax(logits.expect("images fit the network"), 1);
        drop(probabilities.into_data());
    };
    let passes = name("passes of one draw");
    let seconds = median_seconds(repeats, || (0..DRAWS).for_each(pass));
    report.time(&passes, seconds);
    let predict = |draws: Draws| {
        let options = PredictOptions::new(draws);
        let prediction = bayes.predict(x.clone(), options);
        drop(prediction.expect("images fit the network"));
    };
    let singly = name("predictions of one draw");
    let seconds = median_seconds(repeats, || {
        (0..DRAWS).for_each(|draw| predict(Draws::List(vec![draw])));
    });
    report.time(&singly, seconds);
    let together = name("draws at once");
    let seconds = median_seconds(repeats, || predict(Draws::Fixed(DRAWS)));
    report.time(&together, seconds);
    report.compare(&together, "of_passes", &passes);
    report.compare(&together, "of_predictions", &singly);
}
