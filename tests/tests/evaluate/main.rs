//! The streaming evaluation against the metrics, called directly on the whole.

mod network;

use bayesadapter::{
    evaluate::{Collector, EvaluateError, Evaluation, Measure},
    metrics::{
        DrawProbabilities, ECE_BINS, MI_BUCKETS, MetricError, Predictions, TPR_95, accuracy,
        adaptive_ece, aupr, aurc, auroc, brier, classwise_ece, decompose, draw_curve, ece,
        error_above_confidence, fpr_at_tpr, nll, reliability_bins, top_k_accuracy,
        uncertainty_buckets,
    },
    ops::{NoiseKey, fill_normals},
    predict::Prediction,
};

const CLASSES: usize = 7;
const DRAWS: usize = 5;

/// Probabilities `[draws, examples, classes]` of pretended networks, and labels that they often find.
fn pretended(examples: usize, draws: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
    let normals = |parameter, count| {
        let key = NoiseKey {
            seed,
            parameter,
            ..NoiseKey::default()
        };
        let mut normals = vec![0.0f32; count];
        fill_normals(&key, 0, 0, &mut normals);
        normals
    };
    let shared = normals(0, examples * CLASSES);
    let own = normals(1, draws * examples * CLASSES);
    let label = |example: usize| (example * 31 % CLASSES) as u32;
    let logit = |at: usize| {
        let (example, class) = (at / CLASSES % examples, at % CLASSES);
        let signal = f32::from(label(example) as usize == class) * 2.0;
        signal + shared[at % shared.len()] + 0.7 * own[at]
    };
    let mut probabilities: Vec<f32> = (0..own.len()).map(|at| logit(at).exp()).collect();
    for row in probabilities.chunks_mut(CLASSES) {
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= sum);
    }
    (probabilities, (0..examples).map(label).collect())
}

/// Some of the examples of `[draws, examples, classes]`.
fn part(all: &[f32], draws: usize, range: std::ops::Range<usize>) -> Vec<f32> {
    let each = all.len() / draws;
    all.chunks(each)
        .flat_map(|draw| &draw[range.start * CLASSES..range.end * CLASSES])
        .copied()
        .collect()
}

fn prediction(probabilities: Vec<f32>, draws: usize) -> Prediction {
    let checked = DrawProbabilities::new(&probabilities, draws.max(1), CLASSES).unwrap();
    Prediction {
        classes: CLASSES,
        draws: (0..draws as u32).collect(),
        summary: decompose(&checked),
        draw_probabilities: Some(probabilities),
        features: None,
    }
}

fn names() -> Vec<String> {
    (0..CLASSES).map(|class| format!("class {class}")).collect()
}

fn one_batch(probabilities: &[f32], draws: usize, labels: &[u32]) -> Evaluation {
    let mut collector = Collector::new(names());
    let prediction = prediction(probabilities.to_vec(), draws);
    collector.add(&prediction, None, labels).unwrap();
    collector.finish("one").unwrap()
}

#[test]
fn batches_give_what_the_metrics_give_on_the_whole() {
    let (all, labels) = pretended(211, DRAWS, 1);
    let (mean_network, _) = pretended(211, 1, 2);
    let (strange, _) = pretended(90, DRAWS, 3);
    let mut collector = Collector::new(names());
    for range in [0..64, 64..65, 65..150, 150..211] {
        let at_mean = prediction(part(&mean_network, 1, range.clone()), 0);
        let batch = prediction(part(&all, DRAWS, range.clone()), DRAWS);
        collector
            .add(&batch, Some(&at_mean), &labels[range])
            .unwrap();
    }
    for range in [0..50, 50..90] {
        let batch = prediction(part(&strange, DRAWS, range), DRAWS);
        collector.add_out_of_distribution("noise", &batch).unwrap();
    }
    let found = collector.finish("MFG").unwrap();

    let draws = DrawProbabilities::new(&all, DRAWS, CLASSES).unwrap();
    let whole = decompose(&draws);
    let predictions = Predictions::new(&whole.mean_probabilities, CLASSES, &labels).unwrap();
    let (confidences, correct) = (predictions.confidences(), predictions.correct());
    let mi = &whole.mutual_information;
    assert_eq!((found.method.as_str(), found.draws), ("MFG", DRAWS));
    assert_eq!(found.ranked_by, Measure::MutualInformation);
    let scores = &found.scores;
    assert_eq!(scores.examples, 211);
    assert_eq!(scores.accuracy, accuracy(&predictions));
    assert_eq!(
        scores.top_5_accuracy,
        Some(top_k_accuracy(&predictions, 5).unwrap())
    );
    assert_eq!(scores.nll, nll(&predictions));
    assert_eq!(scores.brier, brier(&predictions));
    assert_eq!(scores.ece, ece(&predictions, ECE_BINS).unwrap());
    assert_eq!(
        scores.adaptive_ece,
        adaptive_ece(&predictions, ECE_BINS).unwrap()
    );
    assert_eq!(
        scores.classwise_ece,
        classwise_ece(&predictions, ECE_BINS).unwrap()
    );
    assert_eq!(scores.aurc, aurc(&confidences, &correct).unwrap());
    assert_eq!(
        found.reliability,
        reliability_bins(&confidences, &correct, ECE_BINS).unwrap()
    );
    for bin in &found.reliability {
        let positions = found.in_bin(bin);
        assert_eq!(positions.len(), bin.count);
        assert!(positions.is_sorted_by_key(|&at| confidences[at]));
    }
    assert_eq!(
        found.buckets,
        uncertainty_buckets(mi, &correct, MI_BUCKETS).unwrap()
    );
    assert_eq!(found.correct(), correct);
    assert_eq!(
        (&found.labels, &found.examples.mutual_information),
        (&labels, mi)
    );
    assert_eq!(found.examples.confidence, confidences);

    let wrong = |wanted: bool| -> Vec<f64> {
        let pairs = mi.iter().zip(&correct);
        pairs
            .filter(|&(_, &right)| right != wanted)
            .map(|(&mi, _)| mi)
            .collect()
    };
    let errors = scores
        .error_detection
        .unwrap()
        .by(Measure::MutualInformation)
        .unwrap();
    assert_eq!(errors.auroc, auroc(&wrong(true), &wrong(false)).unwrap());

    let strange = decompose(&DrawProbabilities::new(&strange, DRAWS, CLASSES).unwrap());
    let strangers = found.out_of_distribution.as_ref().unwrap();
    let by_entropy = strangers.detection.entropy;
    let (out, inside) = (&strange.total_entropy, &whole.total_entropy);
    assert_eq!(by_entropy.auroc, auroc(out, inside).unwrap());
    assert_eq!(by_entropy.aupr, aupr(out, inside).unwrap());
    assert_eq!(
        by_entropy.false_alarms_at_95,
        fpr_at_tpr(out, inside, TPR_95).unwrap()
    );
    assert_eq!(
        (strangers.name.as_str(), strangers.examples.len()),
        ("noise", 90)
    );
    let ood = &strangers.examples.confidence;
    let errors = error_above_confidence(&confidences, &correct, ood, &[0.0, 0.5]).unwrap();
    assert_eq!(found.error_above_confidence[0], errors[0]);
    assert_eq!(found.error_above_confidence[50], errors[1]);

    let curve = found.curve.as_ref().unwrap();
    let expected = draw_curve(&draws, &labels, Some(&mean_network)).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    for (a, b) in curve.single.iter().zip(&expected.single) {
        close(a.accuracy, b.accuracy);
        close(a.nll, b.nll);
    }
    for (a, b) in curve.ensemble.iter().zip(&expected.ensemble) {
        close(a.accuracy, b.accuracy);
        close(a.nll, b.nll);
    }
    close(
        curve.mean_network.unwrap().nll,
        expected.mean_network.unwrap().nll,
    );
    assert_eq!(curve.ensemble.len(), DRAWS);
}

#[test]
fn an_evaluation_survives_being_saved() {
    let (all, labels) = pretended(40, DRAWS, 4);
    let evaluation = one_batch(&all, DRAWS, &labels);
    let text = serde_json::to_string(&evaluation).unwrap();
    let read: Evaluation = serde_json::from_str(&text).unwrap();
    // JSON may lose the last bit of a number.
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    close(read.scores.nll, evaluation.scores.nll);
    let measures = [&read, &evaluation].map(|one| one.examples.uncertainty(one.ranked_by));
    for (a, b) in measures[0].iter().zip(&measures[1]) {
        close(*a, *b);
    }
    assert_eq!(read.buckets, evaluation.buckets);
    assert_eq!(read.examples.predicted, evaluation.examples.predicted);
    assert_eq!(read.class_names, evaluation.class_names);
}

#[test]
fn the_mean_and_a_single_draw_are_ranked_by_entropy() {
    let (all, labels) = pretended(40, 1, 4);
    for draws in [0, 1] {
        let found = one_batch(&all, draws, &labels);
        assert_eq!((found.draws, found.ranked_by), (draws, Measure::Entropy));
        assert_eq!(found.curve.is_some(), draws == 1);
        let errors = found.scores.error_detection.unwrap();
        assert_eq!(errors.mutual_information, None);
        assert!(errors.entropy.auroc > 0.5);
        let entropies: Vec<f64> = found
            .by_rising_uncertainty()
            .map(|at| found.examples.entropy[at])
            .collect();
        assert!(entropies.is_sorted());
        assert_eq!(found.out_of_distribution, None);
    }
}

#[test]
fn perfect_and_hopeless_classifiers_are_measured() {
    let certain = |class: usize| (0..CLASSES).map(move |at| f32::from(at == class));
    let probabilities: Vec<f32> = (0..4).flat_map(certain).collect();
    let perfect = one_batch(&probabilities, 0, &[0, 1, 2, 3]);
    let hopeless = one_batch(&probabilities, 0, &[1, 2, 3, 4]);
    for (found, accuracy) in [(perfect, 1.0), (hopeless, 0.0)] {
        assert_eq!(found.scores.accuracy, accuracy);
        assert_eq!(found.scores.aurc, 1.0 - accuracy);
        assert_eq!(found.scores.ece, 1.0 - accuracy);
        assert_eq!(found.scores.error_detection, None);
        assert_eq!(found.risk_coverage.len(), 1);
        assert!(found.scores.nll.is_finite());
    }
}

#[test]
fn wrong_input_is_named_and_not_added() {
    assert!(matches!(
        Collector::new(names()).finish("none"),
        Err(EvaluateError::Empty)
    ));
    let (all, labels) = pretended(6, 2, 5);
    let good = prediction(all.clone(), 2);
    let mut two = Collector::new(["cat", "dog"]);
    let classes = two.add(&good, None, &labels);
    assert!(matches!(
        classes,
        Err(EvaluateError::Classes {
            names: 2,
            found: CLASSES
        })
    ));

    let mut collector = Collector::new(names());
    collector.add(&good, None, &labels).unwrap();
    let before = collector.clone().finish("before").unwrap();
    let short = collector.add(&good, None, &labels[..5]);
    let Err(EvaluateError::Batch { first: 6, reason }) = short else {
        panic!("{short:?}");
    };
    assert!(matches!(reason, MetricError::Length { .. }));
    let label = collector.add(&good, None, &[99; 6]);
    assert!(label.unwrap_err().to_string().contains("labels[0] = 99"));
    let mut uneven = good.clone();
    uneven.summary.mutual_information.pop();
    assert!(collector.add(&uneven, None, &labels).is_err());
    uneven.summary.mutual_information.push(f64::NAN);
    assert!(collector.add(&uneven, None, &labels).is_err());
    let at_mean = prediction(part(&all, 2, 0..6)[..6 * CLASSES].to_vec(), 0);
    let mixed = collector.add(&at_mean, None, &labels);
    assert!(matches!(mixed, Err(EvaluateError::MeanAndDraws)));
    assert_eq!(collector.clone().finish("before").unwrap(), before);

    collector.add_out_of_distribution("first", &good).unwrap();
    let second = collector.add_out_of_distribution("second", &good);
    assert!(matches!(second, Err(EvaluateError::SecondName { .. })));
    // Only strangers: nothing can be said of the network's own classes.
    let mut strangers = Collector::new(names());
    strangers.add_out_of_distribution("only", &good).unwrap();
    assert!(matches!(
        strangers.finish("none"),
        Err(EvaluateError::Empty)
    ));
}

#[test]
fn fewer_draws_in_a_batch_cost_the_curve_only() {
    let mut collector = Collector::new(names());
    for draws in [3, 2] {
        let (all, labels) = pretended(6, draws, 6);
        collector
            .add(&prediction(all, draws), None, &labels)
            .unwrap();
    }
    let found = collector.finish("MFG").unwrap();
    assert_eq!((found.draws, found.curve), (3, None));
}
