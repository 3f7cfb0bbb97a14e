//! Damaged and hostile posterior files, in a program of its own, so that nobody else's memory is counted.

use bayesadapter::{
    file::{FileError, Header, PosteriorFile},
    models::{
        Architecture, CifarResNetConfig, DenseNetConfig, DigitsCnnConfig, EfficientNetLiteConfig,
        MlpConfig, MobileFaceNetConfig, ResNetConfig, WideResNetConfig,
    },
    ops::NoiseKey,
    posterior::{IntoBayes, LowRankEnsemble, MeanField, Posterior, Select},
};
use bayesadapter_tests::Counting;
use burn::tensor::Device;
use serde_json::{Value, json};
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The counters serve one test at a time.
static COUNTERS: Mutex<()> = Mutex::new(());

/// Headers that are changed and signed again, per file.
const HEADERS: u32 = 500;

/// No file here takes as long to open, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// 20,000 damaged files: each is refused, or was not damaged, and none takes more memory than a few times
/// its size.
#[test]
fn damaged_files_are_refused_in_bounded_memory() {
    let _one_at_a_time = COUNTERS.lock().unwrap();
    let small = burn::nn::LinearConfig::new(3, 2).init(&Device::flex());
    let bytes = small
        .into_bayes(LowRankEnsemble::fine_tune(10).with_components(2))
        .unwrap();
    let bytes = bytes.to_file(&Header::of_own_network()).unwrap();
    let limit = 40 * bytes.len() + (1 << 16);
    let key = NoiseKey {
        seed: 3,
        ..Default::default()
    };
    for round in 0..20_000u32 {
        let words = key.bits(round, 0);
        let mut damaged = bytes.clone();
        let at = words[0] as usize % bytes.len();
        match words[1] % 4 {
            0 => damaged[at] ^= 1 << (words[2] % 8),
            1 => damaged.truncate(at),
            2 => damaged[at] = words[2] as u8,
            _ => {
                let end = (at + words[2] as usize % 16).min(bytes.len());
                damaged.drain(at..end);
            }
        }
        let (result, peak) = Counting::peak_of(|| PosteriorFile::from_bytes(&damaged));
        assert!(peak < limit, "round {round} took {peak} bytes");
        assert!(
            result.is_err() || damaged == bytes,
            "round {round} was accepted"
        );
    }
}

/// A safetensors file in its parts.
struct Parts {
    header: Value,
    tensors: Vec<u8>,
}

impl Parts {
    fn of(file: &[u8]) -> Self {
        let (length, rest) = file.split_first_chunk::<8>().unwrap();
        let (header, tensors) = rest.split_at(u64::from_le_bytes(*length) as usize);
        Self {
            header: serde_json::from_slice(header).unwrap(),
            tensors: tensors.to_vec(),
        }
    }

    /// What the file says of itself.
    fn description(&self) -> Value {
        let text = self.header["__metadata__"]["bayesadapter"]
            .as_str()
            .unwrap();
        serde_json::from_str(text.split_once('\n').unwrap().1).unwrap()
    }

    /// The file with another description and the right checksum, which the refusal of a wrong one tells.
    fn signed(&self, description: &Value) -> Vec<u8> {
        let checksum = match PosteriorFile::from_bytes(self.file(description, "")) {
            Err(FileError::Checksum { found, .. }) => found,
            _ => String::new(),
        };
        self.file(description, &checksum)
    }

    fn file(&self, description: &Value, checksum: &str) -> Vec<u8> {
        let mut header = self.header.clone();
        header["__metadata__"]["bayesadapter"] = json!(format!("{checksum}\n{description}"));
        let header = header.to_string();
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend(&self.tensors);
        file
    }
}

fn architectures() -> Vec<Architecture> {
    vec![
        Architecture::DigitsCnn(DigitsCnnConfig {
            width: 2,
            ..DigitsCnnConfig::new(3)
        }),
        Architecture::CifarResNet(CifarResNetConfig {
            width: 2,
            ..CifarResNetConfig::new(8, 3)
        }),
        Architecture::WideResNet(WideResNetConfig {
            width: 2,
            ..WideResNetConfig::new(10, 1, 3)
        }),
        Architecture::ResNet(ResNetConfig {
            width: 2,
            ..ResNetConfig::new(18, 3)
        }),
        Architecture::DenseNet(DenseNetConfig {
            growth: 1,
            ..DenseNetConfig::new(121, 3)
        }),
        Architecture::EfficientNetLite(EfficientNetLiteConfig {
            width: 0.05,
            ..EfficientNetLiteConfig::new(3)
        }),
        Architecture::MobileFaceNet(MobileFaceNetConfig {
            width: 0.05,
            embedding: 4,
            ..MobileFaceNetConfig::new(Some(3))
        }),
        Architecture::Mlp(MlpConfig::new([1, 2, 2], vec![3, 2], 3)),
    ]
}

/// Replaces one number below `value` by another one.
fn change_a_number(value: &mut Value, words: [u32; 4]) {
    let extremes = [
        json!(0),
        json!(1),
        json!(201),
        json!(65_536),
        json!((1u64 << 24) + 1),
        json!(6_000_000_002u64),
        json!(6_000_000_004u64),
        json!(1u64 << 32),
        json!(1u64 << 60),
        json!(u64::MAX),
        json!(-1),
        json!(64.0),
        json!(1e300),
    ];
    let count = numbers(value).len();
    if let Some(place) = (words[0] as usize).checked_rem(count) {
        *numbers(value)[place] = extremes[words[1] as usize % extremes.len()].clone();
    }
}

fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Number(_) => vec![value],
        Value::Array(items) => items.iter_mut().flat_map(numbers).collect(),
        Value::Object(fields) => fields.values_mut().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

/// Headers that ask for anything at all under a right checksum: each file opens or is refused soon, in memory in
/// proportion to its size.
#[test]
fn no_header_takes_more_than_its_file_holds() {
    let _one_at_a_time = COUNTERS.lock().unwrap();
    let device = Device::flex();
    let posteriors: [Posterior; 2] = [
        MeanField::fine_tune(10)
            .with_select(Select::LastLayer)
            .into(),
        LowRankEnsemble::fine_tune(10).with_components(2).into(),
    ];
    let all: Vec<Value> = architectures()
        .iter()
        .map(|architecture| json!(architecture))
        .collect();
    let (mut opened, mut refused) = (0, 0);
    for (number, architecture) in architectures().into_iter().enumerate() {
        let posterior = posteriors[number % posteriors.len()].clone();
        let bayes = architecture.init(&device).unwrap().into_bayes(posterior);
        let file = bayes.unwrap().to_file(&Header::of(architecture)).unwrap();
        let parts = Parts::of(&file);
        let limit = 60 * file.len() + (1 << 20);
        let key = NoiseKey {
            seed: number as u64,
            ..Default::default()
        };
        for round in 0..HEADERS {
            let [words, others] = [0, 1].map(|part| key.bits(round, part));
            let mut description = parts.description();
            if words[2] % 4 == 0 {
                description["architecture"] = all[words[3] as usize % all.len()].clone();
            }
            change_a_number(&mut description, words);
            if others[2] % 2 == 0 {
                change_a_number(&mut description, others);
            }
            let signed = parts.signed(&description);
            let clock = Instant::now();
            let (result, peak) = Counting::peak_of(|| {
                PosteriorFile::from_bytes(&signed).and_then(|file| file.into_network(&device))
            });
            let what = format!("{description} of {} bytes", file.len());
            assert!(peak < limit, "{peak} bytes for {what}");
            assert!(clock.elapsed() < PATIENCE, "too long for {what}");
            match result {
                Ok(_) => opened += 1,
                Err(FileError::Checksum { .. }) => panic!("not signed: {what}"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(opened > 100 && refused > 1_000, "{opened} and {refused}");
}
