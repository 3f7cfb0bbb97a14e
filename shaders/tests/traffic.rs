//! The tiles of the kernels for real GPUs move little more than they must.

use bayesadapter_shaders::kernels::{Pass, traffic};
use bayesadapter_shaders::{NoiseKey, Source, cases};

/// Weights in sets of so many examples.
fn given(batch: usize, count: usize) -> Source {
    Source::Given {
        index: (0..batch).map(|example| (example % count) as u32).collect(),
        count,
    }
}

fn low_rank(batch: usize) -> Source {
    Source::LowRank {
        index: (0..batch).map(|example| (example % 20) as u32).collect(),
        components: 20,
        rank: 1,
    }
}

#[test]
fn a_pass_moves_at_most_four_times_the_least() {
    let key = NoiseKey::default();
    for map in cases::layers() {
        let batch = map.batch();
        let sources = [
            given(batch, 1),
            given(batch, batch),
            Source::Gaussian { key },
            low_rank(batch),
        ];
        for source in sources {
            for pass in Pass::ALL {
                // The gradient of every component's weight is stored before it is folded.
                if matches!(source, Source::LowRank { .. }) && pass == Pass::BackwardW {
                    continue;
                }
                let ratio = traffic(&map, &source, pass).ratio();
                assert!(
                    (1.0 - 1e-9..=4.0).contains(&ratio),
                    "{pass:?} of {map:?} {source:?}: {ratio}"
                );
            }
        }
    }
}
