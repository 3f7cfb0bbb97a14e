//! A run that is killed at any moment goes on where it was, bit for bit.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bayesadapter");

/// Kills in all, at least, and in one run, at most.
const KILLS: usize = 30;
const KILLS_PER_RUN: usize = 12;
/// Kills in all, at least, that hit a run between its first state and its result.
const KILLS_HALFWAY: usize = 10;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(["--quiet"])
        .args(arguments)
        .stdout(Stdio::null());
    command
}

fn finish(arguments: &[&str]) {
    let output = program(arguments).stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{arguments:?}: {}: {text}",
        output.status
    );
}

/// The arguments of a new run, or of its resumption.
fn arguments<'a>(folder: &'a Path, weights: &'a str) -> Vec<&'a str> {
    let path = folder.to_str().unwrap();
    match folder.join("run.toml").exists() {
        true => vec!["finetune", "--resume", path],
        false => vec![
            "finetune",
            "--weights",
            weights,
            "--posterior",
            "pse",
            "--components",
            "4",
            "--epochs",
            "3",
            "--batch",
            "64",
            "--checkpoint-steps",
            "2",
            "--draws",
            "2",
            "--device",
            "cpu",
            "--out",
            path,
        ],
    }
}

/// The states that a run has saved.
fn states(folder: &Path) -> BTreeSet<OsString> {
    let files = fs::read_dir(folder.join("checkpoints"));
    let files = files.into_iter().flatten();
    let names = files.map(|file| file.unwrap().file_name());
    let is_whole = |name: &OsString| Path::new(name).extension() == Some("safetensors".as_ref());
    names.filter(is_whole).collect()
}

/// What a run leaves, without what depends on the clock.
fn results(folder: &Path) -> (Vec<u8>, [String; 2], Vec<String>) {
    let posterior = fs::read(folder.join("posterior.safetensors")).unwrap();
    let evaluation = ["map.json", "pse.json"]
        .map(|name| fs::read_to_string(folder.join("evaluations").join(name)).unwrap());
    let history = fs::read_to_string(folder.join("metrics.csv")).unwrap();
    let rows = history
        .lines()
        .map(|line| line.rsplit_once(',').unwrap().0.to_owned());
    (posterior, evaluation, rows.collect())
}

#[derive(Default)]
struct Kills {
    landed: usize,
    /// Those after which there was a state to go on from, and no result.
    halfway: usize,
}

/// A run that is killed several times.
fn killed_and_resumed(folder: &Path, weights: &str, seed: u64) -> Kills {
    // Moments that differ from run to run and from kill to kill, and repeat when the test does.
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut kills = Kills::default();
    while kills.landed < KILLS_PER_RUN {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let before = states(folder);
        let mut child = program(&arguments(folder, weights))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Any moment from the start on; and then one after a state was saved, however fast the machine is.
        let most = match kills.landed % 2 {
            0 => 400,
            _ => {
                while child.try_wait().unwrap().is_none() && states(folder) == before {
                    std::thread::sleep(Duration::from_millis(1));
                }
                50
            }
        };
        std::thread::sleep(Duration::from_millis(state % most));
        if child.try_wait().unwrap().is_some() {
            // It came to its end before the kill: on to the next run.
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills.landed += 1;
        let finished = folder.join("posterior.safetensors").exists();
        kills.halfway += usize::from(!finished && !states(folder).is_empty());
    }
    finish(&arguments(folder, weights));
    kills
}

#[test]
fn killed_runs_come_to_the_same_end() {
    let scratch = tempfile::tempdir().unwrap();
    let inside = |name: &str| -> PathBuf { scratch.path().join(name) };
    let map = inside("map");
    finish(&[
        "pretrain",
        "--epochs",
        "2",
        "--batch",
        "64",
        "--device",
        "cpu",
        "--out",
        map.to_str().unwrap(),
    ]);
    let weights = map.join("posterior.safetensors");
    let weights = weights.to_str().unwrap();
    let whole = inside("whole");
    finish(&arguments(&whole, weights));
    let expected = results(&whole);
    let (mut kills, mut run) = (Kills::default(), 0);
    while kills.landed < KILLS {
        run += 1;
        let folder = inside(&format!("killed-{run}"));
        let of_run = killed_and_resumed(&folder, weights, run);
        assert!(of_run.landed > 0, "no kill hit run {run}; make it longer");
        kills.landed += of_run.landed;
        kills.halfway += of_run.halfway;
        let found = results(&folder);
        assert_eq!(found.2, expected.2, "history of run {run}");
        assert_eq!(found.1, expected.1, "evaluation of run {run}");
        assert!(found.0 == expected.0, "posterior of run {run}");
    }
    let halfway = kills.halfway;
    assert!(
        halfway >= KILLS_HALFWAY,
        "{halfway} kills hit a run halfway"
    );
}
