//! Adversarial images in the place of OOD images.

use super::{path, posterior, runs, said};
use serde_json::Value;

#[test]
fn adversarial_images_are_made_for_each_network() {
    let (map, mfg) = (runs().0.join("posterior.safetensors"), posterior());
    let files = ["evaluate", path(&map), &mfg, "--data", "digits"];
    let attack = [
        "--ood",
        "pgd",
        "--pgd-steps",
        "3",
        "--pgd-step",
        "0.1",
        "--pgd-eps",
        "0.2",
    ];
    let rest = ["--images", "10", "--draws", "2", "--device", "cpu"];
    let call = [&files[..], &attack, &rest].concat();
    let told = said(&call);
    for part in [
        "MAP map under attack (PGD, 3 steps of 0.1 within 0.2): accuracy",
        "MFG mfg under attack",
        "OOD images (PGD, 10): AUROC, AP, FPR at 95 % TPR",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let lines = said(&[&["--json"][..], &call[..]].concat());
    let events: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of_kind = |kind: &str| -> Vec<&Value> {
        let found = events.iter().filter(|event| event["event"] == kind);
        found.collect()
    };
    let (judged, attacked) = (of_kind("judged"), of_kind("attacked"));
    assert_eq!((judged.len(), attacked.len()), (2, 2));
    assert!(!of_kind("attacking").is_empty());
    for (judged, attacked) in judged.into_iter().zip(attacked) {
        assert_eq!(judged["method"], attacked["method"]);
        assert_eq!(attacked["images"], 10);
        assert_eq!(attacked["pgd"]["draws"], 2);
        let clean = judged["scores"]["accuracy"].as_f64().unwrap();
        let accuracy = attacked["accuracy"].as_f64().unwrap();
        assert!(accuracy <= clean, "{accuracy} {clean}");
        assert!(judged["out_of_distribution"]["entropy"]["aupr"].is_f64());
    }
}
