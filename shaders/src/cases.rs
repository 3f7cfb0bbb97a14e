//! Shapes and sources that the tests of the kernels share. Not part of the interface.

use crate::geometry::{Conv2d, Map, Matmul, Padding};
use crate::noise::NoiseKey;
use crate::source::Source;
use std::sync::Arc;

fn matmul(batch: usize, rows: usize, inputs: usize, outputs: usize) -> Map {
    Map::Matmul(Matmul {
        batch,
        rows,
        inputs,
        outputs,
    })
}

/// Padded so that an odd kernel keeps the size of the image.
fn conv(channels: [usize; 2], image: [usize; 2], kernel: [usize; 2], groups: usize) -> Conv2d {
    Conv2d {
        batch: 5,
        channels_in: channels[0],
        channels_out: channels[1],
        image,
        kernel,
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::symmetric(kernel[0] / 2, kernel[1] / 2),
        groups,
    }
}

/// Small enough for the twins: every edge of a tile, every kind of window.
pub fn small_maps() -> Vec<Map> {
    let mut strided = conv([6, 4], [9, 7], [3, 2], 2);
    strided.stride = [2, 3];
    strided.dilation = [2, 1];
    strided.padding.bottom = 0;
    let mut leaping = conv([4, 8], [3, 5], [3, 3], 1);
    leaping.stride = [7, 11];
    // Enough examples that a workgroup makes the weights of several of them.
    let mut together = conv([64, 64], [8, 8], [3, 3], 1);
    together.batch = 9;
    // Too large to be laid out in workgroup memory.
    let wide = conv([2, 2], [24, 23], [33, 31], 1);
    vec![
        matmul(5, 1, 1, 1),
        matmul(5, 1, 13, 10),
        matmul(9, 1, 36, 68),
        matmul(70, 1, 40, 36),
        matmul(5, 7, 12, 20),
        matmul(5, 70, 5, 66),
        matmul(1, 70, 9, 67),
        Map::Conv2d(conv([8, 12], [6, 10], [3, 3], 1)),
        Map::Conv2d(conv([16, 17], [13, 11], [3, 3], 1)),
        Map::Conv2d(conv([12, 8], [7, 5], [1, 1], 1)),
        Map::Conv2d(conv([6, 6], [7, 9], [3, 3], 6)),
        Map::Conv2d(conv([6, 12], [7, 9], [5, 3], 6)),
        Map::Conv2d(conv([3, 9], [8, 9], [7, 7], 1)),
        Map::Conv2d(conv([2, 2], [14, 13], [11, 13], 1)),
        Map::Conv2d(wide),
        Map::Conv2d(conv([1, 1], [1, 1], [1, 1], 1)),
        Map::Conv2d(conv([2, 3], [1, 1], [3, 3], 1)),
        Map::Conv2d(leaping),
        Map::Conv2d(strided),
        Map::Conv2d(together),
    ]
}

/// Layers of real networks with their batches, those that the benchmarks time.
pub fn layers() -> Vec<Map> {
    let same = |kernel: usize, channels: [usize; 2], side: usize, batch: usize, groups: usize| {
        Map::Conv2d(Conv2d {
            batch,
            ..conv(channels, [side; 2], [kernel; 2], groups)
        })
    };
    vec![
        same(3, [16, 16], 32, 32, 1),
        same(3, [32, 32], 16, 32, 1),
        same(3, [64, 64], 8, 32, 1),
        same(3, [64, 64], 16, 32, 1),
        same(3, [128, 128], 16, 16, 1),
        same(3, [96, 96], 16, 32, 96),
        same(1, [64, 256], 16, 32, 1),
        matmul(64, 1, 512, 512),
        matmul(128, 1, 512, 10),
        matmul(128, 1, 2048, 1000),
    ]
}

/// Shapes that only the text of a kernel is checked for: a few of each kind, because the kernels of
/// software adapters are long.
pub fn large_maps() -> Vec<Map> {
    let mut strided = conv([6, 4], [90, 70], [3, 2], 2);
    strided.stride = [2, 3];
    strided.dilation = [2, 1];
    vec![
        matmul(5, 13, 64, 48),
        Map::Conv2d(conv([16, 16], [32, 32], [3, 3], 1)),
        Map::Conv2d(conv([64, 256], [16, 16], [1, 1], 1)),
        Map::Conv2d(conv([96, 96], [16, 16], [3, 3], 96)),
        Map::Conv2d(conv([3, 64], [29, 31], [7, 7], 1)),
        Map::Conv2d(conv([40, 40], [32, 32], [15, 15], 1)),
        Map::Conv2d(strided),
    ]
}

/// Every source: several weights of which some are unused, one for all, noise, two ranks.
pub fn sources(batch: usize) -> Vec<Source> {
    let index: Arc<[u32]> = [0, 3, 1, 0, 3].into_iter().cycle().take(batch).collect();
    vec![
        Source::Given {
            index: index.clone(),
            count: 4,
        },
        Source::Given {
            index: vec![0; batch].into(),
            count: 1,
        },
        Source::Gaussian {
            key: NoiseKey {
                seed: 0x0123_4567_89AB_CDEF,
                draw: 3,
                parameter: 8,
                first_example: 100,
            },
        },
        Source::LowRank {
            index: index.clone(),
            components: 4,
            rank: 1,
        },
        Source::LowRank {
            index,
            components: 12,
            rank: 3,
        },
    ]
}
