//! Convolution with a kernel per example: no im2col, and never more than a block of one example's
//! kernels per thread.

use super::lanes::{Lanes, Task, dispatch};
use super::runs::filled_rows;
use super::source::{Block, Scratch, Weight};
use super::tiles::{Outer, Tap, Taps};
use super::window::{Windows, flattened};
use bayesadapter_shaders::Conv2d;
use std::ops::Range;

/// Sizes that every pass needs.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Input and output channels of one group.
    pub inputs: usize,
    pub outputs: usize,
    /// Taps of one channel, and of one output.
    pub taps: usize,
    pub fan_in: usize,
    /// Elements of one channel of x and of y.
    pub image: usize,
    pub positions: usize,
}

impl Sizes {
    pub fn new(c: &Conv2d) -> Self {
        let (inputs, taps) = (c.channels_in / c.groups, c.kernel[0] * c.kernel[1]);
        Self {
            inputs,
            outputs: c.channels_out / c.groups,
            taps,
            fan_in: inputs * taps,
            image: c.image[0] * c.image[1],
            positions: c.output().iter().product(),
        }
    }
}

/// Weight elements made at a time: they stay in the first-level cache until they are used.
const WEIGHTS_AT_ONCE: usize = 4096;

/// Elements of a weight that stays in the second-level cache as a whole.
const WHOLE_WEIGHT: usize = 1 << 16;

/// y `[batch, channels_out, oh, ow]`.
pub(super) fn forward(c: &Conv2d, weight: &Weight, x: &[f32]) -> Vec<f32> {
    let c = &flattened(c);
    let sizes = Sizes::new(c);
    let windows = Windows::new(c);
    let taps: Taps = (0..)
        .zip(windows.offsets(sizes.inputs))
        .map(|(weight, image)| Tap { weight, image })
        .collect();
    let shared = Forward {
        c,
        sizes,
        weight,
        windows: &windows,
        taps: &taps,
        x,
    };
    let (channels, positions) = (c.channels_out, sizes.positions);
    let room = || (windows.buffer(sizes.inputs), Scratch::default());
    filled_rows(
        &weight.order(0..c.batch),
        [channels * positions, shared.share() * positions],
        room,
        |(image, scratch), example, start, y| {
            dispatch(ForwardTask {
                shared: &shared,
                example,
                first: start / positions,
                image,
                scratch,
                y,
            });
        },
    )
}

struct Forward<'a> {
    c: &'a Conv2d,
    sizes: Sizes,
    weight: &'a Weight<'a>,
    windows: &'a Windows,
    taps: &'a Taps,
    x: &'a [f32],
}

impl Forward<'_> {
    /// Output channels per task: all of an example's, unless examples are fewer than threads.
    fn share(&self) -> usize {
        let splits = rayon::current_num_threads().div_ceil(self.c.batch);
        match self.c.groups {
            1 => self.sizes.outputs.div_ceil(splits),
            groups => groups.div_ceil(splits) * self.sizes.outputs,
        }
    }

    /// Output channels that are computed together: their weights stay in the first-level cache.
    #[inline(always)]
    fn rows_at_once<L: Lanes>(&self) -> usize {
        let planes = Outer::planes_at_once::<L>();
        let rows = match self.weight {
            Weight::Given { .. } => self.c.channels_out,
            _ => (WEIGHTS_AT_ONCE / self.sizes.fan_in / planes).max(1) * planes,
        };
        match self.c.groups {
            1 => rows,
            _ => rows.div_ceil(self.sizes.outputs) * self.sizes.outputs,
        }
    }

    /// Output channels whose weights are made together, `rows_at_once` or more: all of a component, so that they are
    /// made once for all of its examples.
    #[inline(always)]
    fn rows_made_at_once(&self, rows_at_once: usize) -> usize {
        match self.weight {
            Weight::LowRank(_) if self.c.channels_out * self.sizes.fan_in <= WHOLE_WEIGHT => {
                self.c.channels_out.max(rows_at_once)
            }
            _ => rows_at_once,
        }
    }
}

struct ForwardTask<'a> {
    shared: &'a Forward<'a>,
    example: usize,
    /// First output channel.
    first: usize,
    image: &'a mut Vec<f32>,
    scratch: &'a mut Scratch,
    y: &'a mut [f32],
}

impl Task for ForwardTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Forward {
            sizes,
            weight,
            windows,
            taps,
            c,
            ..
        } = *self.shared;
        let x_len = c.channels_in * sizes.image;
        let x = &self.shared.x[self.example * x_len..][..x_len];
        let last = self.first + self.y.len() / sizes.positions;
        let mut filled = None;
        let mut image: &[f32] = &[];
        let rows_at_once = self.shared.rows_at_once::<L>();
        let rows_made_at_once = self.shared.rows_made_at_once(rows_at_once);
        for start in (self.first..last).step_by(rows_made_at_once) {
            let made = start..last.min(start + rows_made_at_once);
            let block = Block {
                rows: made.clone(),
                columns: 0..sizes.fan_in,
                pitch: sizes.fan_in,
            };
            let view = weight.block(self.example, &block, self.scratch);
            let mut start_of_rows = made.start;
            while start_of_rows < made.end {
                let rows = start_of_rows..made.end.min(start_of_rows + rows_at_once);
                start_of_rows = rows.end;
                for (group, rows) in by_group(rows, sizes.outputs) {
                    if filled != Some(group) {
                        let len = sizes.inputs * sizes.image;
                        image = windows.view(&x[group * len..][..len], self.image);
                        filled = Some(group);
                    }
                    let outer = Outer {
                        weight: &view.values[(rows.start - start) * view.pitch..],
                        weight_pitch: view.pitch,
                        taps,
                        image,
                        tiles: &windows.tiles,
                        out_pitch: sizes.positions,
                    };
                    let out = (rows.start - self.first) * sizes.positions;
                    outer.run::<L>(rows.len(), &mut self.y[out..]);
                }
            }
        }
    }
}

/// Splits a range of channels where the group changes.
#[inline(always)]
fn by_group(
    channels: Range<usize>,
    per_group: usize,
) -> impl Iterator<Item = (usize, Range<usize>)> {
    let groups = channels.start / per_group..channels.end.div_ceil(per_group);
    groups.map(move |group| {
        let start = channels.start.max(group * per_group);
        let end = channels.end.min((group + 1) * per_group);
        (group, start..end)
    })
}
