//! The commands as a user calls them.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod attack;
mod corruptions;
mod going_on;
mod judged;
mod refusals;
mod speech;

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

fn program(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
        .args(arguments)
        .output();
    command.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The standard output of a call that must succeed.
fn said(arguments: &[&str]) -> String {
    let output = program(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}\n{}",
        output.status,
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Exit code and standard error of a call that must fail.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = program(arguments);
    assert!(
        !output.status.success(),
        "{arguments:?} succeeded: {}",
        text(&output.stdout)
    );
    (output.status.code().unwrap(), text(&output.stderr))
}

/// A network trained a little, and fine-tuned to an MFG, which all tests look at.
fn runs() -> &'static (PathBuf, PathBuf) {
    static RUNS: OnceLock<(tempfile::TempDir, (PathBuf, PathBuf))> = OnceLock::new();
    let (_, runs) = RUNS.get_or_init(|| {
        let scratch = tempfile::tempdir().unwrap();
        let (map, mfg) = (scratch.path().join("map"), scratch.path().join("mfg"));
        said(&[
            "pretrain",
            "--epochs",
            "4",
            "--batch",
            "32",
            "--lambda",
            "5e-4",
            "--mean-rate",
            "0.05",
            "--device",
            "cpu",
            "--ood",
            "scribbles",
            "--out",
            path(&map),
        ]);
        said(&[
            "finetune",
            "--weights",
            path(&map.join("posterior.safetensors")),
            "--posterior",
            "mfg",
            "--epochs",
            "1",
            "--batch",
            "32",
            "--lambda",
            "5e-4",
            "--draws",
            "4",
            "--device",
            "cpu",
            "--ood",
            "scribbles",
            "--out",
            path(&mfg),
        ]);
        (scratch, (map, mfg))
    });
    runs
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn posterior() -> String {
    path(&runs().1.join("posterior.safetensors")).to_owned()
}

#[test]
fn a_run_leaves_settings_history_posterior_and_report() {
    let (map, mfg) = runs();
    for file in [
        "run.toml",
        "metrics.csv",
        "metrics.json",
        "posterior.safetensors",
        "report.html",
    ] {
        assert!(map.join(file).exists() && mfg.join(file).exists(), "{file}");
    }
    let page = fs::read_to_string(mfg.join("report.html")).unwrap();
    assert!(
        page.contains("MFG") && page.contains("MAP"),
        "the report compares with MAP"
    );
    // The run file is complete: the same run comes from it alone.
    let again = mfg.with_file_name("again");
    said(&[
        "finetune",
        "--config",
        path(&mfg.join("run.toml")),
        "--out",
        path(&again),
    ]);
    let bytes = |folder: &Path| fs::read(folder.join("posterior.safetensors")).unwrap();
    assert!(bytes(&again) == bytes(mfg));
}

#[test]
fn a_dry_run_tells_the_plan_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let plan = said(&[
        "finetune",
        "--dry-run",
        "--posterior",
        "mfg",
        "--layers",
        "fc2.*",
        "--device",
        "cpu",
        "--out",
        path(&out),
    ]);
    for part in [
        "architecture = \"digits-cnn\"",
        "method = \"mfg\"",
        "Estimate:",
        "2 tensors got a posterior",
        "epochs of 1442 pictures",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert!(!out.exists());
}

#[test]
fn pictures_get_a_class_and_its_uncertainty() {
    let folder = tempfile::tempdir().unwrap();
    let (digit, broken) = (
        folder.path().join("one.png"),
        folder.path().join("broken.png"),
    );
    image::GrayImage::from_fn(8, 8, |x, _| {
        image::Luma([if (3..5).contains(&x) { 255 } else { 0 }])
    })
    .save(&digit)
    .unwrap();
    fs::write(&broken, b"no picture").unwrap();
    let told = said(&["predict", &posterior(), path(&digit), "--device", "cpu"]);
    assert!(
        told.contains("mutual information") && told.contains('%'),
        "{told}"
    );
    let line = said(&[
        "--json",
        "predict",
        &posterior(),
        path(&digit),
        "--device",
        "cpu",
        "--draws",
        "7",
    ]);
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["draws"], 7);
    let sum: f64 = line["probabilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_f64().unwrap())
        .sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    // A broken picture is told by name, and does not hide the others.
    let output = program(&[
        "predict",
        &posterior(),
        path(&broken),
        path(&digit),
        "--device",
        "cpu",
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("broken.png"));
    assert!(text(&output.stdout).contains("one.png"));
}

#[test]
fn what_is_exported_is_what_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (mean, again) = (
        folder.path().join("mean.safetensors"),
        folder.path().join("again"),
    );
    said(&["export", &posterior(), "--out", path(&mean)]);
    let listing = said(&["inspect", path(&mean)]);
    assert!(
        listing.contains("conv1.weight") && listing.contains("safetensors"),
        "{listing}"
    );
    // The exported weights are judged as the mean network was.
    said(&[
        "finetune",
        "--weights",
        path(&mean),
        "--posterior",
        "pse",
        "--components",
        "2",
        "--epochs",
        "1",
        "--batch",
        "256",
        "--draws",
        "1",
        "--device",
        "cpu",
        "--out",
        path(&again),
    ]);
    let evaluation =
        |file: PathBuf| -> Value { serde_json::from_slice(&fs::read(file).unwrap()).unwrap() };
    let exported = evaluation(again.join("evaluations/map.json"));
    let original = evaluation(runs().1.join("evaluations/mfg.json"));
    assert_eq!(
        exported["scores"]["accuracy"],
        original["curve"]["mean_network"]["accuracy"]
    );
    let draw = folder.path().join("draw.safetensors");
    said(&["export", &posterior(), "--draw", "3", "--out", path(&draw)]);
    assert!(fs::read(&draw).unwrap() != fs::read(&mean).unwrap());
}

#[test]
fn a_posterior_file_can_be_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("kernels.png");
    let told = said(&["inspect", &posterior(), "--kernels", path(&picture)]);
    assert!(
        told.contains("MFG posterior of digits-cnn") && told.contains("conv1.weight"),
        "{told}"
    );
    assert!(image::open(&picture).unwrap().width() > 50);
    let (code, error) = refused(&[
        "inspect",
        &posterior(),
        "--kernels",
        path(&picture),
        "--layer",
        "nowhere",
    ]);
    assert!(
        code == 3 && error.contains("nowhere") && error.contains("conv1.weight"),
        "{code}: {error}"
    );
}

#[test]
fn networks_are_compared_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let map = runs().0.join("posterior.safetensors");
    let table = said(&[
        "evaluate",
        path(&map),
        &posterior(),
        "--data",
        "digits",
        "--ood",
        "scribbles",
        "--draws",
        "3",
        "--device",
        "cpu",
        "--out",
        path(folder.path()),
    ]);
    assert!(table.contains("MAP") && table.contains("MFG"), "{table}");
    let ood = "OOD images (scribbles, 360): AUROC, AP, FPR at 95 % TPR";
    assert!(table.contains(ood), "{table}");
    assert!(folder.path().join("report.html").exists());
    let corrupted = said(&[
        "evaluate",
        path(&map),
        "--data",
        "digits",
        "--corruption",
        "contrast",
        "--device",
        "cpu",
    ]);
    assert!(corrupted.contains("MAP"), "{corrupted}");
}

#[test]
fn a_run_is_not_overwritten() {
    let (_, mfg) = runs();
    let (code, error) = refused(&[
        "finetune",
        "--weights",
        &posterior(),
        "--out",
        path(mfg),
        "--device",
        "cpu",
    ]);
    assert!(code == 6 && error.contains("resume"), "{code}: {error}");
    assert!(said(&["finetune", "--resume", path(mfg)]).contains("finished"));
}

#[test]
fn a_run_that_diverged_goes_on_with_lower_rates() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let out = path(&out);
    let start = [
        "pretrain", "--epochs", "1", "--batch", "256", "--device", "cpu", "--out", out,
    ];
    let (code, error) = refused(&[&start[..], &["--mean-rate", "1e30"]].concat());
    assert!(
        code == 4 && error.contains("Lower the learning rates"),
        "{code}: {error}"
    );
    // What cannot change on the way is refused, instead of being passed over.
    let (code, error) = refused(&["pretrain", "--resume", out, "--epochs", "9"]);
    assert!(code == 2 && error.contains("--epochs"), "{code}: {error}");
    said(&[
        "pretrain",
        "--resume",
        out,
        "--mean-rate",
        "0.01",
        "--clip-norm",
        "1",
    ]);
    // The run file says with what the run came to its end.
    let settings = fs::read_to_string(Path::new(out).join("run.toml")).unwrap();
    for line in ["clip_norm = 1.0", "lr = 0.01"] {
        assert!(settings.contains(line), "{line}: {settings}");
    }
    // A run that was ended before its report has it afterwards.
    let report = Path::new(out).join("report.html");
    fs::remove_file(&report).unwrap();
    assert!(said(&["pretrain", "--resume", out]).contains("Report:"));
    assert!(report.exists());
}

#[test]
fn what_was_changed_when_a_run_went_on_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let out = path(&out);
    let start = [
        "pretrain", "--epochs", "1", "--batch", "256", "--device", "cpu", "--out", out,
    ];
    let wild = ["--mean-rate", "1e30"];
    assert_eq!(refused(&[&start[..], &wild].concat()).0, 4);
    // Still too high, but a change.
    let resume = ["pretrain", "--resume", out];
    let changes = ["--mean-rate", "1e29", "--spread-rate", "0.05"];
    assert_eq!(refused(&[&resume[..], &changes].concat()).0, 4);
    said(&[&resume[..], &["--mean-rate", "0.01"]].concat());
    let settings = fs::read_to_string(Path::new(out).join("run.toml")).unwrap();
    for line in ["lr = 0.01", "variational_lr = 0.05"] {
        assert!(settings.contains(line), "{line}: {settings}");
    }
    let page = fs::read_to_string(Path::new(out).join("report.html")).unwrap();
    assert!(
        page.contains("0.05"),
        "the report tells the rates that held"
    );
}
