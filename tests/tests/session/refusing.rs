//! Folders, devices and memory that refuse.

use super::{broken::Holey, *};
use bayesadapter::{
    models::Architecture,
    posterior::{ConvertError, IntoBayes, LowRankEnsemble},
    session::RunFolder,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// The content of the file of which a text says that it is there instead; it is removed.
pub fn put_aside(text: &str) -> Vec<u8> {
    let place = text.split_once("is in ").unwrap().1;
    let place = PathBuf::from(place.split_once(" instead").unwrap().0);
    let bytes = fs::read(&place).unwrap();
    fs::remove_dir_all(place.parent().unwrap()).unwrap();
    bytes
}

/// A new run whose states find no room: there is a file in the place of their folder, which stops every user.
fn without_states(path: &Path, settings: &RunSettings) -> RunFolder {
    let folder = RunFolder::create(path, settings, "").unwrap();
    fs::remove_dir(path.join("checkpoints")).unwrap();
    fs::write(path.join("checkpoints"), "in the way").unwrap();
    folder
}

#[test]
fn a_result_that_finds_no_room_is_put_aside() {
    let mut settings = settings(Method::Mfg);
    settings.training.epochs = 1;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let folder = without_states(&path, &settings);
    fs::create_dir(path.join("posterior.safetensors")).unwrap();
    let (ended, warnings) = ending(job(settings.clone()), None, folder);
    let error = ended.unwrap_err();
    let SessionError::NotSaved {
        what: "posterior",
        aside: Some(place),
        ..
    } = &error
    else {
        panic!("{error}");
    };
    let place = place.display().to_string();
    assert!(error.to_string().contains(&place), "{error}");
    // Told before it is judged, which may take long, and judged all the same.
    let early = |warning: &String| warning.contains(&place);
    assert!(warnings.iter().any(early), "{warnings:?}");
    assert!(path.join("evaluations/mfg.json").exists());
    let bytes = put_aside(&error.to_string());
    assert!(bytes == complete(settings, None).kept().posterior);
}

#[test]
fn a_stop_that_finds_no_room_is_put_aside_and_can_be_put_back() {
    let mut settings = settings(Method::Mfg);
    settings.training.epochs = 200;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let folder = without_states(&path, &settings);
    let (control, thread) = spawn(job(settings), None, folder);
    until(&control, |event| matches!(event, Event::Progress(_)));
    control.send(Command::Stop);
    let error = thread.join().unwrap().unwrap_err();
    let SessionError::NotSaved {
        what: "state",
        step,
        aside: Some(place),
        ..
    } = &error
    else {
        panic!("{error}");
    };
    // As the error says.
    let (name, states) = (place.file_name().unwrap(), path.join("checkpoints"));
    let bytes = put_aside(&error.to_string());
    fs::remove_file(&states).unwrap();
    fs::create_dir(&states).unwrap();
    fs::write(states.join(name), bytes).unwrap();
    let (folder, _) = RunFolder::open(&path).unwrap();
    let state = RunFolder::state(&folder).unwrap().0.unwrap();
    assert_eq!(state.position.step, *step);
}

#[test]
fn states_that_cannot_be_read_do_not_push_out_new_ones() {
    let whole = complete(settings(Method::Map), None);
    let states = whole.kept().states.clone();
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let mut folder = RunFolder::create(&path, &settings(Method::Map), "").unwrap();
    let at = |step| Position {
        step,
        ..Position::default()
    };
    for step in [1_000, 2_000] {
        Keeper::state(&mut folder, at(step), b"damaged".to_vec()).unwrap();
    }
    let (state, damaged) = RunFolder::state(&folder).unwrap();
    assert!(state.is_none() && damaged.len() == 2, "{damaged:?}");
    // The run begins anew, below them.
    for (position, bytes) in &states {
        Keeper::state(&mut folder, *position, bytes.clone()).unwrap();
        let (state, damaged) = RunFolder::state(&folder).unwrap();
        assert_eq!(state.unwrap().position, *position);
        assert!(damaged.is_empty(), "{damaged:?}");
    }
    let mut names: Vec<String> = fs::read_dir(path.join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected: Vec<String> = states[states.len() - 2..]
        .iter()
        .map(|(position, _)| format!("step-{:09}.safetensors", position.step))
        .collect();
    expected.extend([1_000, 2_000].map(|step| format!("step-{step:09}.safetensors.damaged")));
    assert_eq!(names, expected);
    // Numbers that ran away cost states, and no file that was damaged.
    Keeper::forget_states(&mut folder, 0).unwrap();
    let left = fs::read_dir(path.join("checkpoints")).unwrap();
    let mut left: Vec<PathBuf> = left.map(|entry| entry.unwrap().path()).collect();
    left.sort();
    let names = left.iter().filter_map(|file| file.file_name()?.to_str());
    assert!(names.eq(&expected[expected.len() - 2..]), "{left:?}");
}

#[test]
fn a_state_of_a_newer_version_is_not_begun_anew() {
    let whole = complete(settings(Method::Map), None);
    let (position, mut bytes) = whole.kept().states[0].clone();
    let text = br#"\"version\":1"#;
    let found = bytes.windows(text.len()).position(|part| part == text);
    bytes[found.unwrap() + text.len() - 1] = b'9';
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let mut folder = RunFolder::create(&path, &settings(Method::Map), "").unwrap();
    Keeper::state(&mut folder, position, bytes).unwrap();
    let error = RunFolder::state(&folder).err().unwrap();
    assert!(
        matches!(&error, SessionError::Folder { folder, problem }
            if folder.ends_with(".safetensors") && problem.contains("version 9")),
        "{error}"
    );
}

/// Digits that end the run's thread with a panic when so many were read.
fn failing(after: usize, text: &'static str) -> Job {
    let mut settings = settings(Method::Mfg);
    settings.training.checkpoint_steps = 1_000;
    // Read by the thread of the run.
    settings.data.workers = 0;
    let read = AtomicUsize::new(0);
    let digits = Holey::of(digits(Split::Train).len(), move |_| {
        assert!(read.fetch_add(1, Ordering::Relaxed) < after, "{text}");
        false
    });
    job_on(settings, digits)
}

#[test]
fn a_device_that_panics_ends_the_run_with_an_error_and_all_that_it_can_still_tell() {
    let memory = Memory::default();
    let lost = failing(7 * 128, "wgpu error: Out of Memory\n");
    let error = ending(lost, None, memory.clone()).0.unwrap_err();
    assert!(
        matches!(&error, SessionError::Device { reason } if reason == "wgpu error: Out of Memory"),
        "{error}"
    );
    assert!(error.to_string().contains("device cpu"), "{error}");
    let (position, bytes) = memory.kept().states.last().cloned().unwrap();
    assert_eq!(position.step, 7);
    let state = TrainState::from_bytes(&bytes).unwrap();
    let mut settings = settings(Method::Mfg);
    settings.training.checkpoint_steps = 1_000;
    settings.data.workers = 0;
    let whole = complete(settings.clone(), None);
    let again = complete(settings, Some(state));
    assert!(again.kept().posterior == whole.kept().posterior);
}

#[test]
fn a_defect_stays_one() {
    let wrong = failing(128, "index out of bounds");
    let (_control, thread) = spawn(wrong, None, Memory::default());
    assert!(thread.join().is_err());
}

#[test]
fn more_components_than_there_is_memory_for_are_refused_before_it_is_taken() {
    let refused = |components| {
        let mut settings = settings(Method::Pse);
        settings.model.architecture = "mlp".to_owned();
        settings.posterior.components = components;
        let digits = |split| Arc::new(digits(split));
        let (train, test) = (digits(Split::Train), digits(Split::Test));
        let splits = Splits::new(train, test);
        Job::new(settings, None, splits, None, &Device::flex()).err()
    };
    let error = refused(99_999_999_999).unwrap();
    assert!(
        matches!(
            error,
            SessionError::TooLarge { .. } | SessionError::Convert(ConvertError::Setting { .. })
        ),
        "{error}"
    );
    // Other systems do not tell how much memory there is.
    if cfg!(target_os = "linux") {
        let error = refused(4_000_000_000).unwrap();
        let SessionError::TooLarge {
            parameters, needed, ..
        } = error
        else {
            panic!("{error}");
        };
        // Layers 64-64-64-10, with a factor for every input and output of each.
        let shared = (64 + 1) * 64 + (64 + 1) * 64 + (64 + 1) * 10;
        let factors = (64 + 64) + (64 + 64) + (64 + 10);
        assert_eq!(parameters, shared + 4_000_000_000 * factors);
        // Floats, with their gradients and momentum.
        assert_eq!(needed, 12 * parameters as u64);
    }
    let architecture: Architecture = "mlp".parse().unwrap();
    let network = architecture.init(&Device::flex()).unwrap();
    let endless = LowRankEnsemble::fine_tune(10)
        .with_components(usize::MAX)
        .with_rank(2);
    let error = network.into_bayes(endless).err().unwrap();
    assert!(error.to_string().contains("components x rank"), "{error}");
}
