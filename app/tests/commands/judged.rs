//! What networks are judged on.

use super::{path, posterior, program, refused, said, text};
use serde_json::Value;
use std::{fs, path::Path};

/// Pictures of two kinds in folders of these names: `count` of upright and of lying bars.
fn bars(folder: &Path, names: [&str; 2], count: u8) {
    for (class, name) in names.into_iter().enumerate() {
        fs::create_dir_all(folder.join(name)).unwrap();
        for number in 0..count {
            let picture = image::GrayImage::from_fn(8, 8, |x, y| {
                let place = if class == 0 { x } else { y };
                image::Luma([if place / 3 == 1 { 200 + number } else { number }])
            });
            picture
                .save(folder.join(name).join(format!("{number}.png")))
                .unwrap();
        }
    }
}

/// How many pictures a network was judged on, and everything that was told.
fn judged(posterior: &str, data: &Path) -> (u64, String) {
    let call = [
        "evaluate",
        posterior,
        "--data",
        path(data),
        "--device",
        "cpu",
    ];
    let output = program(&[&["--json"][..], &call[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stdout));
    let lines = text(&output.stdout);
    let mut events = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let evaluated = events.rfind(|event| event["event"] == "evaluated").unwrap();
    let examples = evaluated["scores"]["examples"].as_u64().unwrap();
    (examples, lines)
}

#[test]
fn a_network_is_judged_on_what_its_run_kept_back() {
    let scratch = tempfile::tempdir().unwrap();
    let inside = |name: &str| scratch.path().join(name);
    let data = inside("bars");
    bars(&data, ["lying", "upright"], 20);
    fs::copy(data.join("lying/0.png"), data.join("cover.png")).unwrap();
    let run = |name: &str, seed: &str| {
        let out = inside(name);
        let output = program(&[
            "pretrain",
            "--data",
            path(&data),
            "--epochs",
            "1",
            "--batch",
            "12",
            "--seed",
            seed,
            "--device",
            "cpu",
            "--out",
            path(&out),
        ]);
        let told = text(&output.stderr);
        assert!(output.status.success(), "{told}");
        assert_eq!(
            told.matches("1 pictures lie beside the class folders")
                .count(),
            1,
            "{told}"
        );
        path(&out.join("posterior.safetensors")).to_owned()
    };
    let first = run("first", "0");
    let (examples, _) = judged(&first, &data);
    assert_eq!(examples, 4, "a tenth of each class");
    // The same pictures elsewhere: nothing tells which of them were kept back.
    let copy = inside("copy");
    bars(&copy, ["lying", "upright"], 20);
    let (examples, told) = judged(&first, &copy);
    assert_eq!(examples, 40);
    assert!(told.contains("no test part of its own"), "{told}");
    let second = run("second", "1");
    let call = [
        "evaluate",
        &first,
        &second,
        "--data",
        path(&data),
        "--device",
        "cpu",
    ];
    let (code, error) = refused(&call);
    assert!(code == 3 && error.contains("one by one"), "{code}: {error}");

    let renamed = inside("renamed");
    bars(&renamed, ["across", "tall"], 2);
    let (_, told) = judged(&first, &renamed);
    assert!(told.contains("class 0 is `lying`"), "{told}");
    let shifted = inside("shifted");
    bars(&shifted, ["upright", "wide"], 2);
    let (code, error) = refused(&[
        "evaluate",
        &first,
        "--data",
        path(&shifted),
        "--device",
        "cpu",
    ]);
    assert!(
        code == 3 && error.contains("another order"),
        "{code}: {error}"
    );
    bars(&shifted, ["lying", "third"], 2);
    let (code, error) = refused(&[
        "evaluate",
        &first,
        "--data",
        path(&shifted),
        "--device",
        "cpu",
    ]);
    assert!(code == 3 && error.contains("2 classes"), "{code}: {error}");
}

#[test]
fn a_broken_test_picture_is_input_that_cannot_be_used() {
    let scratch = tempfile::tempdir().unwrap();
    let data = scratch.path().join("bars");
    bars(&data.join("train"), ["lying", "upright"], 6);
    bars(&data.join("test"), ["lying", "upright"], 2);
    let out = scratch.path().join("run");
    said(&[
        "pretrain",
        "--data",
        path(&data),
        "--epochs",
        "1",
        "--batch",
        "12",
        "--device",
        "cpu",
        "--out",
        path(&out),
    ]);
    fs::write(data.join("test/upright/0.png"), "no picture").unwrap();
    let posterior = out.join("posterior.safetensors");
    let (code, error) = refused(&[
        "evaluate",
        path(&posterior),
        "--data",
        path(&data),
        "--device",
        "cpu",
    ]);
    assert!(
        code == 3 && error.contains("upright/0.png"),
        "{code}: {error}"
    );
}

#[test]
fn a_network_compares_faces() {
    let scratch = tempfile::tempdir().unwrap();
    let data = scratch.path().join("faces");
    bars(&data, ["Ann", "Bob"], 2);
    for name in ["Ann", "Bob"] {
        for number in 0..2 {
            let folder = data.join(name);
            let after = folder.join(format!("{name}_{:04}.png", number + 1));
            fs::rename(folder.join(format!("{number}.png")), after).unwrap();
        }
    }
    let pairs = scratch.path().join("pairs.txt");
    let list = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nBob\t1\t2\nAnn\t2\tBob\t2\n";
    fs::write(&pairs, list).unwrap();
    let line = said(&[
        "--json",
        "evaluate",
        &posterior(),
        "--data",
        path(&data),
        "--pairs",
        path(&pairs),
        "--draws",
        "3",
        "--device",
        "cpu",
    ]);
    let verified: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(verified["event"], "verified");
    assert_eq!(verified["method"], "MFG");
    let folds = verified["verification"]["folds"].as_array().unwrap();
    assert!(
        folds.len() == 2 && folds.iter().all(|fold| fold["count"] == 2),
        "{line}"
    );
}
