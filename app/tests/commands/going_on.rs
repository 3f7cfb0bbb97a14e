//! Runs that go on: past a broken picture, from another folder, and with files that were moved.

use super::{judged::bars, path, refused, said, text};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A folder in which a run ended at a picture of its data that cannot be read.
struct Ended {
    scratch: tempfile::TempDir,
    output: Output,
}

impl Ended {
    fn at(broken: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let data = scratch.path().join("bars");
        bars(&data.join("train"), ["lying", "upright"], 6);
        bars(&data.join("test"), ["lying", "upright"], 2);
        fs::write(data.join(broken), "no picture").unwrap();
        // All paths are relative to the folder that the program is started in.
        let arguments = [
            "pretrain", "--data", "bars", "--epochs", "1", "--batch", "4", "--device", "cpu",
            "--out", "run",
        ];
        let output = Command::new(env!("CARGO_BIN_EXE_bayesadapter"))
            .args(arguments)
            .current_dir(scratch.path())
            .output()
            .unwrap();
        Self { scratch, output }
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn run(&self) -> String {
        path(&self.inside("run")).to_owned()
    }

    fn run_file(&self) -> String {
        fs::read_to_string(self.inside("run/run.toml")).unwrap()
    }

    /// Where the run file says that the data are.
    fn data(&self) -> PathBuf {
        let settings: toml::Table = self.run_file().parse().unwrap();
        let data = Path::new(settings["data"]["path"].as_str().unwrap());
        assert!(data.is_absolute(), "{}", data.display());
        data.canonicalize().unwrap()
    }
}

#[test]
fn a_broken_picture_is_passed_over_once_the_user_says_so() {
    for broken in ["train/upright/0.png", "test/upright/0.png"] {
        let ended = Ended::at(broken);
        let error = text(&ended.output.stderr);
        assert_eq!(ended.output.status.code(), Some(3), "{error}");
        assert!(error.contains(broken), "{error}");
        let told = text(&ended.output.stdout);
        assert!(told.contains("--resume run --skip-broken"), "{told}");
        assert!(ended.run_file().contains("skip_broken = false"));
        // From another folder.
        let told = said(&["pretrain", "--resume", &ended.run(), "--skip-broken"]);
        assert!(told.contains("s per epoch"), "{told}");
        assert!(ended.run_file().contains("skip_broken = true"));
        assert_eq!(ended.data(), ended.inside("bars").canonicalize().unwrap());
        // What is left of the test pictures is in the report all the same.
        let page = fs::read_to_string(ended.inside("run/report.html")).unwrap();
        assert!(page.contains("Which images is it sure of?"), "{broken}");
    }
}

#[test]
fn a_run_goes_on_where_its_data_are_now() {
    let ended = Ended::at("test/upright/0.png");
    let (run, moved) = (ended.run(), ended.inside("moved"));
    fs::rename(ended.inside("bars"), &moved).unwrap();
    let resume = ["pretrain", "--resume", &run];
    let (code, error) = refused(&resume);
    assert!(code == 3 && error.contains("bars"), "{code}: {error}");
    // Files that it did not have from its start are refused.
    for flag in ["--weights", "--ood"] {
        let (code, error) = refused(&[&resume[..], &[flag, path(&moved)]].concat());
        assert!(code == 3 && error.contains(flag), "{code}: {error}");
    }
    let other = ["--data", path(&moved), "--workers", "2", "--skip-broken"];
    said(&[&resume[..], &other].concat());
    assert_eq!(ended.data(), moved.canonicalize().unwrap());
    assert!(ended.run_file().contains("workers = 2"));
}

#[test]
fn a_run_file_tells_of_the_last_device_and_whose_run_it_is() {
    let ended = Ended::at("test/upright/0.png");
    let data = ended.inside("bars/test/upright");
    fs::copy(data.join("1.png"), data.join("0.png")).unwrap();
    let before = ended.run_file();
    let device = |text: &str| -> String {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("# device:"));
        line.unwrap().to_owned()
    };
    let elsewhere = before.replace(&device(&before), "# device: of another computer");
    let of_demo = format!("# A run of bayesadapter's demo\n{elsewhere}");
    fs::write(ended.inside("run/run.toml"), of_demo).unwrap();
    said(&["pretrain", "--resume", &ended.run()]);
    let after = ended.run_file();
    assert_eq!(device(&after), device(&before));
    assert!(
        after.starts_with("# A run of bayesadapter's demo\n# A run of bayesadapter "),
        "{after}"
    );
    let versions = after.lines().nth(1).unwrap();
    for part in [env!("CARGO_PKG_VERSION"), "Burn 0.", std::env::consts::OS] {
        assert!(versions.contains(part), "{part}: {versions}");
    }
}
