//! What the readers of checkpoints give, and what they refuse.
//!
//! The files are those of `golden/make_checkpoints.py`, which says what they do not cover.

use bayesadapter::checkpoint::{
    Checkpoint, CheckpointError, CheckpointProblem, DType, MAX_FILE_BYTES,
};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/checkpoints");
    PathBuf::from(folder).join(name)
}

fn open(name: &str) -> Checkpoint {
    Checkpoint::open(path(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn refused<T>(result: Result<T, CheckpointError>) -> CheckpointError {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error,
    }
}

#[test]
fn views_of_one_storage_are_gathered() {
    for name in ["views.pt", "views_legacy.pt"] {
        let checkpoint = open(name);
        let whole: Vec<f32> = (0..24u8).map(f32::from).collect();
        let pick = |places: &[usize]| places.iter().map(|&at| whole[at]).collect::<Vec<_>>();
        let columns: Vec<usize> = (0..24).map(|i| i % 4 * 6 + i / 4).collect();
        let cases = [
            ("whole", vec![4, 6], whole.clone()),
            ("transposed", vec![6, 4], pick(&columns)),
            ("offset", vec![2, 6], whole[6..18].to_vec()),
            (
                "strided",
                vec![4, 3],
                whole.iter().copied().step_by(2).collect(),
            ),
            ("expanded", vec![3], vec![6.0; 3]),
        ];
        for (tensor, shape, expected) in cases {
            assert_eq!(
                checkpoint.get(tensor).expect("there").shape(),
                shape,
                "{name} {tensor}"
            );
            assert_eq!(
                checkpoint.to_f32(tensor).expect("numbers"),
                expected,
                "{name} {tensor}"
            );
        }
    }
}

#[test]
fn odd_tensors_keep_shape_type_and_values() {
    let checkpoint = open("odd.pt");
    let cases: [(&str, &[usize], DType, &[f32]); 7] = [
        ("empty", &[0, 3], DType::F32, &[]),
        ("scalar", &[], DType::F32, &[2.5]),
        ("long", &[2], DType::I64, &[-1.0, 1_099_511_627_776.0]),
        ("byte", &[1], DType::U8, &[255.0]),
        ("flag", &[2], DType::Bool, &[1.0, 0.0]),
        ("parameter", &[2], DType::F32, &[1.0, 2.0]),
        ("short", &[2], DType::U16, &[1.0, 65535.0]),
    ];
    for (name, shape, dtype, expected) in cases {
        let tensor = checkpoint.get(name).expect("there");
        assert_eq!((tensor.shape(), tensor.dtype()), (shape, dtype), "{name}");
        assert_eq!(
            checkpoint.to_f32(name).expect("numbers"),
            expected,
            "{name}"
        );
    }
    let names: Vec<&str> = checkpoint.iter().map(|(name, _)| name).collect();
    assert_eq!(names, cases.map(|(name, ..)| name), "the order of the file");
    let error = refused(checkpoint.to_f32("scalars")).to_string();
    assert!(error.contains("the nearest name is `scalar`"), "{error}");

    let checkpoint = open("odd.safetensors");
    assert_eq!(checkpoint.metadata()["about"], "odd ones");
    assert_eq!(checkpoint.to_f32("half").expect("numbers"), [1.0, -2.0]);
    assert_eq!(checkpoint.to_f32("brain").expect("numbers"), [0.5]);
    assert_eq!(checkpoint.to_f32("empty").expect("numbers"), [0.0; 0]);
}

#[test]
fn pickles_that_ask_for_more_than_weights_are_refused_by_name() {
    // `os.system` is called `posix.system` where the script ran.
    let files = [
        ("system.pt", "posix.system"),
        ("system_legacy.pt", "posix.system"),
        ("full_model.pt", "torch.nn.modules.linear.Linear"),
    ];
    for (name, wanted) in files {
        let error = refused(Checkpoint::open(path(name)));
        assert_eq!(error.file.as_deref(), Some(path(name).as_path()));
        let message = error.to_string();
        assert!(
            message.contains(name) && message.contains("state_dict()"),
            "{message}"
        );
        match error.problem {
            CheckpointProblem::ForbiddenGlobal { global } => assert_eq!(global, wanted),
            other => panic!("{name}: {other}"),
        }
    }
}

#[test]
fn damaged_files_say_so() {
    let whole = std::fs::read(path("zip.pt")).expect("a golden file");
    let message = |bytes: &[u8]| refused(Checkpoint::from_bytes(bytes)).to_string();
    let cut = message(&whole[..whole.len() / 2]);
    assert!(cut.contains("cut short"), "{cut}");
    let mut altered = whole.clone();
    // Within the largest storage, conv.weight.
    let at = whole
        .windows(4)
        .position(|window| window == (-1.25f32).to_le_bytes());
    altered[at.expect("conv.weight")] ^= 1;
    let altered = message(&altered);
    assert!(altered.contains("checksum"), "{altered}");
    assert!(message(b"").contains("empty"));
    assert!(message(b"<!DOCTYPE html>").contains("web page"));
    assert!(message(b"version https://git-lfs.github.com/spec/v1").contains("git lfs pull"));
    assert!(message(b"\x89HDF\r\n").contains("x89HDF"));
    let absent = refused(Checkpoint::open(path("absent.pt"))).to_string();
    assert!(absent.contains("absent.pt"), "{absent}");
}

#[test]
fn a_file_past_the_limit_is_refused_before_it_is_read() {
    let path = std::env::temp_dir().join(format!("bayesadapter-huge-{}.pt", std::process::id()));
    let file = std::fs::File::create(&path).expect("a temporary file");
    // Sparse: it takes no room.
    let length = file.set_len(MAX_FILE_BYTES + 1);
    let result = Checkpoint::open(&path);
    std::fs::remove_file(&path).expect("removed");
    length.expect("a sparse file");
    match refused(result).problem {
        CheckpointProblem::TooLarge { bytes, limit, .. } => assert_eq!(bytes, limit + 1),
        other => panic!("{other}"),
    }
}
