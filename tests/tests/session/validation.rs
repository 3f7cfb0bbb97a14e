//! Validation sets in a run: curves, calibration, and what stays the same when it is resumed.

use super::*;
use bayesadapter::{
    checkpoint::Checkpoint,
    evaluate::Calibration,
    file::Header,
    models::Architecture,
    pass::Estimator,
    posterior::{IntoBayes, Point, Posterior},
    session::PosteriorSettings,
};

fn splits(validation: &str) -> Splits {
    let validation: ValidationSplit = validation.parse().unwrap();
    let (train, test) = (digits(Split::Train), digits(Split::Test));
    Splits::of_parts(Arc::new(train), None, Arc::new(test), &validation, 0).unwrap()
}

fn validated_job(settings: RunSettings, validation: &str) -> Job {
    Job::new(settings, None, splits(validation), None, &Device::flex()).unwrap()
}

#[test]
fn every_epoch_is_validated_and_the_result_calibrated() {
    let memory = complete_job(validated_job(settings(Method::Pse), "test:0.2"), None);
    let kept = memory.kept();
    let validated: Vec<f64> = kept
        .history
        .iter()
        .filter(|row| row.validation.is_some())
        .map(|row| row.epoch)
        .collect();
    assert_eq!(validated, [1.0, 2.0]);
    let last = kept.history.last().unwrap().validation.unwrap();
    assert!(last.images > 60 && last.images <= 71, "{}", last.images);
    let evaluation = kept.evaluations.last().unwrap();
    assert_eq!(evaluation.scores.examples, 355 - 71);
    let calibration = &evaluation.calibrated.as_ref().unwrap().calibration;
    assert_eq!(calibration.source, "71 of the 355 test images");
    assert_eq!((calibration.images, calibration.sets.len()), (71, 3));
    // What users of the file get is what was fitted.
    let file = PosteriorFile::from_bytes(kept.posterior.clone()).unwrap();
    // The reader of JSON may miss the last bit of a number.
    let json = serde_json::to_string(calibration).unwrap();
    let calibration: Calibration = serde_json::from_str(&json).unwrap();
    assert_eq!(file.header().calibration, Some(calibration));
}

#[test]
fn a_posterior_starts_as_wide_as_the_network_is_overconfident() {
    let map = complete_job(validated_job(settings(Method::Map), "none"), None);
    let checkpoint = Checkpoint::from_bytes(map.kept().posterior.clone()).unwrap();
    let started = |checkpoint: &Checkpoint, validation, initial_std| {
        let mut settings = settings(Method::Pse);
        settings.model.weights = Some("map".to_owned());
        settings.model.replace_head = true;
        settings.posterior.initial_std = initial_std;
        let (splits, device) = (splits(validation), Device::flex());
        let job = Job::new(settings, Some(checkpoint), splits, None, &device).unwrap();
        let (memory, events) = complete_with_events(job, None);
        let kept = memory.kept();
        let told = events.into_iter().find_map(|event| match event {
            Event::InitialStd { initial_std, .. } => Some(initial_std),
            _ => None,
        });
        let file = PosteriorFile::from_bytes(kept.posterior.clone()).unwrap();
        let Posterior::LowRankEnsemble(ensemble) = file.posterior() else {
            panic!("another posterior");
        };
        let written = &file.header().run["posterior"];
        let start = kept.evaluations[0].calibrated.as_ref();
        (
            start.map(|start| start.calibration.temperature),
            written.get("initial_std").and_then(|std| std.as_f64()),
            ensemble.initial_std,
            told,
        )
    };
    let (temperature, written, std, told) = started(&checkpoint, "test:0.2", None);
    let expected = PosteriorSettings::default().initial_std_for(temperature.unwrap());
    assert_eq!(Some(std), expected);
    assert_eq!(told, expected);
    assert_eq!(written.map(|std| std as f32), expected, "what it was");
    assert_eq!(started(&checkpoint, "none", None), (None, None, 0.2, None));
    let (_, _, std, told) = started(&checkpoint, "test:0.2", Some(0.07));
    assert_eq!((std, told), (0.07, None));
    // A network whose last layer is new is neither sure nor unsure of anything.
    let architecture: Architecture = "digits-cnn".parse().unwrap();
    let architecture = architecture.with_classes(4);
    let network = architecture.init(&Device::flex()).unwrap();
    let other = network.into_bayes(Point::train(10)).unwrap();
    let other = other.to_file(&Header::of(architecture)).unwrap();
    let other = Checkpoint::from_bytes(other).unwrap();
    assert_eq!(started(&other, "test:0.2", None).2, 0.2);
}

#[test]
fn a_temperature_changes_no_predicted_class() {
    let job = validated_job(settings(Method::Map), "0.2");
    let memory = complete_job(job, None);
    let kept = memory.kept();
    let calibrated = kept.evaluations[0].calibrated.as_ref().unwrap();
    let (images, nll) = (calibrated.calibration.images, calibrated.calibration.nll);
    assert_eq!(images, 288, "a fifth of 1,442 training images");
    assert!(nll.is_finite() && calibrated.scores.nll.is_finite());
    let accuracy = kept.evaluations[0].scores.accuracy;
    assert_eq!(
        calibrated.scores.accuracy, accuracy,
        "the order of classes stays"
    );
}

#[test]
fn a_run_with_validation_and_ood_images_goes_on_bit_for_bit() {
    let mut settings = settings(Method::Pse);
    settings.data.ood_train = vec!["doodles".to_owned()];
    settings.training.ood_batch = Some(40);
    let whole = complete_job(validated_job(settings.clone(), "test:0.2"), None);
    let whole = whole.kept();
    let information = whole.history[0].ood_mutual_information.unwrap();
    assert!(
        information > 0.0 && information < 2f64.ln(),
        "{information}"
    );
    for (position, bytes) in &whole.states {
        let state = TrainState::from_bytes(bytes).unwrap();
        let job = validated_job(settings.clone(), "test:0.2");
        let again = complete_job(job, Some(state));
        let again = again.kept();
        assert!(again.posterior == whole.posterior, "from {position:?}");
        let histories = [&again.history, &whole.history].map(|rows| timeless(rows));
        assert_eq!(histories[0], histories[1], "from {position:?}");
    }
}

#[test]
fn ood_images_raise_the_disagreement_of_draws() {
    let trained = |ood_train: &[&str]| {
        let mut settings = settings(Method::Pse);
        settings.training.epochs = 8;
        settings.training.rates.lr = 2e-2;
        settings.data.ood_train = ood_train.iter().map(|&kind| kind.to_owned()).collect();
        let others: Arc<dyn Dataset> = Arc::new(bayesadapter::data::scribbles(100, 0));
        let others = Some(("scribbles".to_owned(), others));
        let job = Job::new(settings, None, splits("none"), others, &Device::flex()).unwrap();
        let memory = complete_job(job, None);
        let kept = memory.kept();
        let ood = kept.evaluations[0].out_of_distribution.as_ref().unwrap();
        let information = &ood.examples.mutual_information;
        information.iter().sum::<f64>() / information.len() as f64
    };
    let (without, with) = (trained(&[]), trained(&["doodles"]));
    assert!(with > 2.0 * without, "{with} and {without} nats");
}

#[test]
fn regularisation_without_draws_is_refused() {
    for (method, estimator) in [
        (Method::Map, Estimator::Exemplar),
        (Method::Pse, Estimator::Vanilla),
    ] {
        let mut settings = settings(method);
        settings.training.estimator = estimator;
        settings.data.ood_train = vec!["noise".to_owned()];
        let refused = Job::new(settings, None, splits("none"), None, &Device::flex());
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("ood_train"), "{method}: {error}");
    }
}
