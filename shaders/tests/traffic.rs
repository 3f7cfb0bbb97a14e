//! The tiles of the kernels for real GPUs move little more than they must.

use bayesadapter_shaders::kernels::{Pass, SourceKind, sample_traffic, traffic};
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

/// Draws read their parameters again, and their folds the draws and the shared weight.
#[test]
fn draws_move_a_few_times_the_least() {
    for map in cases::layers() {
        for kind in [SourceKind::Gaussian, SourceKind::LowRank { rank: 1 }] {
            let both = sample_traffic(&map, kind, 20).expect("a source that is drawn from");
            for (what, traffic) in ["draws", "gradients"].into_iter().zip(both) {
                let ratio = traffic.ratio();
                assert!(
                    (1.0 - 1e-9..=5.5).contains(&ratio),
                    "{what} of {map:?} {kind:?}: {ratio}"
                );
            }
        }
        assert_eq!(sample_traffic(&map, SourceKind::Given, 20), None);
    }
}
