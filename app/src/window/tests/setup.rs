//! Setting up a run.

use super::{Page, page, picture};
use crate::window::{
    Window,
    errand::{Content, Parcel},
    news::{News, Wish},
    platform::Computer,
    purpose::Purpose,
    sort::Found,
    survey,
};
use bayesadapter::{
    data::Augmentation,
    posterior::Select,
    session::{DeviceChoice, Method, RunSettings},
    train::RunningStatistics,
};
use burn::tensor::read_sync;
use egui_kittest::{Harness, kittest::Queryable};
use std::path::{Path, PathBuf};

pub fn settings() -> RunSettings {
    let mut settings = RunSettings {
        device: DeviceChoice::Cpu,
        ..RunSettings::default()
    };
    settings.data.out_of_distribution = Some("scribbles".to_owned());
    settings
}

/// The page with settings, and what the worker found out about them.
pub fn set_up(settings: &RunSettings) -> Harness<'static, Page> {
    let survey = survey::survey(settings.clone());
    let devices = vec![
        (DeviceChoice::Auto, "CPU, 2 threads".to_owned()),
        (DeviceChoice::Cpu, "CPU, 2 threads".to_owned()),
        (
            DeviceChoice::Gpu,
            "llvmpipe (software adapter, Vulkan)".to_owned(),
        ),
    ];
    let mut news = vec![
        News::Chosen(Purpose::RunsFolder, PathBuf::from("runs")),
        News::Sorted(Found::Settings(Box::new(settings.clone()))),
        News::Surveyed(Box::new(survey)),
        News::Devices(devices),
    ];
    // Of what cannot be opened the page asks for no estimate.
    let estimated = read_sync(survey::estimate(settings.clone(), &Computer::default()));
    if estimated.found.is_ok() {
        news.push(News::Estimated(Box::new(estimated)));
    }
    page("Set up", &news)
}

/// The settings as the run file of the page has them.
pub fn saved(harness: &mut Harness<'_, Page>) -> RunSettings {
    harness.get_by_label("Save run file…").click();
    harness.run_steps(2);
    let wishes = harness.state().wishes.iter().rev();
    let text = wishes.clone().find_map(|wish| match wish {
        Wish::Choose(Purpose::Save(Parcel {
            content: Content::Text(text),
            ..
        })) => Some(text),
        _ => None,
    });
    RunSettings::from_toml(text.unwrap()).unwrap()
}

#[test]
fn files_and_the_estimate_are_shown_and_start_runs_what_is_seen() {
    let settings = settings();
    let mut harness = set_up(&settings);
    let seen = |label: &str| harness.query_by_label_contains(label).is_some();
    assert!(seen(
        "1442 training images, 71 for validation, 284 test images, 10 classes"
    ));
    assert!(seen("360 pictures"));
    assert!(seen("Memory of a step") && seen("Time of training"));
    assert!(seen("tensors get a posterior"));
    picture(&mut harness, "set-up");
    assert_eq!(saved(&mut harness), settings);
    harness.get_by_label("Start").click();
    harness.run_steps(2);
    let asked = |wish: &Wish| matches!(wish, Wish::Run(asked) if **asked == settings);
    assert!(harness.state().wishes.iter().any(asked));
}

#[test]
fn looking_at_settings_changes_nothing() {
    let mut settings = settings();
    settings.posterior.components = 1;
    settings.training.epochs = 2000;
    settings.training.lambda = 123.0;
    settings.evaluation.draws = 5000;
    settings.model.dropout = 0.35;
    settings.training.clip_norm = Some(1e4);
    settings.data.workers = 400;
    settings.data.split_seed = None;
    settings.data.augmentation = Some(Augmentation {
        cutout: 99,
        ..Augmentation::default()
    });
    settings.data.ood_train = vec!["noise".to_owned()];
    settings.training.ood_batch = Some(20_000);
    settings.training.rates.natural_gradient = false;
    settings.evaluation.coverage = 0.9999;
    for method in [Method::Pse, Method::Mfg] {
        settings.posterior.method = method;
        let mut harness = page(
            "Set up",
            &[News::Sorted(Found::Settings(Box::new(settings.clone())))],
        );
        harness.get_by_label("More settings").click();
        harness.run_steps(20);
        assert_eq!(saved(&mut harness), settings);
    }
}

#[test]
fn every_other_setting_of_a_run_file_is_under_more() {
    let mut harness = set_up(&settings());
    for name in [
        "Skip pictures that cannot be read",
        "More settings",
        "Bound the gradients",
        "Keep the statistics as they are",
    ] {
        harness.get_by_label(name).click_accesskit();
        harness.run_steps(20);
    }
    picture(&mut harness, "set-up-more");
    let mut expected = settings();
    expected.data.skip_broken = true;
    expected.training.clip_norm = Some(1.0);
    expected.training.running_statistics = RunningStatistics::Freeze;
    assert_eq!(saved(&mut harness), expected);
    for setting in [
        "Momentum",
        "Nesterov",
        "Schedule",
        "Variational schedule",
        "Warm-up",
        "Dropout",
        "Factors of a kernel",
        "Initial std",
        "Steps between saves",
        "Pictures judged at once",
        "Coverage of prediction sets",
        "Threads that read",
    ] {
        assert!(
            harness.query_all_by_label(setting).next().is_some(),
            "{setting}"
        );
    }
    assert_eq!(expected.posterior.initial_std, None);
    let automatic = harness.get_by_label("what suits the network");
    automatic.click_accesskit();
    harness.run_steps(3);
    assert_eq!(saved(&mut harness).posterior.initial_std, Some(0.2));
}

#[test]
fn methods_layers_and_presets_change_the_settings() {
    let mut harness = set_up(&settings());
    harness.get_by_label("fc2").click();
    harness.run_steps(2);
    let without = ["conv1", "bn1", "conv2", "bn2", "fc1"].map(|name| format!("DigitsCnn.{name}.*"));
    assert_eq!(saved(&mut harness).posterior.layers, Select::paths(without));
    harness.get_by_label("DigitsCnn").click();
    harness.run_steps(2);
    harness.get_by_label("DigitsCnn").click();
    harness.run_steps(2);
    assert!(
        harness
            .query_by_label_contains("Choose one layer at least")
            .is_some()
    );
    harness.get_by_label("The last").click();
    harness.run_steps(2);
    assert_eq!(saved(&mut harness).posterior.layers, Select::LastLayer);
    harness
        .get_by_label_contains("ordinary training (MAP)")
        .click();
    harness.run_steps(2);
    let changed = saved(&mut harness);
    assert_eq!(changed.posterior.method, Method::Map);
    assert_eq!(changed.training.rates.lr, 0.1);
    harness.get_by_label("Settings of the paper").click();
    harness.run_steps(3);
    harness.get_by_label("paper-imagenet").click();
    harness.run_steps(3);
    let preset = saved(&mut harness);
    assert_eq!(preset.model.architecture, "resnet50");
    assert_eq!(preset.training.epochs, 4);
    assert_eq!(preset.data.path, "digits");
}

#[test]
fn a_deep_network_is_a_tree() {
    let mut settings = settings();
    settings.model.architecture = "resnet20-cifar".to_owned();
    settings.posterior.method = Method::Mfg;
    settings.posterior.layers = Select::paths(["*.layer3.*", "*.linear.*"]);
    let mut harness = set_up(&settings);
    harness.get_by_label("layer2").click();
    harness.run_steps(3);
    picture(&mut harness, "set-up-deep");
    let chosen = ["layer2", "layer3", "linear"].map(|name| format!("CifarResNet.{name}.*"));
    assert_eq!(saved(&mut harness).posterior.layers, Select::paths(chosen));
}

#[test]
fn what_is_wrong_is_told_where_it_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("other.safetensors");
    std::fs::write(&weights, checkpoint()).unwrap();
    let mut settings = settings();
    settings.model.weights = Some(weights.display().to_string());
    settings.data.out_of_distribution = Some("no/such/folder".to_owned());
    let mut harness = set_up(&settings);
    let seen = |label: &str| harness.query_by_label_contains(label).is_some();
    assert!(seen("0 parameters fit, others do not"));
    assert!(seen("no/such/folder cannot be read"));
    assert!(seen("Choose pictures of another kind that can be opened"));
    harness.get_by_label_contains("missing").click();
    harness.run_steps(20);
    assert!(
        harness
            .query_all_by_label_contains("nearest: fc3.weight")
            .next()
            .is_some()
    );
    picture(&mut harness, "set-up-wrong");
    harness.get_by_label("Start").click();
    harness.run_steps(2);
    assert!(
        !harness
            .state()
            .wishes
            .iter()
            .any(|wish| matches!(wish, Wish::Run(_)))
    );
}

/// A safetensors file of one matrix.
pub fn checkpoint() -> Vec<u8> {
    let header = br#"{"fc3.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend([0; 8]);
    file
}

#[test]
fn a_stopped_run_can_go_on() {
    let stopped = Found::StoppedRun {
        folder: PathBuf::from("runs/stopped"),
        settings: Box::new(settings()),
    };
    let mut harness = page("Set up", &[News::Sorted(stopped)]);
    harness.get_by_label("Go on").click();
    harness.run_steps(2);
    let asked = |wish: &Wish| matches!(wish, Wish::GoOn(folder, _) if folder.ends_with("stopped"));
    assert!(harness.state().wishes.iter().any(asked));
}

/// While its name is typed, a network may be anything.
#[test]
fn a_network_without_end_is_refused_before_it_is_made() {
    let mut settings = settings();
    settings.model.architecture = "wrn-28-100".to_owned();
    let refused = survey::survey(settings).parameters.unwrap_err();
    assert!(refused.contains("wrn-28-100 has 36"), "{refused}");
}

#[test]
fn a_run_keeps_its_paths_in_full() {
    let mut window = Window::new();
    let mut settings = settings();
    // Tests run in the folder of the crate. This one holds no pictures, so that the run ends before it begins.
    settings.data.path = "src".to_owned();
    window.fulfil(Wish::Run(Box::new(settings)));
    let kept = &window.plans[0].settings.data;
    assert!(Path::new(&kept.path).is_absolute(), "{}", kept.path);
    assert_eq!(kept.out_of_distribution.as_deref(), Some("scribbles"));
}
