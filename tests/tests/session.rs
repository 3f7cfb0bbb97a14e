//! A run as its users see it: commands in, events out, states that go on.

use bayesadapter::{
    data::{Dataset, Split, digits},
    evaluate::Evaluation,
    file::FileError,
    session::{
        Command, Control, Ending, Event, HistoryRow, Job, Keeper, Method, OwnThread, Phase,
        RunSettings, SessionError, Splits, connect, run, spawn,
    },
    train::{FineTuning, Position, TrainState},
};
use burn::tensor::{Device, read_sync};
use std::sync::{Arc, Mutex};

/// Keeps everything in memory, and fails where it is told to.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    states: Vec<(Position, Vec<u8>)>,
    history: Vec<HistoryRow>,
    posterior: Vec<u8>,
    evaluations: Vec<Evaluation>,
    full: bool,
}

impl Keeper for Memory {
    fn state(&mut self, position: Position, bytes: Vec<u8>) -> Result<(), FileError> {
        let mut kept = self.0.lock().unwrap();
        if kept.full {
            return Err(FileError::Io {
                path: "state".to_owned(),
                error: std::io::ErrorKind::StorageFull.into(),
            });
        }
        kept.states.push((position, bytes));
        Ok(())
    }

    fn history(&mut self, history: &[HistoryRow]) -> Result<(), FileError> {
        self.0.lock().unwrap().history = history.to_vec();
        Ok(())
    }

    fn posterior(&mut self, bytes: Vec<u8>) -> Result<(), FileError> {
        self.0.lock().unwrap().posterior = bytes;
        Ok(())
    }

    fn evaluation(&mut self, evaluation: &Evaluation) -> Result<(), FileError> {
        self.0.lock().unwrap().evaluations.push(evaluation.clone());
        Ok(())
    }
}

fn settings(method: Method) -> RunSettings {
    let mut settings = RunSettings::default();
    settings.posterior.method = method;
    settings.posterior.components = 3;
    settings.training.batch = 128;
    settings.training.epochs = 2;
    settings.training.checkpoint_steps = 5;
    settings.evaluation.draws = 2;
    settings
}

fn job(settings: RunSettings) -> Job {
    let (train, test) = (digits(Split::Train), digits(Split::Test));
    let job = Job::new(
        settings,
        None,
        Arc::new(train),
        Arc::new(test),
        None,
        &Device::flex(),
    );
    job.unwrap()
}

/// Without the seconds, which no two runs share.
fn timeless(history: &[HistoryRow]) -> Vec<HistoryRow> {
    let timeless = |row: &HistoryRow| HistoryRow {
        seconds: 0.0,
        ..row.clone()
    };
    history.iter().map(timeless).collect()
}

fn complete(settings: RunSettings, resumed: Option<TrainState>) -> Memory {
    let mut memory = Memory::default();
    let (_control, port) = connect();
    let ending = read_sync(run(job(settings), resumed, &mut memory, &port, &OwnThread));
    assert_eq!(ending.unwrap(), Ending::Finished);
    memory
}

#[test]
fn a_run_goes_on_from_every_saved_state_bit_for_bit() {
    for method in [Method::Map, Method::Mfg, Method::Pse] {
        let mut settings = settings(method);
        settings.training.accumulate = 2;
        settings.training.clip_norm = Some(1.0);
        settings.data.augmentation.crop_padding = 1;
        let whole = complete(settings.clone(), None);
        let whole = whole.0.lock().unwrap();
        assert!(whole.states.len() >= 4, "{} states", whole.states.len());
        for (position, bytes) in &whole.states {
            let state = TrainState::from_bytes(bytes).unwrap();
            assert_eq!(state.position, *position);
            let again = complete(settings.clone(), Some(state));
            let again = again.0.lock().unwrap();
            assert!(
                again.posterior == whole.posterior,
                "{method} from {position:?}"
            );
            assert_eq!(
                timeless(&again.history),
                timeless(&whole.history),
                "{method} from {position:?}"
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    let run = |seed| {
        let mut settings = settings(Method::Mfg);
        settings.seed = seed;
        settings.training.epochs = 1;
        complete(settings, None).0.lock().unwrap().posterior.clone()
    };
    assert!(run(1) == run(1));
    assert!(run(1) != run(2));
}

fn until(control: &Control, mut wanted: impl FnMut(&Event) -> bool) {
    while let Some(event) = control.next_event() {
        if wanted(&event) {
            return;
        }
    }
    panic!("the run ended before what was waited for");
}

#[test]
fn pause_rates_and_stop_are_obeyed_between_steps() {
    let mut settings = settings(Method::Pse);
    settings.training.epochs = 200;
    let memory = Memory::default();
    let (control, thread) = spawn(job(settings), None, memory.clone());
    until(&control, |event| matches!(event, Event::Progress(_)));
    control.send(Command::Pause);
    until(&control, |event| {
        matches!(
            event,
            Event::Phase {
                phase: Phase::Paused
            }
        )
    });
    let paused = control.latest().progress.unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(control.latest().progress.unwrap().position, paused.position);
    let path = "DigitsCnn.conv1.weight";
    control.send(Command::ShowLayer(path.to_owned()));
    until(&control, |event| {
        matches!(event, Event::Layer(layer) if layer.path == path
            && layer.movement.as_ref().is_some_and(|movement| movement.share > 0.0))
    });
    control.send(Command::ShowLayer("conv9".to_owned()));
    until(
        &control,
        |event| matches!(event, Event::Warning { message } if message.contains("conv9")),
    );
    control.send(Command::SetRates(FineTuning {
        mean_rate: 1e-5,
        ..FineTuning::default()
    }));
    control.send(Command::Resume);
    until(
        &control,
        |event| matches!(event, Event::Progress(progress) if progress.rates.mean == 1e-5),
    );
    control.send(Command::Stop);
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Stopped);
    let (position, bytes) = memory.0.lock().unwrap().states.last().cloned().unwrap();
    assert!(position.step > 0);
    assert_eq!(TrainState::from_bytes(&bytes).unwrap().position, position);
}

#[test]
fn no_progress_is_told_without_a_step() {
    let (control, thread) = spawn(job(settings(Method::Map)), None, Memory::default());
    let mut steps = Vec::new();
    while let Some(event) = control.next_event() {
        if let Event::Progress(progress) = event {
            assert!(progress.likelihood_loss > 0.0, "{progress:?}");
            steps.push(progress.position.step);
        }
    }
    thread.join().unwrap().unwrap();
    assert!(
        steps.is_sorted_by(|before, after| before < after),
        "{steps:?}"
    );
}

#[test]
fn a_full_disk_is_told_and_the_run_goes_on() {
    let memory = Memory::default();
    memory.0.lock().unwrap().full = true;
    let (control, thread) = spawn(job(settings(Method::Mfg)), None, memory.clone());
    let mut warnings = 0;
    while let Some(event) = control.next_event() {
        if let Event::Warning { message } = event {
            assert!(message.contains("could not be saved"), "{message}");
            warnings += 1;
        }
    }
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Finished);
    let kept = memory.0.lock().unwrap();
    assert!(warnings > 0 && kept.states.is_empty());
    assert!(!kept.posterior.is_empty() && kept.evaluations.len() == 1);
}

#[test]
fn a_run_that_diverges_ends_at_its_last_good_state() {
    let mut settings = settings(Method::Mfg);
    settings.training.rates.mean_rate = 1e30;
    let memory = Memory::default();
    let (_control, thread) = spawn(job(settings), None, memory.clone());
    let error = thread.join().unwrap().unwrap_err();
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
    let kept = memory.0.lock().unwrap();
    let (position, bytes) = kept.states.last().unwrap();
    assert_eq!(position.step, *back);
    // Weights and running statistics are as they were, so the run can go on.
    let (control, thread) = spawn(
        job(self::settings(Method::Mfg)),
        Some(TrainState::from_bytes(bytes).unwrap()),
        Memory::default(),
    );
    control.send(Command::SetRates(FineTuning::default()));
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Finished);
}

#[test]
fn commands_that_come_while_a_network_is_judged_are_not_lost() {
    let pretrained = complete(settings(Method::Map), None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("map.safetensors");
    std::fs::write(&file, &pretrained.0.lock().unwrap().posterior).unwrap();
    let mut judging = settings(Method::Pse);
    judging.model.weights = Some(file.display().to_string());
    let job = Job::open(judging, &Device::flex()).unwrap();
    let (control, thread) = spawn(job, None, Memory::default());
    until(&control, |event| matches!(event, Event::Evaluating { .. }));
    control.send(Command::SetRates(FineTuning {
        mean_rate: 1e-5,
        ..FineTuning::default()
    }));
    until(
        &control,
        |event| matches!(event, Event::Progress(progress) if progress.rates.mean == 1e-5),
    );
    control.send(Command::Stop);
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Stopped);
}

#[test]
fn a_damaged_state_is_refused() {
    let whole = complete(settings(Method::Pse), None);
    let bytes = whole.0.lock().unwrap().states[0].1.clone();
    for place in (0..bytes.len()).step_by(997) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        assert!(TrainState::from_bytes(&damaged).is_err(), "byte {place}");
    }
    for length in (0..bytes.len()).step_by(4099) {
        assert!(
            TrainState::from_bytes(&bytes[..length]).is_err(),
            "length {length}"
        );
    }
}

#[test]
fn settings_survive_their_file_and_wrong_names_are_refused() {
    for name in bayesadapter::session::PRESETS {
        let mut settings = RunSettings::preset(name).unwrap();
        settings.model.weights = Some("weights.pth".to_owned());
        settings.training.clip_norm = Some(1.0);
        settings.posterior.layers = bayesadapter::posterior::Select::paths(["fc.*"]);
        let text = settings.to_toml().unwrap();
        assert_eq!(RunSettings::from_toml(&text).unwrap(), settings, "{text}");
    }
    let error = RunSettings::from_toml("[training]\nepoch = 3")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("epoch") && error.contains("epochs"),
        "{error}"
    );
    let error = RunSettings::from_toml("device = 'tpu'")
        .unwrap_err()
        .to_string();
    assert!(error.contains("gpu:N"), "{error}");
}

#[test]
fn of_data_in_one_piece_a_tenth_of_every_class_is_kept_back() {
    let whole = digits(Split::Train);
    let names = |data: &dyn Dataset| -> Vec<String> {
        (0..data.len()).map(|index| data.name(index)).collect()
    };
    let split = |seed| Splits::hold_out(Arc::new(whole.clone()), seed);
    let Splits { train, test } = split(0);
    let mut all = [names(&*train), names(&*test)].concat();
    all.sort();
    let mut expected = names(&whole);
    expected.sort();
    assert_eq!(all, expected, "every picture is on one side");
    for class in 0..10 {
        let count = |data: &dyn Dataset| {
            (0..data.len())
                .filter(|&index| data.label(index) == class)
                .count()
        };
        assert_eq!(
            count(&*test),
            (count(&*train) + count(&*test)) / 10,
            "class {class}"
        );
    }
    assert_eq!(names(&*split(0).test), names(&*test));
    assert_ne!(names(&*split(1).test), names(&*test));
}
