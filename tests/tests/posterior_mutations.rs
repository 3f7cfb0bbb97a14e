//! Damaged and hostile posterior files, in a program of its own, so that nobody else's memory is counted.

use bayesadapter::{
    checkpoint::{Checkpoint, CheckpointProblem},
    data::{DataError, Picture, Preparation},
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

/// Changes under a right checksum, per file. A fourth of them each are to the table of tensors and to texts.
const SIGNED: u32 = 800;

/// Where the format keeps texts beside the tensors.
const METADATA: &str = "__metadata__";

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
#[derive(Clone)]
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
        let text = self.header[METADATA]["bayesadapter"].as_str().unwrap();
        serde_json::from_str(text.split_once('\n').unwrap().1).unwrap()
    }

    /// The file with another description and the right checksum, which the refusal of a wrong one tells. A file that
    /// is refused before its checksum is looked at has none.
    fn signed(&self, description: &Value) -> (Vec<u8>, bool) {
        match PosteriorFile::from_bytes(self.file(description, "")) {
            Err(FileError::Checksum { found, .. }) => (self.file(description, &found), true),
            _ => (self.file(description, ""), false),
        }
    }

    fn file(&self, description: &Value, checksum: &str) -> Vec<u8> {
        let mut header = self.header.clone();
        header[METADATA]["bayesadapter"] = json!(format!("{checksum}\n{description}"));
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
    leaves(value, Value::is_number)
}

/// Replaces one text below `value` by another one.
fn change_a_text(value: &mut Value, words: [u32; 4]) {
    let mut texts = leaves(value, Value::is_string);
    if let Some(place) = (words[0] as usize).checked_rem(texts.len()) {
        let now = texts[place].as_str().unwrap_or_default();
        *texts[place] = json!(another_text(now, words[1]));
    }
}

/// Everything below `value` that is `one`.
fn leaves(value: &mut Value, is_one: fn(&Value) -> bool) -> Vec<&mut Value> {
    if is_one(value) {
        return vec![value];
    }
    let below = |value| leaves(value, is_one);
    match value {
        Value::Array(items) => items.iter_mut().flat_map(below).collect(),
        Value::Object(fields) => fields.values_mut().flat_map(below).collect(),
        _ => Vec::new(),
    }
}

fn another_text(now: &str, word: u32) -> String {
    match word % 8 {
        0 => String::new(),
        1 => now.to_uppercase(),
        2 => format!("{now}."),
        3 => now.chars().skip(1).collect(),
        4 => "*".to_owned(),
        5 => "\0\u{1f600}\n".to_owned(),
        6 => "layer1.0.conv1.weight".to_owned(),
        _ => "long".repeat(5_000),
    }
}

/// Changes the name, the shape, the type or the place of one tensor in the table of a file.
fn change_the_table(header: &mut Value, words: [u32; 4]) {
    let table = header.as_object_mut().unwrap();
    let names: Vec<String> = table.keys().cloned().collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let tensors: Vec<&str> = names.into_iter().filter(|&name| name != METADATA).collect();
    let [name, other] = [words[0], words[1]].map(|word| tensors[word as usize % tensors.len()]);
    match words[2] % 6 {
        0 => {
            let entry = table.remove(name).unwrap();
            table.insert(another_text(name, words[3]), entry);
        }
        // What belongs to one, under the name of the other.
        1 => {
            let [of_name, of_other] = [table[name].clone(), table[other].clone()];
            table[name] = of_other;
            table[other] = of_name;
        }
        // As many elements on other axes.
        2 => {
            let shape = table[name]["shape"].as_array_mut().unwrap();
            match words[3] % 3 {
                0 => shape.reverse(),
                1 => shape.push(json!(1)),
                _ => {
                    let sizes = shape.iter().map(|size| size.as_u64().unwrap());
                    *shape = vec![json!(sizes.product::<u64>())];
                }
            }
        }
        3 => change_a_number(&mut table[name], [words[3], words[1], 0, 0]),
        4 => {
            let types = ["F64", "F16", "BF16", "I32", "U8", "BOOL", "C64", "F8_E4M3"];
            table[name]["dtype"] = json!(types[words[3] as usize % types.len()]);
        }
        _ => {
            let others = [json!(null), json!([]), json!({}), json!("F32"), json!(4)];
            table[name] = others[words[3] as usize % others.len()].clone();
        }
    }
}

/// An input made as the file says.
fn prepared(header: &Header) -> Option<Result<Vec<f32>, DataError>> {
    let preparation = Preparation::new(header.input_shape?, header.normalisation.clone()?);
    let picture = Picture::new(1, 1, 1, vec![7]).unwrap();
    Some(preparation.prepare(&picture))
}

/// How many files came how far.
#[derive(Debug, Default)]
struct Tally {
    opened: u32,
    refused: u32,
    /// Changes to the table of tensors, and those of them that are found after the checksum.
    tables: u32,
    tables_past_checksum: u32,
    /// Files that open, and whose inputs are then made, or refused.
    inputs: [u32; 2],
}

/// Files that ask for anything at all under a right checksum: each opens or is refused soon, in memory in proportion
/// to its size, and so are the inputs that it describes.
#[test]
fn no_signed_file_takes_more_than_it_holds() {
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
    let mut tally = Tally::default();
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
        for round in 0..SIGNED {
            let [words, others] = [0, 1].map(|part| key.bits(round, part));
            let (mut changed, mut description) = (parts.clone(), parts.description());
            let is_table = round % 4 == 0;
            match round % 4 {
                0 => change_the_table(&mut changed.header, words),
                1 => change_a_text(&mut description, words),
                _ => {
                    if words[2] % 4 == 0 {
                        description["architecture"] = all[words[3] as usize % all.len()].clone();
                    }
                    change_a_number(&mut description, words);
                    if others[2] % 2 == 0 {
                        change_a_number(&mut description, others);
                    }
                }
            }
            let (signed, is_signed) = changed.signed(&description);
            tally.tables += u32::from(is_table);
            tally.tables_past_checksum += u32::from(is_table && is_signed);
            let clock = Instant::now();
            let (result, peak) = Counting::peak_of(|| {
                let file = PosteriorFile::from_bytes(&signed)?;
                let header = file.header().clone();
                let network = file.into_network(&device)?;
                Ok::<_, FileError>((network, prepared(&header)))
            });
            let what = format!("round {round} of {number}: {description}");
            assert!(peak < limit, "{peak} bytes of {limit}, {what}");
            assert!(clock.elapsed() < PATIENCE, "too long, {what}");
            match result {
                Ok((_, input)) => {
                    tally.opened += 1;
                    if let Some(input) = input {
                        tally.inputs[usize::from(input.is_err())] += 1;
                    }
                }
                Err(FileError::Checksum { .. }) if is_signed => panic!("not signed: {what}"),
                Err(_) => tally.refused += 1,
            }
        }
    }
    assert!(tally.opened > 100 && tally.refused > 1_000, "{tally:?}");
    assert!(tally.tables_past_checksum > tally.tables / 5, "{tally:?}");
    assert!(tally.inputs.iter().all(|&count| count > 20), "{tally:?}");
}

/// A film that someone takes for a posterior is not read to its end.
#[test]
fn a_file_that_begins_otherwise_is_not_read() {
    let _one_at_a_time = COUNTERS.lock().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    // Sparse: it takes no room.
    file.as_file().set_len(1 << 31).unwrap();
    let (result, peak) = Counting::peak_of(|| PosteriorFile::open(file.path()));
    assert!(matches!(result, Err(FileError::Format(_))), "{result:?}");
    assert!(peak < 1 << 16, "{peak} bytes");
    let (result, peak) = Counting::peak_of(|| Checkpoint::open(file.path()));
    let problem = result.unwrap_err().problem;
    let unknown = matches!(problem, CheckpointProblem::UnknownFormat { .. });
    assert!(unknown, "{problem}");
    assert!(peak < 1 << 16, "{peak} bytes");
}
