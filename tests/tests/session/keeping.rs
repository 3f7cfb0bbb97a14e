//! What a run keeps: in its folder, on a full disk, and after numbers ran away.

use super::{refusing::put_aside, *};
use bayesadapter::session::RunFolder;

#[test]
fn a_full_disk_is_told_and_the_run_goes_on() {
    let memory = Memory::refusing(&["state"]);
    let (ended, warnings) = ending(job(settings(Method::Mfg)), None, memory.clone());
    assert_eq!(ended.unwrap(), Ending::Finished);
    assert!(!warnings.is_empty());
    for warning in warnings {
        assert!(warning.contains("could not be saved"), "{warning}");
    }
    let kept = memory.kept();
    assert!(kept.states.is_empty());
    assert!(!kept.posterior.is_empty() && kept.evaluations.len() == 1);
}

#[test]
fn a_stop_that_cannot_be_saved_is_an_error() {
    let (control, thread) = spawn(
        job(settings(Method::Mfg)),
        None,
        Memory::refusing(&["state"]),
    );
    until(&control, |event| matches!(event, Event::Progress(_)));
    control.send(Command::Stop);
    let error = thread.join().unwrap().unwrap_err();
    let SessionError::NotSaved { step, .. } = error else {
        panic!("{error}");
    };
    let aside = TrainState::from_bytes(&put_aside(&error.to_string())).unwrap();
    assert_eq!(aside.position.step, step);
    // The history is in the state: a stop without its file is whole.
    let memory = Memory::refusing(&["history"]);
    let (control, thread) = spawn(job(settings(Method::Mfg)), None, memory.clone());
    until(&control, |event| matches!(event, Event::Progress(_)));
    control.send(Command::Stop);
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Stopped);
    assert!(!memory.kept().states.is_empty());
}

#[test]
fn at_the_end_all_is_kept_that_finds_room() {
    let memory = Memory::refusing(&["history", "posterior"]);
    let (ended, warnings) = ending(job(settings(Method::Mfg)), None, memory.clone());
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("posterior"), "{error}");
    let told = |part: &str| warnings.iter().any(|warning| warning.contains(part));
    assert!(told("the history could not be written") && told("the posterior could not"));
    let kept = memory.kept();
    assert_eq!(kept.evaluations.len(), 1);
    // The state after the last step is there, so the rest is made once there is room.
    let state = TrainState::from_bytes(&kept.states.last().unwrap().1).unwrap();
    let again = complete(settings(Method::Mfg), Some(state));
    assert!(!again.kept().posterior.is_empty());
}

#[test]
fn a_run_that_diverges_ends_at_its_last_good_state() {
    let mut wild = settings(Method::Mfg);
    wild.training.rates.lr = 1e30;
    // Each step is saved, also the one that ruins the weights: that shows only at the next.
    wild.training.checkpoint_steps = 1;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let folder = RunFolder::create(&path, &wild, "").unwrap();
    let error = ending(job(wild.clone()), None, folder).0.unwrap_err();
    let SessionError::NotFinite {
        what, step, back, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert!(back < step, "{error}");
    assert!(
        what.contains("weight") || what.contains("bias") || what.contains("loss"),
        "{error}"
    );
    let (folder, _) = RunFolder::open(&path).unwrap();
    let (state, damaged) = folder.state().unwrap();
    let state = state.unwrap();
    assert!(damaged.is_empty());
    assert_eq!(state.position.step, *back);
    // Weights and running statistics are as they were, so the run can go on.
    let (ended, _) = ending(job(settings(Method::Mfg)), Some(state), folder);
    assert_eq!(ended.unwrap(), Ending::Finished);
}

/// The states of a run whose second step ruins the weights: after none, and after one.
fn good_and_bad() -> [(Position, Vec<u8>); 2] {
    let mut wild = settings(Method::Mfg);
    wild.training.rates.lr = 1e30;
    wild.training.checkpoint_steps = 1;
    /// Keeps every state, whatever it is told to forget.
    #[derive(Clone, Default)]
    struct All(Memory);
    impl Keeper for All {
        fn state(&mut self, position: Position, bytes: Vec<u8>) -> Result<(), FileError> {
            self.0.state(position, bytes)
        }
        fn forget_states(&mut self, _: usize) -> Result<(), FileError> {
            Ok(())
        }
        fn settings(&mut self, settings: &RunSettings) -> Result<(), FileError> {
            self.0.settings(settings)
        }
        fn history(&mut self, history: &[HistoryRow]) -> Result<(), FileError> {
            self.0.history(history)
        }
        fn posterior(&mut self, bytes: Vec<u8>) -> Result<(), FileError> {
            self.0.posterior(bytes)
        }
        fn evaluation(&mut self, evaluation: &Evaluation) -> Result<(), FileError> {
            self.0.evaluation(evaluation)
        }
    }
    let all = All::default();
    ending(job(wild), None, all.clone()).0.unwrap_err();
    let mut states = std::mem::take(&mut all.0.kept().states);
    states.sort_by_key(|(position, _)| position.step);
    states.try_into().unwrap()
}

#[test]
fn a_run_that_was_saved_in_a_bad_state_goes_on_from_the_one_before() {
    let [good, bad] = good_and_bad();
    let (from, step) = (good.0.step, bad.0.step);
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let mut folder = RunFolder::create(&path, &settings(Method::Mfg), "").unwrap();
    for (position, bytes) in [good, bad] {
        Keeper::state(&mut folder, position, bytes).unwrap();
    }
    drop(folder);
    let resume = || {
        let (folder, settings) = RunFolder::open(&path).unwrap();
        let state = RunFolder::state(&folder).unwrap().0.unwrap();
        let position = state.position;
        (position, ending(job(settings), Some(state), folder).0)
    };
    let (position, ended) = resume();
    let error = ended.unwrap_err();
    assert_eq!(position.step, step);
    assert!(
        matches!(error, SessionError::BadStart { step: found, .. } if found == step),
        "{error}"
    );
    let (position, ended) = resume();
    assert_eq!(position.step, from);
    assert_eq!(ended.unwrap(), Ending::Finished);
}

#[test]
fn history_goes_on_in_the_middle_of_a_row() {
    let mut settings = settings(Method::Mfg);
    // 361 steps, 7 in a row.
    settings.training.batch = 4;
    settings.training.epochs = 1;
    settings.training.checkpoint_steps = 100;
    let whole = complete(settings.clone(), None);
    let whole = whole.kept();
    assert!(whole.history.len() < 60, "{} rows", whole.history.len());
    let (position, bytes) = &whole.states[1];
    assert_eq!(position.step, 200);
    let state = || Some(TrainState::from_bytes(bytes).unwrap());
    let again = complete(settings.clone(), state());
    assert_eq!(timeless(&again.kept().history), timeless(&whole.history));
    assert!(again.kept().posterior == whole.posterior);
    // The first word after it was resumed knows the complexity loss.
    let (control, thread) = spawn(job(settings), state(), Memory::default());
    let last = whole.history.iter().rfind(|row| row.step <= 200).unwrap();
    until(&control, |event| match event {
        Event::Progress(progress) => {
            assert_eq!(progress.complexity_loss, last.complexity_loss);
            true
        }
        _ => false,
    });
    control.send(Command::Stop);
    thread.join().unwrap().unwrap();
}

#[test]
fn learning_rates_that_are_set_on_the_way_last() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let mut long = settings(Method::Mfg);
    long.training.epochs = 200;
    let folder = RunFolder::create(&path, &long, "a test\ndevice: none").unwrap();
    let opened = job(long);
    // With the augmentation that suits the images.
    let mut long = opened.settings.clone();
    let (control, thread) = spawn(opened, None, folder);
    let slow = FineTuning {
        lr: 1e-5,
        schedule: Schedule::Constant,
        ..FineTuning::default()
    };
    control.send(Command::SetRates(slow.clone()));
    until(
        &control,
        |event| matches!(event, Event::Progress(progress) if progress.rates.lr == 1e-5),
    );
    control.send(Command::Stop);
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Stopped);
    let text = std::fs::read_to_string(path.join("run.toml")).unwrap();
    assert!(text.starts_with("# a test\n# device: none\n"), "{text}");
    let (folder, found) = RunFolder::open(&path).unwrap();
    long.training.rates = slow;
    assert_eq!(found, long);
    let state = RunFolder::state(&folder).unwrap().0.unwrap();
    let written = &state.header().run["training"]["rates"]["lr"];
    assert_eq!(written.as_f64(), Some(1e-5));
    let (control, thread) = spawn(job(found), Some(state), folder);
    until(&control, |event| match event {
        Event::Progress(progress) => {
            assert_eq!(progress.rates.lr, 1e-5);
            true
        }
        _ => false,
    });
    control.send(Command::Stop);
    thread.join().unwrap().unwrap();
}

/// A run that ended before its first state was saved has judged what it starts from.
#[test]
fn a_start_that_was_judged_on_the_same_pictures_is_not_judged_again() {
    let pretrained = complete(settings(Method::Map), None);
    let scratch = tempfile::tempdir().unwrap();
    let weights = scratch.path().join("map.safetensors");
    std::fs::write(&weights, &pretrained.kept().posterior).unwrap();
    let mut tuning = settings(Method::Pse);
    tuning.training.epochs = 1;
    tuning.model.weights = Some(weights.display().to_string());
    let told = |name: &str, known: &Evaluation| {
        let path = scratch.path().join(name);
        let mut folder = RunFolder::create(path, &tuning, "").unwrap();
        Keeper::evaluation(&mut folder, known).unwrap();
        let job = Job::open(tuning.clone(), &Device::flex()).unwrap();
        let (control, port) = connect();
        read_sync(run(job, None, &mut folder, &port, &OwnThread)).unwrap();
        let judged = control.events().into_iter().find_map(|event| match event {
            Event::Evaluated(one) if one.method == "MAP" => Some(one.scores.accuracy),
            _ => None,
        });
        judged.unwrap()
    };
    let honest = pretrained.kept().evaluations[0].clone();
    // No network is that bad: it tells what was read from what was found out.
    let mut known = honest.clone();
    known.scores.accuracy = -1.0;
    assert_eq!(told("the same", &known), -1.0);
    let unknown = Evaluation {
        network: String::new(),
        ..known.clone()
    };
    assert_eq!(
        told("of an earlier version", &unknown),
        honest.scores.accuracy
    );
    known.labels[0] = (known.labels[0] + 1) % 10;
    assert_eq!(told("others", &known), honest.scores.accuracy);
    // Other weights in the same place.
    let mut otherwise = settings(Method::Map);
    otherwise.training.epochs = 1;
    let otherwise = complete(otherwise, None);
    std::fs::write(&weights, &otherwise.kept().posterior).unwrap();
    let mut known = honest.clone();
    known.scores.accuracy = -1.0;
    let expected = otherwise.kept().evaluations[0].scores.accuracy;
    assert_eq!(told("other weights", &known), expected);
}
