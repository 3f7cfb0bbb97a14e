//! How the program speaks to scripts, and how it is interrupted.

use super::{path, program, runs, said, text};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

#[test]
fn json_lines_tell_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let lines = said(&[
        "--json",
        "pretrain",
        "--epochs",
        "1",
        "--batch",
        "256",
        "--device",
        "cpu",
        "--out",
        path(&out),
    ]);
    let events: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    for kind in [
        "phase",
        "prepared",
        "progress",
        "saved",
        "evaluated",
        "finished",
    ] {
        assert!(kinds.contains(&kind), "{kind} is not among {kinds:?}");
    }
    let progress = events
        .iter()
        .find(|event| event["event"] == "progress")
        .unwrap();
    assert!(progress["likelihood_loss"].as_f64().unwrap() > 0.0);
}

fn events(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn devices_are_listed_under_the_names_that_are_taken() {
    let told = events(&said(&["--json", "devices"]));
    assert!(told.iter().all(|event| event["event"] == "device"));
    let named = |choice: &str| -> Option<String> {
        let found = told.iter().find(|event| event["choice"] == choice)?;
        found["name"].as_str().map(str::to_owned)
    };
    assert!(named("cpu").unwrap().starts_with("CPU"));
    assert!(named("auto").is_some());
    // The tests need an adapter, if one in software.
    assert!(
        named("gpu").is_some() && named("gpu:0").is_some(),
        "{told:?}"
    );
    let text = said(&["devices"]);
    assert!(
        text.contains("\ngpu:0") && text.contains("\nauto"),
        "{text}"
    );
    assert_eq!(said(&["--quiet", "devices"]), "");
    let taken = said(&["predict", "--help"]);
    assert!(taken.contains("gpu:N"), "{taken}");
}

#[test]
fn kernels_that_do_not_exist_are_told_of() {
    let warning = |kernels: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bayesadapter"));
        let command = command.arg("devices").env("BAYESADAPTER_KERNELS", kernels);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        text(&output.stderr)
    };
    let told = warning("sofware");
    assert!(
        told.contains("\"sofware\"") && told.contains("BAYESADAPTER_KERNELS: there are"),
        "{told}"
    );
    assert!(!warning("software").contains("BAYESADAPTER_KERNELS"));
    assert!(said(&["devices", "--help"]).contains("BAYESADAPTER_KERNELS"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
        .arg("devices")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn every_result_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let (weights, report) = (folder.path().join("weights"), folder.path().join("report"));
    let (map, mfg) = runs();
    let posterior = map.join("posterior.safetensors");
    let last = |arguments: &[&str]| -> Value {
        let lines = said(&[&["--json"][..], arguments].concat());
        events(&lines).pop().unwrap()
    };
    let exported = last(&["export", path(&posterior), "--out", path(&weights)]);
    assert_eq!(exported["file"], path(&weights));
    let judged = last(&[
        "evaluate",
        path(&posterior),
        "--data",
        "digits",
        "--device",
        "cpu",
        "--out",
        path(&report),
    ]);
    assert_eq!(judged["report"], path(&report.join("report.html")));
    let again = last(&["finetune", "--resume", path(mfg)]);
    assert_eq!(again["event"], "finished");
}

/// A run whose events are read as they come.
#[cfg(unix)]
struct Watched {
    child: Child,
    events: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

#[cfg(unix)]
impl Watched {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
            .arg("--json")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let events = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, events }
    }

    /// The next event of a kind.
    fn wait_for(&mut self, kind: &str) -> Value {
        let mut events = self
            .events
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        events.find(|event| event["event"] == kind).unwrap()
    }

    /// Ctrl-C, and the exit code that follows.
    fn interrupt(mut self) -> (Value, Option<i32>) {
        let pid = self.child.id().to_string();
        let killed = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(killed.success());
        let stopped = self.wait_for("stopped");
        (stopped, self.child.wait().unwrap().code())
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_says_how_it_goes_on_and_does() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut run = Watched::start(&[
        "pretrain",
        "--epochs",
        "100000",
        "--batch",
        "64",
        "--device",
        "cpu",
        "--out",
        path(&out),
    ]);
    run.wait_for("progress");
    let (stopped, code) = run.interrupt();
    assert_eq!(code, Some(130));
    let resume = stopped["resume"].as_str().unwrap();
    let mut run = Watched::start(&["pretrain", "--resume", resume]);
    let prepared = run.wait_for("prepared");
    assert!(
        prepared["position"]["step"].as_u64().unwrap() > 0,
        "{prepared}"
    );
    run.wait_for("progress");
    assert_eq!(run.interrupt().1, Some(130));
}

#[test]
#[cfg(unix)]
fn an_interrupted_sweep_keeps_what_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let posterior = runs().1.join("posterior.safetensors");
    let mut sweep = Watched::start(&[
        "evaluate",
        path(&posterior),
        "--data",
        "digits",
        "--corruption",
        "all",
        "--draws",
        "50",
        "--device",
        "cpu",
        "--out",
        path(folder.path()),
    ]);
    sweep.wait_for("corruption");
    let (stopped, code) = sweep.interrupt();
    assert_eq!(code, Some(130));
    let file = stopped["corruptions"].as_str().unwrap();
    let kept = std::fs::read_to_string(file).unwrap();
    // Whole lines: of clean images, and of a part of the 18 types and 5 severities.
    assert!(kept.ends_with('\n'));
    let finished = kept
        .lines()
        .filter(|line| line.contains(",gaussian_noise,"));
    assert!(finished.count() > 0, "{kept}");
    assert!(!kept.contains(",saturate,5,"), "{kept}");
}

#[test]
fn damage_is_told_to_scripts_and_to_the_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let start = |speech: &str| {
        let run = out.join(speech);
        said(&[
            "pretrain",
            "--epochs",
            "2",
            "--batch",
            "256",
            "--device",
            "cpu",
            "--out",
            path(&run),
        ]);
        std::fs::remove_file(run.join("posterior.safetensors")).unwrap();
        let states = std::fs::read_dir(run.join("checkpoints")).unwrap();
        let last = states.map(|state| state.unwrap().path()).max().unwrap();
        std::fs::write(last, "damaged").unwrap();
        let output = program(&[speech, "pretrain", "--resume", path(&run)]);
        assert!(output.status.success());
        output
    };
    let told = events(&text(&start("--json").stdout));
    let warned = |event: &Value| {
        event["event"] == "warning" && event["message"].to_string().contains("damaged")
    };
    assert_eq!(
        told.iter().filter(|event| warned(event)).count(),
        1,
        "{told:?}"
    );
    let quiet = start("--quiet");
    assert!(quiet.stdout.is_empty());
    assert!(text(&quiet.stderr).contains("is damaged"));
}
