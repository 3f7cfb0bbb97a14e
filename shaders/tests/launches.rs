//! What training launches: the same kernels in every step, and few of them.

use bayesadapter_shaders::kernels::{self, Kernel, Reduction, Variant};
use bayesadapter_shaders::{Conv2d, Map, Padding, Source, cases};

/// One step's components of so many examples: in turn, all the same, and as random as a draw.
fn indices(batch: usize, count: usize) -> [Vec<u32>; 3] {
    let examples = || 0..batch as u32;
    [
        examples().map(|b| b % count as u32).collect(),
        vec![count as u32 - 1; batch],
        examples().map(|b| b * b * 7 % 31 % count as u32).collect(),
    ]
}

/// Every kernel of a step of one layer.
fn kernels_of(map: &Map, source: &Source, variant: Variant) -> [Kernel; 3] {
    let parts = kernels::components_at_once(map, variant);
    let reduction = Reduction::of_all(source, map.batch(), parts);
    [
        kernels::forward(map, source, variant),
        kernels::backward_x(map, source, variant),
        kernels::backward_w(map, source.into(), &reduction, variant),
    ]
    .map(|launch| launch.kernel)
}

/// A kernel that followed the index would be compiled again in nearly every step.
#[test]
fn an_index_changes_no_kernel() {
    // The smallest images of a residual network, of which several share a tile.
    let small = Map::Conv2d(Conv2d {
        batch: 32,
        channels_in: 32,
        channels_out: 32,
        image: [4, 4],
        kernel: [3, 3],
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::symmetric(1, 1),
        groups: 1,
    });
    let maps = [cases::small_maps(), cases::layers(), vec![small]].concat();
    for map in maps {
        for (variant, count) in [
            (Variant::Gpu, 3),
            (Variant::Gpu, 20),
            (Variant::Software, 20),
        ] {
            let steps = indices(map.batch(), count);
            let given = |index: &Vec<u32>| Source::Given {
                index: index.as_slice().into(),
                count,
            };
            let low_rank = |index: &Vec<u32>| Source::LowRank {
                index: index.as_slice().into(),
                components: count,
                rank: 2,
            };
            for sources in [steps.each_ref().map(given), steps.each_ref().map(low_rank)] {
                let [first, others @ ..] = sources.map(|source| kernels_of(&map, &source, variant));
                for other in others {
                    assert_eq!(first, other, "{map:?}, {count} slots, {variant:?}");
                }
            }
        }
    }
}

/// Rounds over the components cost launches, which small weights are not worth; large ones are not copied.
#[test]
fn few_rounds_fold_the_components_of_small_weights() {
    let dense = |channels: usize| {
        Map::Conv2d(Conv2d {
            batch: 32,
            channels_in: channels,
            channels_out: channels,
            image: [8, 8],
            kernel: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::symmetric(1, 1),
            groups: 1,
        })
    };
    for variant in Variant::ALL {
        for channels in [16, 32, 64, 128] {
            let at_once = kernels::components_at_once(&dense(channels), variant);
            assert_eq!(at_once, 8, "{channels} channels, {variant:?}");
        }
        // 36 MiB each.
        assert_eq!(kernels::components_at_once(&dense(1024), variant), 1);
    }
}
