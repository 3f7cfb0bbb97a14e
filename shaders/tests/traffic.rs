//! The tiles of the kernels for real GPUs move little more than they must.

use bayesadapter_shaders::kernels::{Pass, traffic};
use bayesadapter_shaders::{Map, NoiseKey, Source, cases};

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

/// Times the least that a pass may move. The gradient of every component's weight is stored before it is
/// folded.
fn most(source: &Source, pass: Pass) -> f64 {
    match (source, pass) {
        (Source::LowRank { .. }, Pass::BackwardW) => 16.0,
        _ => 4.0,
    }
}

#[test]
fn a_pass_moves_a_few_times_the_least() {
    let key = NoiseKey::default();
    for map in cases::layers() {
        let batch = map.batch();
        let mut sources = vec![
            given(batch, 1),
            given(batch, batch),
            Source::Gaussian { key },
        ];
        // Low-rank matrix products are composed of products with one given weight.
        if matches!(map, Map::Conv2d(_)) {
            sources.push(low_rank(batch));
        }
        for source in sources {
            for pass in Pass::ALL {
                let ratio = traffic(&map, &source, pass).ratio();
                assert!(
                    (1.0 - 1e-9..=most(&source, pass)).contains(&ratio),
                    "{pass:?} of {map:?} {source:?}: {ratio}"
                );
            }
        }
    }
}
