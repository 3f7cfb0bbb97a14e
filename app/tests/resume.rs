//! A run that is killed at any moment goes on where it was, bit for bit.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bayesadapter");

/// Kills in all, at least, and in one run, at most.
const KILLS: usize = 30;
const KILLS_PER_RUN: usize = 12;

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

/// What a run leaves, without what depends on the clock.
fn results(folder: &Path) -> (Vec<u8>, String, Vec<String>) {
    let posterior = fs::read(folder.join("posterior.safetensors")).unwrap();
    let evaluation = fs::read_to_string(folder.join("evaluations/pse.json")).unwrap();
    let history = fs::read_to_string(folder.join("metrics.csv")).unwrap();
    let rows = history
        .lines()
        .map(|line| line.rsplit_once(',').unwrap().0.to_owned());
    (posterior, evaluation, rows.collect())
}

/// A run that is killed several times; returns how often.
fn killed_and_resumed(folder: &Path, weights: &str, seed: u64) -> usize {
    // Moments that differ from run to run and from kill to kill, and repeat when the test does.
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut landed = 0;
    while landed < KILLS_PER_RUN {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let mut child = program(&arguments(folder, weights))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + state % 400));
        if child.try_wait().unwrap().is_some() {
            // It came to its end before the kill: on to the next run.
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        landed += 1;
    }
    finish(&arguments(folder, weights));
    landed
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
    let (mut kills, mut run) = (0, 0);
    while kills < KILLS {
        run += 1;
        let folder = inside(&format!("killed-{run}"));
        let landed = killed_and_resumed(&folder, weights, run);
        assert!(landed > 0, "no kill hit run {run}; make it longer");
        kills += landed;
        let found = results(&folder);
        assert_eq!(found.2, expected.2, "history of run {run}");
        assert_eq!(found.1, expected.1, "evaluation of run {run}");
        assert!(found.0 == expected.0, "posterior of run {run}");
    }
}
