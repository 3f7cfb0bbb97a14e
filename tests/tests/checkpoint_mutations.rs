//! Damaged and hostile checkpoints: whatever the bytes are, reading ends soon with a result or an error,
//! and allocates in proportion to the file, not to what the file claims.

use bayesadapter::checkpoint::{Checkpoint, CheckpointProblem, LoadOptions, load_into};
use bayesadapter_tests::Counting;
use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
use burn::tensor::Device;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Mutations of each file; the test below counts that they are at least 20,000 in all.
const MUTATIONS_PER_FILE: u64 = 2_500;
const SEED: u64 = 20_240_611;
/// Peak allocation may be this many times the file and as much besides.
const TIMES_FILE: usize = 8;
const BESIDES: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(2);

/// The counters serve one test at a time.
static COUNTERS: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// SplitMix64: small, seeded, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

#[derive(Module, Debug)]
struct Small {
    norm: BatchNorm,
    fc: Linear,
}

fn small() -> Small {
    let device = Device::flex();
    Small {
        norm: BatchNormConfig::new(4).init(&device),
        fc: LinearConfig::new(4, 5).init(&device),
    }
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    macro_rules! golden {
        ($($name:literal),*) => {
            vec![$(($name, include_bytes!(concat!("../golden/checkpoints/", $name)).to_vec())),*]
        };
    }
    // `no_checksums.pt` lets changes of the pickle through to the machine behind the archive.
    let mut seeds = golden![
        "zip.pt",
        "no_checksums.pt",
        "wrapped.pt",
        "legacy.pt",
        "wrapped_legacy.pth",
        "views_legacy.pt",
        "protocol4.pt",
        "plain.safetensors",
        "odd.safetensors"
    ];
    let record = small().into_record().into_bytes().expect("a record");
    seeds.push(("record.bpk", record.to_vec()));
    seeds
}

fn mutate(random: &mut Random, file: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => {
                for _ in 0..=random.below(8) {
                    let at = random.below(bytes.len());
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << random.below(8);
                    }
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = b"\x00\x01\x7f\x80\xff().0012abcdehjlqrtuQRXJKMN]{}"[random.below(32)];
                }
            }
            3 | 4 => edit_length(random, &mut bytes, at),
            5 => {
                let from = random.below(other.len());
                let piece = &other[from..(from + random.below(64)).min(other.len())];
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece.iter().copied());
            }
            6 => {
                let end = (at + random.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + 1 + random.below(64)).min(bytes.len());
                let piece = bytes[at..end].repeat(1 + random.below(16));
                bytes.splice(at..at, piece);
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// Overwrites a number of 2, 4 or 8 bytes by one that is likely to hurt.
fn edit_length(random: &mut Random, bytes: &mut [u8], at: usize) {
    let length = bytes.len() as u64;
    let numbers = [
        0,
        1,
        length,
        length + 1,
        length - 1,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 40,
        u64::MAX >> 1,
        u64::MAX - 7,
        u64::MAX,
    ];
    let number = numbers[random.below(numbers.len())].to_le_bytes();
    let width = [2, 4, 8][random.below(3)];
    for (byte, new) in bytes[at..].iter_mut().zip(&number[..width]) {
        *byte = *new;
    }
}

/// Opens the bytes, converts every tensor and tries to fill a module; true if it could be opened.
fn digest(bytes: &[u8], module: &Small) -> bool {
    let Ok(checkpoint) = Checkpoint::from_bytes(bytes) else {
        return false;
    };
    for (name, tensor) in checkpoint.iter() {
        if let Ok(values) = checkpoint.to_f32(name) {
            assert_eq!(values.len(), tensor.elements());
        }
    }
    if let Err(error) = load_into(module.clone(), &checkpoint, &LoadOptions::default()) {
        assert!(!error.to_string().is_empty());
    }
    true
}

#[test]
fn mutated_files_neither_panic_nor_hang_nor_allocate_what_they_claim() {
    let _counters = COUNTERS.lock();
    let seeds = seeds();
    let module = small();
    // Whatever the device sets up once is not the readers'.
    seeds.iter().for_each(|(_, file)| _ = digest(file, &module));
    let [mut mutations, mut opened] = [0, 0];
    for (name, file) in &seeds {
        assert!(digest(file, &module), "{name} is not sound to begin with");
        for round in 0..MUTATIONS_PER_FILE {
            let mut random = Random(SEED ^ (round << 8) ^ file.len() as u64);
            let other = &seeds[random.below(seeds.len())].1;
            let mutant = mutate(&mut random, file, other);
            let started = Instant::now();
            let (result, peak) =
                Counting::peak_of(|| catch_unwind(AssertUnwindSafe(|| digest(&mutant, &module))));
            let about = format!("{name}, mutation {round}, {} bytes", mutant.len());
            let is_open = result.unwrap_or_else(|_| panic!("{about}: panicked"));
            let allowed = TIMES_FILE * mutant.len() + BESIDES;
            assert!(peak <= allowed, "{about}: {peak} bytes allocated");
            assert!(started.elapsed() < PATIENCE, "{about}: too slow");
            mutations += 1;
            opened += u64::from(is_open);
        }
    }
    assert!(mutations >= 20_000, "only {mutations} mutations");
    // Otherwise the mutations are too coarse to get past the first check.
    assert!(
        opened >= mutations / 50,
        "{opened} of {mutations} could be opened"
    );
}

/// A legacy file up to the pickle of its object, then `object`.
fn legacy(object: &[u8]) -> Vec<u8> {
    let magic = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
    [magic, &b"\x80\x02M\xe9\x03."[..], b"\x80\x02}.", object].concat()
}

#[test]
fn floods_of_instructions_cost_a_small_multiple_of_their_bytes() {
    let _counters = COUNTERS.lock();
    let once: [&[u8]; 12] = [
        b"N",
        b")",
        b"]",
        b"}",
        b"(",
        b"N\x85",
        b"N\x94",
        b"]\x94",
        b"N2",
        b"((t",
        b"X\0\0\0\0",
        b"]Na",
    ];
    for piece in once {
        let file = legacy(&piece.repeat(1 << 20));
        let (result, peak) =
            Counting::peak_of(|| Checkpoint::from_bytes(file.as_slice()).map(drop));
        assert!(result.is_err());
        assert!(
            peak <= 80 * file.len(),
            "{}: {peak} bytes for {}",
            piece.escape_ascii(),
            file.len()
        );
    }
}

#[test]
fn a_dictionary_that_contains_itself_many_times_over_is_refused() {
    let _counters = COUNTERS.lock();
    // d0 = {}, d1 = {'a': d0, 'b': d0}, .. : 2^30 paths in a few hundred bytes.
    let mut object = b"\x80\x02}q\x00".to_vec();
    for level in 1..30u8 {
        object.extend([b'0', b'}', b'q', level, b'(']);
        for key in [b'a', b'b'] {
            object.extend([b'X', 1, 0, 0, 0, key, b'h', level - 1]);
        }
        object.push(b'u');
    }
    object.push(b'.');
    // And one dictionary that is its own item.
    let cycle = b"\x80\x02}q\x00X\x01\0\0\0ah\x00s.".to_vec();
    for mut object in [object, cycle] {
        object.extend(b"\x80\x02].");
        let (result, peak) = Counting::peak_of(|| Checkpoint::from_bytes(legacy(&object)));
        let error = result.expect_err("refused");
        assert!(matches!(
            error.problem,
            CheckpointProblem::Unsupported { .. }
        ));
        assert!(peak <= BESIDES);
    }
}

#[test]
fn claims_of_great_size_are_errors() {
    let _counters = COUNTERS.lock();
    let shapes = [
        "[4611686018427387904]",
        "[1099511627776,4]",
        "[0,18446744073709551615]",
    ];
    for shape in shapes {
        let header = format!(
            r#"{{"w":{{"dtype":"F32","shape":{shape},"data_offsets":[0,18446744073709551608]}}}}"#
        );
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        let (result, peak) = Counting::peak_of(|| Checkpoint::from_bytes(file));
        let message = result.expect_err("refused").to_string();
        assert!(message.contains("cut short"), "{message}");
        assert!(peak <= BESIDES);
    }
}
