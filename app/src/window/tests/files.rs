//! Files that are dropped, and runs that they start.

use super::{
    setup::checkpoint,
    worker::{bell, wait_until},
};
use crate::window::{
    bell::Bell,
    compare,
    errand::Errand,
    news::News,
    platform::Computer,
    runner::{Plan, Runner},
    sort::{Found, sort, to_compare},
};
use bayesadapter::{
    data::Augmentation,
    file::Header,
    models::Architecture,
    posterior::{IntoBayes, LowRankEnsemble, Posterior},
    session::{Command, DeviceChoice, Ending, Method, Phase, RunFolder, RunSettings},
};
use burn::tensor::{Device, read_sync};
use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Duration,
};

/// A posterior of no run.
pub fn posterior() -> Vec<u8> {
    posterior_of(serde_json::Map::new())
}

/// A posterior of a run with these settings, as a file has them.
pub fn posterior_of(run: serde_json::Map<String, serde_json::Value>) -> Vec<u8> {
    file_of(LowRankEnsemble::fine_tune(10), run)
}

/// The file of a network that knows nothing.
pub fn file_of(
    posterior: impl Into<Posterior>,
    run: serde_json::Map<String, serde_json::Value>,
) -> Vec<u8> {
    let architecture: Architecture = "digits-cnn".parse().unwrap();
    let network = architecture.init(&Device::flex()).unwrap();
    let bayes = network.into_bayes(posterior).unwrap();
    let header = Header {
        run,
        ..Header::of(architecture)
    };
    bayes.to_file(&header).unwrap()
}

/// The settings of a run, as a file has them.
pub fn table(settings: &RunSettings) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(settings).unwrap() {
        serde_json::Value::Object(table) => table,
        other => panic!("settings are a table, not {other}"),
    }
}

pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

pub fn image(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(width, height, image::Rgb([200, 30, 30]));
    picture
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

#[test]
fn files_are_known_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Whatever they are called.
    let path = write(folder, "a", &posterior());
    assert!(matches!(sort(path), Ok(Found::Posterior(_))));
    let path = write(folder, "b.safetensors", &checkpoint());
    assert!(matches!(sort(path), Ok(Found::Weights(_))));
    let path = write(folder, "c.jpg", &image(8, 8));
    assert!(matches!(sort(path), Ok(Found::Picture(_))));
    let path = write(folder, "run.toml", b"seed = 3");
    assert!(matches!(sort(path), Ok(Found::Settings(settings)) if settings.seed == 3));
    let pictures = folder.join("pictures");
    for class in ["cat", "dog"] {
        for number in 0..3 {
            write(&pictures, &format!("{class}/{number}.png"), &image(8, 8));
        }
    }
    // Without classes nobody can learn from them, but be asked about them.
    let loose = sort(pictures.join("cat"));
    assert!(matches!(loose, Ok(Found::Pictures { paths, .. }) if paths.len() == 3));
    assert!(matches!(sort(pictures), Ok(Found::Data(_))));
    let run = folder.join("stopped");
    drop(RunFolder::create(&run, &RunSettings::default(), "a test").unwrap());
    assert!(matches!(sort(run.clone()), Ok(Found::StoppedRun { .. })));
    // Who compares wants the networks, whether the run goes on or not; a folder of runs is for nothing else.
    assert!(matches!(to_compare(run.clone()), Ok(Found::Networks(path)) if path == run));
    let weights = to_compare(folder.join("b.safetensors"));
    assert!(matches!(weights, Ok(Found::Weights(_))));
    let runs = folder.join("runs");
    drop(RunFolder::create(runs.join("one"), &RunSettings::default(), "a test").unwrap());
    assert!(matches!(sort(runs), Ok(Found::Networks(_))));
}

#[test]
fn what_fits_nothing_is_told_with_what_would() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let told = |path: PathBuf| format!("{:#}", sort(path).err().unwrap());
    let text = told(write(folder, "notes.txt", b"nothing of use"));
    assert!(
        text.contains("notes.txt") && text.contains("run folders"),
        "{text}"
    );
    let text = told(folder.join("missing.png"));
    assert!(text.contains("missing.png"), "{text}");
    let mut damaged = posterior();
    *damaged.last_mut().unwrap() ^= 1;
    let text = told(write(folder, "damaged.safetensors", &damaged));
    assert!(text.contains("checksum"), "{text}");
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(told(empty).contains("empty"));
}

/// Small enough for a test.
pub fn settings() -> RunSettings {
    let mut settings = RunSettings {
        device: DeviceChoice::Cpu,
        ..RunSettings::default()
    };
    settings.data.path = "few-digits".to_owned();
    settings.training.epochs = 3;
    settings.evaluation.draws = 2;
    settings.posterior.components = 2;
    settings
}

/// Waits for the end of a run, and tells it to stop at the first sign of life if it should.
fn follow(runner: &mut Runner, stop: bool) -> Vec<Ending> {
    let mut endings = Vec::new();
    for _ in 0..3_000 {
        for news in runner.poll() {
            match news {
                News::Began { .. } if stop => runner.tell(Command::Stop),
                News::Ended { ending, .. } => endings.push(ending.unwrap()),
                News::Over(done) => {
                    done.unwrap();
                    return endings;
                }
                _ => {}
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the run does not end");
}

#[test]
fn a_run_rings_and_what_it_does_is_known_before_its_events_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings();
    settings.training.epochs = 10;
    let plans = vec![Plan {
        folder: folder.path().join("own"),
        settings,
    }];
    let (bell, rung) = bell();
    let mut runner = Runner::new(plans, Computer::default(), bell);
    assert_eq!(runner.phase(), Phase::Ended);
    wait_until(|| rung.load(Ordering::Relaxed));
    assert!(matches!(runner.poll()[..], [News::Began { .. }, ..]));
    runner.tell(Command::Pause);
    wait_until(|| runner.phase() == Phase::Paused);
    runner.tell(Command::Resume);
    wait_until(|| runner.phase() != Phase::Paused);
    assert_eq!(follow(&mut runner, false), [Ending::Finished]);
    assert_eq!(runner.phase(), Phase::Ended);
}

#[test]
fn a_run_is_stopped_goes_on_and_is_compared_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("own");
    let plans = vec![Plan {
        folder: run.clone(),
        settings: settings(),
    }];
    let computer = Computer::default();
    let mut runner = Runner::new(plans.clone(), computer.clone(), Bell::default());
    assert_eq!(follow(&mut runner, true), [Ending::Stopped]);
    drop(runner);
    let Ok(Found::StoppedRun {
        settings: found, ..
    }) = sort(run.clone())
    else {
        panic!("the run is not known as stopped");
    };
    let mut written = settings();
    // What suits images of 8 x 8.
    written.data.augmentation = Some(Augmentation::default());
    assert_eq!(*found, written);
    let mut runner = Runner::new(plans.clone(), computer.clone(), Bell::default());
    assert_eq!(follow(&mut runner, false), [Ending::Finished]);
    assert!(matches!(sort(run.clone()), Ok(Found::FinishedRun { .. })));
    let mut runner = Runner::new(plans, computer.clone(), Bell::default());
    assert!(follow(&mut runner, false).is_empty());

    let first = |path: &Path| {
        let found = read_sync(compare::read(path, &computer)).unwrap();
        found.runs.into_iter().next().unwrap()
    };
    let (of_run, of_runs) = (first(&run), first(folder.path()));
    assert_eq!(of_run.evaluations, of_runs.evaluations);
    // A file that lies in no run is judged, and comes to the same.
    let alone = folder.path().join("alone.safetensors");
    std::fs::copy(run.join("posterior.safetensors"), &alone).unwrap();
    let judged = first(&alone);
    let last = of_run.evaluations.last().unwrap();
    assert_eq!(judged.evaluations[0].scores.accuracy, last.scores.accuracy);
    assert_eq!(judged.evaluations[0].method, Method::Pse.to_string());

    let done = read_sync(Errand::Report(run.clone()).run(&computer)).unwrap();
    let News::Saved { path, show: true } = done else {
        panic!("no report");
    };
    assert_eq!(path, run.join("report.html"));
    assert!(
        std::fs::read_to_string(path)
            .unwrap()
            .contains("few-digits")
    );
}
