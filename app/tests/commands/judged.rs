//! What networks are judged on.

use super::{path, posterior, program, refused, said, text};
use serde_json::Value;
use std::{fs, path::Path};

/// Pictures of two kinds in folders of these names: `count` of upright and of lying bars.
pub fn bars(folder: &Path, names: [&str; 2], count: u8) {
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
            "--split-seed",
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
    fs::write(data.join("test/upright/1.png"), "no picture").unwrap();
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
        code == 3 && error.contains("upright/1.png"),
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
    let file = posterior();
    assert_eq!(folds(&file, &data, path(&pairs)), [2; 2]);
    // Of a single fold it is said at once, and not after every face was looked at.
    fs::write(
        &pairs,
        "2\nAnn\t1\t2\nBob\t1\t2\nAnn\t1\tBob\t1\nAnn\t2\tBob\t2\n",
    )
    .unwrap();
    let (code, error) = refused(&verify(&file, &data, path(&pairs))[1..]);
    assert!(
        code == 3 && error.contains("pairs.txt has one fold"),
        "{code}: {error}"
    );
}

#[test]
fn a_network_compares_the_faces_of_cfp() {
    let scratch = tempfile::tempdir().unwrap();
    let data = scratch.path().join("cfp");
    let protocol = data.join("Protocol");
    for (kind, list) in [("frontal", "F"), ("profile", "P")] {
        let made = scratch.path().join(kind);
        bars(&made, ["001", "002"], 2);
        let mut lines = String::new();
        for (number, (person, picture)) in [("001", 0), ("001", 1), ("002", 0), ("002", 1)]
            .into_iter()
            .enumerate()
        {
            let name = format!("Data/Images/{person}/{kind}/{picture}.png");
            let place = data.join(&name);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(made.join(person).join(format!("{picture}.png")), place).unwrap();
            lines += &format!("{} ../{name}\n", number + 1);
        }
        fs::create_dir_all(&protocol).unwrap();
        fs::write(protocol.join(format!("Pair_list_{list}.txt")), lines).unwrap();
    }
    for fold in 1..=10 {
        for (pairs, same) in [("FF", "1,2\n"), ("FP", "1,2\n3,3\n")] {
            let folder = protocol.join(format!("Split/{pairs}/{fold:02}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("same.txt"), same).unwrap();
            fs::write(folder.join("diff.txt"), "2,3\n").unwrap();
        }
    }
    let file = posterior();
    assert_eq!(folds(&file, &data, "cfp-ff"), [2; 10]);
    assert_eq!(folds(&file, &data, "cfp-fp"), [3; 10]);
    // The place of LFW's pictures is none of CFP.
    let (code, error) = refused(&verify(&file, &scratch.path().join("frontal"), "cfp-ff")[1..]);
    assert!(
        code == 3 && error.contains("Pair_list_F.txt"),
        "{code}: {error}"
    );
}

fn verify<'a>(posterior: &'a str, data: &'a Path, pairs: &'a str) -> Vec<&'a str> {
    vec![
        "--json",
        "evaluate",
        posterior,
        "--data",
        path(data),
        "--pairs",
        pairs,
        "--draws",
        "3",
        "--device",
        "cpu",
    ]
}

/// Pairs in each fold that a network compared.
fn folds(posterior: &str, data: &Path, pairs: &str) -> Vec<u64> {
    let line = said(&verify(posterior, data, pairs));
    let verified: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(verified["event"], "verified");
    assert_eq!(verified["method"], "MFG");
    assert_eq!(verified["file"], posterior);
    let folds = verified["verification"]["folds"].as_array().unwrap();
    folds
        .iter()
        .map(|fold| fold["count"].as_u64().unwrap())
        .collect()
}

#[test]
fn files_of_one_method_are_told_apart() {
    let scratch = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let place = scratch.path().join(name);
        fs::create_dir_all(&place).unwrap();
        fs::copy(posterior(), place.join("posterior.safetensors")).unwrap();
        path(&place.join("posterior.safetensors")).to_owned()
    };
    let (first, second) = (copy("first"), copy("second"));
    let lines = said(&[
        "--json", "evaluate", &first, &second, "--data", "digits", "--draws", "2", "--device",
        "cpu",
    ]);
    let events = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let judged: Vec<Value> = events.filter(|event| event["event"] == "judged").collect();
    let told: Vec<(&str, &str)> = judged
        .iter()
        .map(|event| {
            let text = |name: &str| event[name].as_str().unwrap();
            (text("file"), text("method"))
        })
        .collect();
    assert_eq!(
        told,
        [
            (first.as_str(), "MFG first"),
            (second.as_str(), "MFG second")
        ]
    );
    assert_eq!(judged[0]["scores"], judged[1]["scores"]);
}
