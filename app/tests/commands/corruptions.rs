//! Sweeps over all corruptions, and parts of the test set.

use super::{path, posterior, refused, runs, said};
use serde_json::Value;
use std::{fs, path::Path};

/// A sweep of one severity on ten images, which tells JSON lines.
fn sweep<'a>(files: &[&'a str], data: &'a str, out: &'a Path) -> Vec<&'a str> {
    let mut call = vec!["--json", "evaluate"];
    call.extend(files);
    call.extend(["--data", data, "--images", "10", "--corruption", "all"]);
    call.extend(["--severity", "1", "--draws", "2", "--device", "cpu"]);
    call.extend(["--out", path(out)]);
    call
}

fn events(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The cells that were told of.
fn cells(events: &[Value]) -> Vec<&Value> {
    events
        .iter()
        .filter(|event| event["event"] == "corruption")
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_sweep_tells_means_and_goes_on_from_what_is_finished() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("sweep");
    let (map, mfg) = (runs().0.join("posterior.safetensors"), posterior());
    let map = path(&map);
    let call = sweep(&[map, &mfg], "digits", &out);
    let told = events(&said(&call));
    let left_out = |event: &&Value| {
        event["event"] == "warning" && event["message"].to_string().contains("18 of 19 types")
    };
    assert_eq!(told.iter().filter(left_out).count(), 1, "{told:?}");
    let first = cells(&told);
    assert_eq!(first.len(), 2 * 18);
    let as_asked =
        |cell: &&Value| cell["from_file"] == false && cell["images"] == 10 && cell["severity"] == 1;
    assert!(first.iter().all(as_asked), "{first:?}");

    let summary = told.last().unwrap();
    assert_eq!(summary["event"], "corruptions");
    assert_eq!(summary["types"], 18);
    assert_eq!(summary["severities"], serde_json::json!([1]));
    assert_eq!(summary["images"], 10);
    let of_map = first.iter().filter(|cell| cell["file"] == map);
    let sum: f64 = of_map.map(|cell| number(&cell["rows"][0]["nll"])).sum();
    let networks = summary["networks"].as_array().unwrap();
    assert_eq!(networks[0]["name"], "MAP map");
    let mean = number(&networks[0]["mean"]["nll"]);
    assert!((mean - sum / 18.0).abs() < 1e-9, "{mean}: {sum}");
    let last = networks.last().unwrap();
    assert_eq!(last["ratios"][0]["to"], "MAP map");
    let ratio = number(&last["ratios"][0]["nll"]);
    assert!((ratio - number(&last["mean"]["nll"]) / mean).abs() < 1e-9);

    // Every cell and the clean images, with as many lines as rows.
    let csv = out.join("corruptions.csv");
    let whole = fs::read_to_string(&csv).unwrap();
    let rows = first[0]["rows"].as_array().unwrap().len();
    assert_eq!(whole.lines().count(), 1 + 2 * 19 * rows, "{whole}");

    // Of the cells that are missing there is one.
    let is_lost = |line: &str| line.contains(",MFG mfg,") && line.contains(",fog,");
    let kept = whole.lines().filter(|line| !is_lost(line));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    assert!(kept.len() < whole.len());
    fs::write(&csv, kept).unwrap();
    let again = events(&said(&call));
    let again = cells(&again);
    assert_eq!(again.len(), 2 * 18);
    let computed = again.iter().filter(|cell| cell["from_file"] == false);
    let computed: Vec<(&str, &str)> = computed
        .map(|cell| {
            let text = |name: &str| cell[name].as_str().unwrap();
            (text("file"), text("corruption"))
        })
        .collect();
    assert_eq!(computed, [(mfg.as_str(), "fog")]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&fs::read_to_string(&csv).unwrap()), sorted(&whole));

    // A table of other images is of no use, and neither is a line that cannot be read.
    let (code, error) = refused(&sweep(&[map, &mfg], "few-digits", &out)[1..]);
    assert!(
        code == 3 && error.contains("other images") && error.contains("--out"),
        "{code}: {error}"
    );
    fs::write(&csv, whole.replacen(",fog,", ",frog,", 1)).unwrap();
    let (code, error) = refused(&call[1..]);
    assert!(
        code == 3 && error.contains("corruptions.csv is damaged") && error.contains("`frog`"),
        "{code}: {error}"
    );
}

#[test]
fn a_sweep_is_told_in_tables_and_writes_nothing_unasked() {
    let file = posterior();
    let scratch = tempfile::tempdir().unwrap();
    let mut call = sweep(&[&file], "digits", scratch.path());
    // Without --json, and without --out and its folder.
    call.remove(0);
    call.truncate(call.len() - 2);
    let told = said(&call);
    for part in [
        "18 types x severity 1 x 10 images",
        "NLL by severity, mean over types",
        "ECE by severity, mean over types",
        "Ratios of the means",
        "(MFG + T) / MFG",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("corruptions.csv"), "{told}");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_part_of_the_test_set_has_every_class() {
    let file = posterior();
    let call = |images| {
        let start = ["--json", "evaluate", &file, "--data", "digits"];
        let rest = ["--draws", "2", "--device", "cpu", "--images", images];
        [&start[..], &rest].concat()
    };
    let told = events(&said(&call("20")));
    let judged = told.iter().find(|event| event["event"] == "judged");
    assert_eq!(judged.unwrap()["scores"]["examples"], 20);
    // Not every one of ten classes can be among five images.
    let (code, error) = refused(&call("5")[1..]);
    assert!(code == 3 && error.contains("--images"), "{code}: {error}");
}
