//! A run as its users see it: commands in, events out, states that go on.

mod broken;
mod devices;
mod diverging;
mod keeping;
mod looking;
mod refusing;
mod validation;
mod version_0_1;

use bayesadapter::{
    data::{Augmentation, Dataset, Split, ValidationSplit, digits},
    evaluate::Evaluation,
    file::{FileError, PosteriorFile},
    session::{
        Command, Control, Ending, Event, HistoryRow, Job, Keeper, Method, OwnThread, Phase,
        RunSettings, SessionError, Splits, connect, run, spawn,
    },
    train::{FineTuning, Position, Schedule, TrainState},
};
use burn::tensor::{Device, read_sync};
use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

/// Keeps everything in memory, and fails where it is told to.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    states: Vec<(Position, Vec<u8>)>,
    history: Vec<HistoryRow>,
    posterior: Vec<u8>,
    evaluations: Vec<Evaluation>,
    /// What finds the disk full.
    refused: &'static [&'static str],
}

impl Memory {
    fn refusing(refused: &'static [&'static str]) -> Self {
        Self(Arc::new(Mutex::new(Kept {
            refused,
            ..Kept::default()
        })))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    fn keep(&self, what: &str, put: impl FnOnce(&mut Kept)) -> Result<(), FileError> {
        let mut kept = self.kept();
        if kept.refused.contains(&what) {
            return Err(FileError::Io {
                path: what.to_owned(),
                error: std::io::ErrorKind::StorageFull.into(),
            });
        }
        put(&mut kept);
        Ok(())
    }
}

impl Keeper for Memory {
    fn state(&mut self, position: Position, bytes: Vec<u8>) -> Result<(), FileError> {
        self.keep("state", |kept| kept.states.push((position, bytes)))
    }

    fn forget_states(&mut self, step: usize) -> Result<(), FileError> {
        let earlier = |(position, _): &(Position, Vec<u8>)| position.step < step;
        self.keep("state", |kept| kept.states.retain(earlier))
    }

    fn settings(&mut self, _: &RunSettings) -> Result<(), FileError> {
        Ok(())
    }

    fn history(&mut self, history: &[HistoryRow]) -> Result<(), FileError> {
        self.keep("history", |kept| kept.history = history.to_vec())
    }

    fn posterior(&mut self, bytes: Vec<u8>) -> Result<(), FileError> {
        self.keep("posterior", |kept| kept.posterior = bytes)
    }

    fn evaluation(&mut self, evaluation: &Evaluation) -> Result<(), FileError> {
        self.keep("evaluation", |kept| {
            kept.evaluations.push(evaluation.clone());
        })
    }
}

fn settings(method: Method) -> RunSettings {
    let mut settings = RunSettings::default();
    settings.posterior.method = method;
    settings.data.validation = ValidationSplit::None;
    settings.posterior.components = 3;
    settings.training.batch = 128;
    settings.training.epochs = 2;
    settings.training.checkpoint_steps = 5;
    settings.evaluation.draws = 2;
    settings
}

fn job(settings: RunSettings) -> Job {
    job_on(settings, Arc::new(digits(Split::Train)))
}

fn job_on(settings: RunSettings, train: Arc<dyn Dataset>) -> Job {
    let test = Arc::new(digits(Split::Test));
    let splits = Splits::new(train, test);
    Job::new(settings, None, splits, None, &Device::flex()).unwrap()
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
    complete_job(job(settings), resumed)
}

fn complete_job(job: Job, resumed: Option<TrainState>) -> Memory {
    complete_with_events(job, resumed).0
}

/// What a run keeps, and those of its events that no later one replaces.
fn complete_with_events(job: Job, resumed: Option<TrainState>) -> (Memory, Vec<Event>) {
    let mut memory = Memory::default();
    let (control, port) = connect();
    let ending = read_sync(run(job, resumed, &mut memory, &port, &OwnThread));
    assert_eq!(ending.unwrap(), Ending::Finished);
    (memory, control.events())
}

/// How a run ended that must end soon, and what it warned of.
fn ending(
    job: Job,
    resumed: Option<TrainState>,
    keeper: impl Keeper + Send + 'static,
) -> (Result<Ending, SessionError>, Vec<String>) {
    let (control, thread) = spawn(job, resumed, keeper);
    let mut warnings = Vec::new();
    for _ in 0..6_000 {
        let over = control.is_over();
        warnings.extend(
            control
                .events()
                .into_iter()
                .filter_map(|event| match event {
                    Event::Warning { message } => Some(message),
                    _ => None,
                }),
        );
        if over {
            return (thread.join().unwrap(), warnings);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the run does not end");
}

#[test]
fn a_run_goes_on_from_every_saved_state_bit_for_bit() {
    for method in [Method::Map, Method::Mfg, Method::Pse] {
        let mut settings = settings(method);
        settings.training.accumulate = 2;
        settings.training.clip_norm = Some(1.0);
        settings.data.augmentation = Some(Augmentation {
            crop_padding: 1,
            ..Augmentation::default()
        });
        let whole = complete(settings.clone(), None);
        let whole = whole.kept();
        assert!(whole.states.len() >= 4, "{} states", whole.states.len());
        for (position, bytes) in &whole.states {
            let state = TrainState::from_bytes(bytes).unwrap();
            assert_eq!(state.position, *position);
            let again = complete(settings.clone(), Some(state));
            let again = again.kept();
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
        complete(settings, None).kept().posterior.clone()
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
    std::thread::sleep(Duration::from_millis(100));
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
        lr: 1e-5,
        schedule: Schedule::Constant,
        ..FineTuning::default()
    }));
    control.send(Command::Resume);
    until(
        &control,
        |event| matches!(event, Event::Progress(progress) if progress.rates.lr == 1e-5),
    );
    control.send(Command::Stop);
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Stopped);
    let (position, bytes) = memory.kept().states.last().cloned().unwrap();
    assert!(position.step > 0);
    assert_eq!(TrainState::from_bytes(&bytes).unwrap().position, position);
    let posterior = TrainState::posterior_in(&bytes).unwrap();
    assert!(PosteriorFile::from_bytes(posterior).is_ok());
    assert!(TrainState::posterior_in(posterior).is_err());
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
fn commands_that_come_while_a_network_is_judged_are_not_lost() {
    let pretrained = complete(settings(Method::Map), None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("map.safetensors");
    std::fs::write(&file, &pretrained.kept().posterior).unwrap();
    let mut judging = settings(Method::Pse);
    judging.model.weights = Some(file.display().to_string());
    let job = Job::open(judging, &Device::flex()).unwrap();
    let (control, thread) = spawn(job, None, Memory::default());
    until(&control, |event| matches!(event, Event::Evaluating { .. }));
    control.send(Command::SetRates(FineTuning {
        lr: 1e-5,
        schedule: Schedule::Constant,
        ..FineTuning::default()
    }));
    until(
        &control,
        |event| matches!(event, Event::Progress(progress) if progress.rates.lr == 1e-5),
    );
    control.send(Command::Stop);
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Stopped);
}

#[test]
fn a_damaged_state_is_refused() {
    let whole = complete(settings(Method::Pse), None);
    let bytes = whole.kept().states[0].1.clone();
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
    let Splits { train, test, .. } = split(0);
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
