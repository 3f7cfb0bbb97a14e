//! Damaged posterior files, in a program of its own, so that nobody else's memory is counted.

use bayesadapter::{
    file::{Header, PosteriorFile},
    ops::NoiseKey,
    posterior::{IntoBayes, LowRankEnsemble},
};
use bayesadapter_tests::Counting;
use burn::tensor::Device;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// 20,000 damaged files: each is refused, or was not damaged, and none takes more memory than a few times
/// its size.
#[test]
fn damaged_files_are_refused_in_bounded_memory() {
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
