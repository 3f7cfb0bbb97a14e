//! Posterior files: round trips, and files that are not what they should be.

use bayesadapter::{
    checkpoint::MAX_FILE_BYTES,
    file::{FileError, Header, OLDEST_VERSION, PosteriorFile, write_atomically},
    models::{Architecture, ModelConfig, Network},
    pass::Pass,
    posterior::{
        Bayes, IntoBayes, LeftAlone, LowRankEnsemble, MeanField, Point, Posterior, Select,
    },
};
use bayesadapter_tests::{Tolerance, assert_close, devices, values};
use burn::{
    module::{Module, ParamGroup},
    tensor::{Device, Tensor},
};
use serde_json::json;

fn architecture() -> Architecture {
    "digits-cnn".parse().unwrap()
}

fn bayes(posterior: impl Into<Posterior>, device: &Device) -> Bayes<Network> {
    device.seed(9);
    let network = architecture().init(device).unwrap();
    network.into_bayes(posterior).unwrap()
}

fn header() -> Header {
    let mut header = Header::of(architecture());
    header.class_names = (0..10).map(|digit| digit.to_string()).collect();
    header.run.insert("epochs".to_owned(), json!(12));
    header
}

fn outputs(bayes: &Bayes<Network>) -> Vec<f32> {
    let device = &bayes.network().devices()[0];
    let [channels, height, width] = architecture().input_shape();
    let x = Tensor::<4>::ones([2, channels, height, width], device);
    let run = |pass: Pass| values(bayes.run(pass, |net| net.forward(x.clone())).unwrap());
    [run(Pass::mean()), run(Pass::draw(7))].concat()
}

#[test]
fn a_file_opens_on_every_device_and_predicts_the_same() {
    let posteriors: [Posterior; 5] = [
        Point::train(1_797).into(),
        MeanField::fine_tune(1_797).into(),
        MeanField::fine_tune(1_797)
            .with_pretrained_prior()
            .with_seed(u64::MAX)
            .into(),
        LowRankEnsemble::fine_tune(1_797)
            .with_components(3)
            .with_rank(2)
            .into(),
        MeanField::fine_tune(1_797)
            .with_select(Select::LastLayer)
            .into(),
    ];
    for posterior in posteriors {
        let original = bayes(posterior.clone(), &Device::flex());
        let bytes = original.to_file(&header()).unwrap();
        let expected = outputs(&original);
        for (name, device) in devices() {
            let file = PosteriorFile::from_bytes(&bytes).unwrap();
            assert_eq!(*file.header(), header());
            assert_eq!(*file.posterior(), posterior);
            let opened = file.into_network(&device).unwrap();
            assert_eq!(opened.account(), original.account());
            let tolerance = Tolerance::of_largest(2e-5, &expected);
            assert_close(name, &outputs(&opened), &expected, tolerance);
        }
        let again = PosteriorFile::from_bytes(&bytes).unwrap();
        let again = again.into_network(&Device::flex()).unwrap();
        assert!(again.to_file(&header()).unwrap() == bytes, "byte for byte");
    }
}

#[test]
fn a_selection_by_function_is_stored_as_what_it_selected() {
    let select = Select::matching(|_, shape| shape.len() == 4);
    let original = bayes(
        MeanField::fine_tune(10).with_select(select),
        &Device::flex(),
    );
    let bytes = original.to_file(&header()).unwrap();
    let opened = PosteriorFile::from_bytes(bytes).unwrap();
    assert!(matches!(opened.posterior().select(), Select::Paths(_)));
    let opened = opened.into_network(&Device::flex()).unwrap();
    assert_eq!(opened.account().converted, original.account().converted);
}

#[test]
fn parameters_frozen_before_the_conversion_come_back_frozen() {
    let device = Device::flex();
    let posteriors: [Posterior; 5] = [
        MeanField::fine_tune(10).with_pretrained_prior().into(),
        MeanField::fine_tune(10)
            .with_select(Select::LastLayer)
            .into(),
        MeanField::fine_tune(10)
            .with_select(Select::matching(|path, _| !path.contains("fc1")))
            .into(),
        LowRankEnsemble::fine_tune(10).with_components(3).into(),
        Point::train(10).into(),
    ];
    for posterior in posteriors {
        device.seed(9);
        let mut network = architecture().init(&device).unwrap();
        // Thawed, the last of them would be the `LastLayer`.
        for layer in ["conv1", "bn1", "fc2"] {
            network = network.freeze_group(ParamGroup::from_predicate(layer));
        }
        let original = network.into_bayes(posterior).unwrap();
        let is_frozen = |(path, why): &(String, LeftAlone)| {
            path.ends_with("conv1.weight") && *why == LeftAlone::NotTrained
        };
        assert!(original.account().left_alone.iter().any(is_frozen));
        let bytes = original.to_file(&header()).unwrap();
        let file = PosteriorFile::from_bytes(&bytes).unwrap();
        let opened = file.into_network(&device).unwrap();
        assert_eq!(opened.account(), original.account());
        assert_eq!(outputs(&opened), outputs(&original));
        let trained = |bayes: &Bayes<Network>| -> Vec<bool> {
            let entries = bayes.inventory().entries;
            entries.iter().map(|entry| entry.trained).collect()
        };
        assert_eq!(trained(&opened), trained(&original));
        assert!(opened.to_file(&header()).unwrap() == bytes, "byte for byte");
    }
}

#[test]
fn a_network_of_ones_own_comes_back_into_it() {
    let device = Device::flex();
    let network = || burn::nn::LinearConfig::new(3, 2).init(&device);
    let original = network().into_bayes(MeanField::fine_tune(10)).unwrap();
    let bytes = original.to_file(&Header::of_own_network()).unwrap();
    let file = PosteriorFile::from_bytes(bytes).unwrap();
    let without = file.clone().into_network(&device);
    assert!(matches!(without, Err(FileError::OwnNetwork)));
    let opened = file.clone().into_bayes_of(network()).unwrap();
    let weight = |bayes: &Bayes<burn::nn::Linear>| values(bayes.network().weight.base());
    assert_eq!(weight(&opened), weight(&original));
    let wider = burn::nn::LinearConfig::new(4, 2).init(&device);
    let error = file.into_bayes_of(wider).unwrap_err();
    assert!(matches!(error, FileError::Tensors(_)), "{error}");
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let folder = std::env::temp_dir().join(format!("bayesadapter-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("digits.bayes");
    let bytes = bayes(MeanField::fine_tune(10), &Device::flex())
        .to_file(&header())
        .unwrap();
    write_atomically(&path, &bytes).unwrap();
    PosteriorFile::open(&path).unwrap();
    write_atomically(&path, b"shorter").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"shorter");
    let nowhere = folder.join("missing").join("digits.bayes");
    let error = write_atomically(&nowhere, &bytes).unwrap_err();
    assert!(
        error.to_string().contains("missing"),
        "names the file: {error}"
    );
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left behind");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_past_the_limit_is_refused_before_it_is_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    // Sparse: it takes no room.
    file.as_file().set_len(MAX_FILE_BYTES + 1).unwrap();
    match PosteriorFile::open(file.path()).map(drop).unwrap_err() {
        FileError::TooLarge { bytes, limit } => assert_eq!(bytes, limit + 1),
        other => panic!("{other}"),
    }
}

fn refused(bytes: &[u8]) -> FileError {
    PosteriorFile::from_bytes(bytes).map(drop).unwrap_err()
}

#[test]
fn other_files_are_told_apart() {
    assert!(matches!(refused(b""), FileError::Format(_)));
    assert!(matches!(
        refused(b"PK\x03\x04 a zip file"),
        FileError::Format(_)
    ));
    let plain = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut file = (plain.len() as u64).to_le_bytes().to_vec();
    file.extend(plain);
    file.extend([0; 4]);
    assert!(matches!(refused(&file), FileError::NoPosterior));

    let bytes = bayes(MeanField::fine_tune(10), &Device::flex())
        .to_file(&header())
        .unwrap();
    let replaced = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = bytes
            .windows(from.len())
            .position(|window| window == from.as_bytes());
        let mut bytes = bytes.clone();
        bytes[at.unwrap()..][..to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let newer = refused(&replaced("\\\"version\\\":2", "\\\"version\\\":9"));
    assert!(
        matches!(newer, FileError::Newer { found: 9, known: 2 }),
        "{newer}"
    );
    let older = refused(&replaced("\\\"version\\\":2", "\\\"version\\\":0"));
    let oldest = OLDEST_VERSION;
    assert_eq!(
        older.to_string(),
        FileError::Older { found: 0, oldest }.to_string()
    );
    let altered = refused(&replaced("\\\"epochs\\\":12", "\\\"epochs\\\":13"));
    assert!(matches!(altered, FileError::Checksum { .. }), "{altered}");
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(matches!(refused(&flipped), FileError::Checksum { .. }));
    assert!(matches!(
        refused(&bytes[..bytes.len() - 4]),
        FileError::Format(_)
    ));
}
