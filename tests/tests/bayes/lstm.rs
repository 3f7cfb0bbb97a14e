//! A recurrent network of Burn's layers, of which none is ours.

use crate::subject::{filled, normals, wide};
use bayesadapter::{
    posterior::{Conversion, IntoBayes, LowRankEnsemble, MeanField, Posterior},
    predict::{Classifier, Draws, PredictOptions},
};
use bayesadapter_tests::{Tolerance, assert_close, values};
use burn::{
    module::Module,
    tensor::{Device, Tensor, activation::softmax},
};

/// Classes of sequences `[batch, length, 3]`.
#[derive(Module, Debug)]
struct Reader {
    lstm: burn::nn::Lstm,
    head: burn::nn::Linear,
}

impl Classifier<3> for Reader {
    fn logits(&self, x: Tensor<3>) -> Tensor<2> {
        let (_, state) = self.lstm.forward(x, None);
        self.head.forward(state.hidden)
    }
}

#[test]
fn a_stock_lstm_shares_its_draws_and_predicts_with_them() {
    let device = Device::flex();
    let reader = filled(Reader {
        lstm: burn::nn::LstmConfig::new(3, 4, true).init(&device),
        head: burn::nn::LinearConfig::new(4, 3).init(&device),
    });
    let x = normals([2, 5, 3], 4, &device);
    let ensemble = LowRankEnsemble::fine_tune(100).with_components(3);
    // Four gates of two linear maps, and the head. An ensemble shares biases.
    for (posterior, count) in [
        (Posterior::from(wide(MeanField::fine_tune(100))), 18),
        (ensemble.into(), 9),
    ] {
        let bayes = reader.clone().into_bayes(posterior).unwrap();
        let account = bayes.account();
        assert_eq!(account.converted.len(), count, "{account}");
        let shared = account.converted.iter().all(Conversion::is_vanilla_only);
        assert!(shared, "{account}");
        let by_hand: Vec<f32> = (0..3)
            .flat_map(|k| values(softmax(bayes.draw(k).unwrap().logits(x.clone()), 1)))
            .collect();
        assert_ne!(by_hand[..6], by_hand[6..12], "draws differ");
        let options = PredictOptions::new(Draws::Fixed(3)).with_draws_kept();
        let found = bayes.predict(x.clone(), options).unwrap();
        assert_eq!(found.draws, [0, 1, 2]);
        let found = found.draw_probabilities.unwrap();
        let tolerance = Tolerance::of_largest(1e-6, &by_hand);
        assert_close("draws", &found, &by_hand, tolerance);
    }
}
