//! Data that are broken, other than they were, or too few.

use super::*;
use bayesadapter::{
    data::{BatchSettings, Batches, DataError, Picture, Pictures, Preparation},
    models::Normalisation,
};

/// The first digits, some of which cannot be read.
pub struct Holey {
    whole: Pictures,
    len: usize,
    broken: Box<dyn Fn(usize) -> bool + Send + Sync>,
}

impl Holey {
    pub fn of(
        len: usize,
        broken: impl Fn(usize) -> bool + Send + Sync + 'static,
    ) -> Arc<dyn Dataset> {
        let (whole, broken) = (digits(Split::Train), Box::new(broken));
        Arc::new(Self { whole, len, broken })
    }
}

impl Dataset for Holey {
    fn len(&self) -> usize {
        self.len
    }

    fn class_names(&self) -> &[String] {
        self.whole.class_names()
    }

    fn label(&self, index: usize) -> u32 {
        self.whole.label(index)
    }

    fn picture(&self, index: usize) -> Result<Picture, DataError> {
        match (self.broken)(index) {
            true => Err(DataError::Broken {
                name: self.name(index),
                reason: "made so".to_owned(),
            }),
            false => self.whole.picture(index),
        }
    }

    fn name(&self, index: usize) -> String {
        format!("digit {index}")
    }
}

#[test]
fn a_batch_that_cannot_be_read_is_passed_over_wherever_it_is() {
    for accumulate in [1, 2] {
        let mut settings = settings(Method::Mfg);
        settings.training.batch = 1;
        settings.training.epochs = 8;
        settings.training.checkpoint_steps = 1;
        settings.training.accumulate = accumulate;
        settings.data.skip_broken = true;
        // Three batches in an order that changes from epoch to epoch: one of them is empty, sometimes the last.
        let job = || job_on(settings.clone(), Holey::of(3, |index| index == 1));
        let whole = Memory::default();
        let (ended, warnings) = ending(job(), None, whole.clone());
        assert_eq!(ended.unwrap(), Ending::Finished);
        assert_eq!(
            warnings,
            ["digit 1 (made so) cannot be read and was passed over"]
        );
        let whole = whole.kept();
        let steps = 8 * 3_usize.div_ceil(accumulate);
        let places: Vec<usize> = whole.states.iter().map(|(at, _)| at.step).collect();
        assert!(places.into_iter().eq(1..=steps));
        for (position, bytes) in whole.states.iter().step_by(3) {
            let state = TrainState::from_bytes(bytes).unwrap();
            let again = complete_job(job(), Some(state));
            assert!(
                again.kept().posterior == whole.posterior,
                "{accumulate} from {position:?}"
            );
        }
    }
}

#[test]
fn a_run_does_not_go_on_with_other_data() {
    let mut settings = settings(Method::Map);
    settings.training.batch = 4;
    settings.training.epochs = 1;
    let job = |examples| job_on(settings.clone(), Holey::of(examples, |_| false));
    let whole = complete_job(job(40), None);
    let resumed = |settings: &RunSettings, examples| {
        let state = TrainState::from_bytes(&whole.kept().states[0].1).unwrap();
        let job = job_on(settings.clone(), Holey::of(examples, |_| false));
        ending(job, Some(state), Memory::default()).0.unwrap_err()
    };
    let error = resumed(&settings, 12);
    assert!(
        matches!(
            error,
            SessionError::OtherData {
                saved: 40,
                found: 12
            }
        ),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("40 pictures") && text.contains("12 now"),
        "{text}"
    );
    // Nor with other batches of the same data.
    settings.training.batch = 10;
    let error = resumed(&settings, 40).to_string();
    assert!(
        error.contains("after step 5") && error.contains("4 mini-batches in an epoch"),
        "{error}"
    );
}

/// A picture of a batch of the first epoch, for 40 pictures and batches of two.
fn picture_of_batch(batch: usize, seed: u64) -> usize {
    let preparation = Preparation::new([1, 8, 8], Normalisation::digits(1));
    let settings = BatchSettings {
        shuffle: true,
        seed,
        ..BatchSettings::new(2, preparation)
    };
    let batches = Batches::new(Holey::of(40, |_| false), settings).unwrap();
    batches.epoch(0, batch).next().unwrap().unwrap().examples[0]
}

#[test]
fn a_picture_that_ends_a_run_costs_nothing_that_was_learnt() {
    // With three batches in a step, the broken one is in the middle of a step.
    for accumulate in [1, 3] {
        let mut settings = settings(Method::Map);
        settings.training.batch = 2;
        settings.training.epochs = 1;
        settings.training.checkpoint_steps = 1_000;
        settings.training.accumulate = accumulate;
        let memory = Memory::default();
        let picture = picture_of_batch(10, settings.seed);
        let broken = job_on(
            settings.clone(),
            Holey::of(40, move |index| index == picture),
        );
        let (ended, _) = ending(broken, None, memory.clone());
        let error = ended.unwrap_err();
        assert!(
            error.to_string().contains(&format!("digit {picture} ")),
            "{error}"
        );
        let (position, bytes) = memory.kept().states.last().cloned().unwrap();
        assert_eq!(position.step, 10 / accumulate);
        // Once it is mended, the run goes on as if nothing had been.
        let mended = || job_on(settings.clone(), Holey::of(40, |_| false));
        let whole = complete_job(mended(), None);
        let state = TrainState::from_bytes(&bytes).unwrap();
        let again = complete_job(mended(), Some(state));
        assert!(again.kept().posterior == whole.kept().posterior);
        assert_eq!(
            timeless(&again.kept().history),
            timeless(&whole.kept().history)
        );
    }
}

#[test]
fn a_run_that_a_picture_ended_goes_on_without_it() {
    let mut settings = settings(Method::Map);
    settings.training.batch = 2;
    settings.training.epochs = 2;
    let picture = picture_of_batch(10, settings.seed);
    let job = |skip_broken| {
        let mut settings = settings.clone();
        settings.data.skip_broken = skip_broken;
        job_on(settings, Holey::of(40, move |index| index == picture))
    };
    let memory = Memory::default();
    let (ended, _) = ending(job(false), None, memory.clone());
    let error = ended.unwrap_err();
    assert!(
        matches!(error, SessionError::Data(DataError::Broken { .. })),
        "{error}"
    );
    let (position, bytes) = memory.kept().states.last().cloned().unwrap();
    assert_eq!(position.step, 10);
    let whole = complete_job(job(true), None);
    let again = complete_job(job(true), Some(TrainState::from_bytes(&bytes).unwrap()));
    assert!(again.kept().posterior == whole.kept().posterior);
    assert_eq!(
        timeless(&again.kept().history),
        timeless(&whole.kept().history)
    );
}

#[test]
fn pictures_that_cannot_be_judged_are_told_by_name() {
    let mut settings = settings(Method::Map);
    settings.training.epochs = 1;
    settings.training.batch = 10;
    settings.evaluation.batch = 2;
    settings.data.skip_broken = true;
    // One of a batch, and all of the last one.
    let test = Holey::of(12, |index| index == 5 || index >= 10);
    let other = Holey::of(6, |index| index == 3);
    let job = Job::new(
        settings,
        None,
        Splits::new(Holey::of(10, |_| false), test),
        Some(("others".to_owned(), other)),
        &Device::flex(),
    );
    let memory = Memory::default();
    let (ended, warnings) = ending(job.unwrap(), None, memory.clone());
    assert_eq!(ended.unwrap(), Ending::Finished);
    let told = [5, 10, 11, 3]
        .map(|index| format!("digit {index} (made so) cannot be read and was passed over"));
    assert_eq!(warnings, told);
    let kept = memory.kept();
    let [evaluation] = &kept.evaluations[..] else {
        panic!("{} evaluations", kept.evaluations.len());
    };
    let others = evaluation.out_of_distribution.as_ref().unwrap();
    assert_eq!((evaluation.scores.examples, others.examples.len()), (9, 5));
    // Which pictures the nine are, can be told.
    assert_eq!(evaluation.passed_over, [5, 10, 11]);
    let judged: Vec<usize> = (0..9).map(|at| evaluation.picture_of(at)).collect();
    assert_eq!(judged, [0, 1, 2, 3, 4, 6, 7, 8, 9]);
    let pictures = digits(Split::Train);
    let labels: Vec<u32> = judged.iter().map(|&at| pictures.label(at)).collect();
    assert_eq!(labels, evaluation.labels);
}

#[test]
fn what_cannot_be_judged_is_refused_before_anything_is_learnt() {
    let refused = |settings: RunSettings, test: Arc<dyn Dataset>| {
        let train = Holey::of(20, |_| false);
        let splits = Splits::new(train, test);
        match Job::new(settings, None, splits, None, &Device::flex()) {
            Ok(_) => panic!("this should have been refused"),
            Err(error) => error.to_string(),
        }
    };
    let usual = || Holey::of(9, |_| false);
    let mut no_draws = settings(Method::Pse);
    no_draws.evaluation.draws = 0;
    let mut no_batch = settings(Method::Pse);
    no_batch.evaluation.batch = 0;
    let error = refused(no_draws, usual());
    assert!(error.contains("evaluation.draws is 0"), "{error}");
    let error = refused(no_batch, usual());
    assert!(error.contains("evaluation.batch is 0"), "{error}");
    let too_few = Splits::hold_out(usual(), 0);
    let error = refused(settings(Method::Pse), too_few.test);
    assert!(error.contains("no class has ten"), "{error}");
}
