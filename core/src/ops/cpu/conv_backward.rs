//! Gradients of the convolution. Threads share out the input channels: each owns its channels of
//! dx and its columns of the weight gradient, so noise is made once and nothing is reduced twice.

use super::conv::Sizes;
use super::lanes::{LANES, Lanes, Task, dispatch};
use super::runs::zeros;
use super::source::{Block, Fold, Folded, Scratch, Weight, scatter};
use super::tiles::{Inner, Outer, Tap, Taps};
use super::window::{GradientWindows, Windows, flattened};
use crate::ops::backend::Wanted;
use bayesadapter_shaders::Conv2d;
use rayon::prelude::*;
use std::ops::Range;

/// Input channels per block: the weights of a block stay in the second-level cache.
const CHANNELS_AT_ONCE: usize = 16;

/// `[dx, d parameters..]`; what is not wanted is empty. `lengths` are those of the parameters, and
/// `slots` counts the weights or components.
pub(super) fn backward(
    c: &Conv2d,
    weight: &Weight,
    slots: usize,
    lengths: &[usize],
    grad: &[f32],
    x: &[f32],
    wanted: Wanted,
) -> Vec<Vec<f32>> {
    let c = &flattened(c);
    let sizes = Sizes::new(c);
    let windows = Windows::new(c);
    let gradient_windows = GradientWindows::new(c);
    let shared = Backward {
        c,
        sizes,
        weight,
        slots,
        windows: &windows,
        gradient_windows: &gradient_windows,
        grad,
        x,
        wanted,
    };
    let mut dx = zeros(if wanted.x { x.len() } else { 0 });
    let shares = shared.shares();
    let mut pieces = split(&mut dx, c, &shares);
    let folded: Vec<Option<(Block, Folded)>> = shares
        .par_iter()
        .zip(pieces.par_iter_mut())
        .map(|(share, dx)| {
            dispatch(BackwardTask {
                shared: &shared,
                share,
                dx,
            })
        })
        .collect();
    let mut gradients = vec![dx];
    if wanted.parameters {
        let mut sums: Vec<Vec<f32>> = lengths.iter().map(|&len| vec![0.0; len]).collect();
        for (block, folded) in folded.into_iter().flatten() {
            scatter(weight, &block, folded, &mut sums);
        }
        gradients.extend(sums);
    } else {
        gradients.extend(lengths.iter().map(|_| Vec::new()));
    }
    gradients
}

struct Backward<'a> {
    c: &'a Conv2d,
    sizes: Sizes,
    weight: &'a Weight<'a>,
    slots: usize,
    windows: &'a Windows,
    gradient_windows: &'a GradientWindows,
    grad: &'a [f32],
    x: &'a [f32],
    wanted: Wanted,
}

/// What one task does: some input channels of some examples.
struct Share {
    /// Input channels, counted over all groups; whole groups where there are several.
    channels: Range<usize>,
    examples: Range<usize>,
}

impl Backward<'_> {
    /// Channels first, since they cost nothing to share; examples only where channels are few.
    fn shares(&self) -> Vec<Share> {
        let threads = rayon::current_num_threads();
        let (c, sizes) = (self.c, self.sizes);
        let width = if c.groups > 1 {
            c.groups.div_ceil(threads) * sizes.inputs
        } else {
            let most = (sizes.inputs / 4).max(1);
            let blocks = sizes.inputs.div_ceil(CHANNELS_AT_ONCE);
            let blocks = blocks.next_multiple_of(threads).min(most);
            let width = sizes.inputs.div_ceil(blocks);
            if width >= 4 {
                width.next_multiple_of(4)
            } else {
                width
            }
        };
        let blocks = c.channels_in.div_ceil(width);
        let parts = threads.div_ceil(blocks).min(c.batch);
        let part = c.batch.div_ceil(parts);
        (0..c.batch)
            .step_by(part)
            .flat_map(|example| {
                let examples = example..c.batch.min(example + part);
                (0..c.channels_in).step_by(width).map(move |channel| Share {
                    channels: channel..c.channels_in.min(channel + width),
                    examples: examples.clone(),
                })
            })
            .collect()
    }
}

/// The images of dx that each share writes, in the order of its examples.
fn split<'d>(dx: &'d mut [f32], c: &Conv2d, shares: &[Share]) -> Vec<Vec<&'d mut [f32]>> {
    let image = c.image[0] * c.image[1];
    let mut pieces: Vec<Vec<&mut [f32]>> = shares.iter().map(|_| Vec::new()).collect();
    let mut shares = shares.iter().enumerate().collect::<Vec<_>>();
    shares.sort_by_key(|(_, share)| (share.examples.start, share.channels.start));
    for (example, mut images) in dx.chunks_mut(c.channels_in * image).enumerate() {
        for (position, share) in shares.iter().filter(|(_, s)| s.examples.contains(&example)) {
            let (mine, rest) = images.split_at_mut(share.channels.len() * image);
            pieces[*position].push(mine);
            images = rest;
        }
    }
    pieces
}

struct BackwardTask<'a, 'd> {
    shared: &'a Backward<'a>,
    share: &'a Share,
    dx: &'a mut [&'d mut [f32]],
}

/// Buffers of one task.
struct Room {
    image: Vec<f32>,
    gradient: Vec<f32>,
    /// Output gradients in the order of the tiles, where rows do not fill their tiles.
    rows: Vec<f32>,
    /// Image offset of each column of the block.
    offsets: Vec<u32>,
    scratch: Scratch,
}

impl Task for BackwardTask<'_, '_> {
    type Output = Option<(Block, Folded)>;

    #[inline(always)]
    fn run<L: Lanes>(mut self) -> Self::Output {
        let shared = self.shared;
        let (sizes, wanted) = (shared.sizes, shared.wanted);
        let block = self.block();
        let mut room = Room {
            image: shared.windows.buffer(self.inputs().len()),
            gradient: shared.gradient_windows.buffer(sizes.outputs),
            rows: vec![0.0; sizes.outputs * shared.windows.tiles.len() * LANES],
            offsets: shared.windows.offsets(self.inputs().len()),
            scratch: Scratch::default(),
        };
        let mut fold = wanted
            .parameters
            .then(|| Fold::new(shared.weight, block.clone(), shared.slots));
        let order = shared.weight.order(self.share.examples.clone());
        let mut taps = None;
        for (n, &example) in order.iter().enumerate() {
            let Room {
                image,
                gradient,
                rows,
                offsets,
                scratch,
            } = &mut room;
            let view = shared.weight.block(example, &block, scratch);
            let groups = self.share.channels.start / sizes.inputs
                ..self.share.channels.end.div_ceil(sizes.inputs);
            for (position, group) in groups.enumerate() {
                let outputs = sizes.outputs * sizes.positions;
                let start = example * shared.c.groups * outputs + group * outputs;
                let grad = &shared.grad[start..start + outputs];
                if wanted.x {
                    let taps = taps.get_or_insert_with(|| self.taps(view.pitch));
                    shared.gradient_windows.fill(grad, gradient);
                    let weight = &view.values[position * sizes.outputs * view.pitch..];
                    self.image_gradient::<L>(weight, taps, gradient, example, position);
                }
                if let Some(fold) = &mut fold {
                    shared.windows.fill(self.images(example, group), image);
                    let target = fold.target(example);
                    let target = &mut target[position * sizes.outputs * block.width()..];
                    let inner = Inner {
                        rows: self.tile_rows(grad, rows),
                        row_pitch: shared.windows.tiles.len() * LANES,
                        image,
                        tiles: &shared.windows.tiles,
                        offsets,
                    };
                    inner.run::<L>(sizes.outputs, target, block.width());
                }
            }
            if let Some(fold) = &mut fold {
                fold.advance(example, view.deviation, order.get(n + 1).copied());
            }
        }
        fold.map(Fold::finish)
    }
}

impl BackwardTask<'_, '_> {
    /// Input channels within their group.
    fn inputs(&self) -> Range<usize> {
        match self.shared.c.groups {
            1 => self.share.channels.clone(),
            _ => 0..self.shared.sizes.inputs,
        }
    }

    /// The weights that the share's channels meet.
    fn block(&self) -> Block {
        let sizes = self.shared.sizes;
        let (channels, inputs) = (&self.share.channels, self.inputs());
        let groups = channels.start / sizes.inputs..channels.end.div_ceil(sizes.inputs);
        Block {
            rows: groups.start * sizes.outputs..groups.end * sizes.outputs,
            columns: inputs.start * sizes.taps..inputs.end * sizes.taps,
            pitch: sizes.fan_in,
        }
    }

    /// Images of the share's channels in one group.
    #[inline(always)]
    fn images(&self, example: usize, group: usize) -> &[f32] {
        let (c, sizes) = (self.shared.c, self.shared.sizes);
        let first = example * c.channels_in + group * sizes.inputs + self.inputs().start;
        &self.shared.x[first * sizes.image..][..self.inputs().len() * sizes.image]
    }

    /// Taps of each part of the image gradient, for weights of this pitch.
    fn taps(&self, pitch: usize) -> Vec<Taps> {
        let windows = self.shared.gradient_windows;
        let taps_of = |taps: &[(u32, u32)]| {
            (0..self.shared.sizes.outputs)
                .flat_map(|output| {
                    taps.iter().map(move |&(kernel, offset)| Tap {
                        weight: (output * pitch) as u32 + kernel,
                        image: (output * windows.plane) as u32 + offset,
                    })
                })
                .collect()
        };
        windows
            .parts
            .iter()
            .map(|part| taps_of(&part.taps))
            .collect()
    }

    #[inline(always)]
    fn image_gradient<L: Lanes>(
        &mut self,
        weight: &[f32],
        taps: &[Taps],
        gradient: &[f32],
        example: usize,
        position: usize,
    ) {
        let (sizes, windows) = (self.shared.sizes, self.shared.gradient_windows);
        let inputs = self.inputs().len();
        let dx = &mut self.dx[example - self.share.examples.start];
        let dx = &mut dx[position * inputs * sizes.image..][..inputs * sizes.image];
        for (part, taps) in windows.parts.iter().zip(taps) {
            let outer = Outer {
                weight,
                weight_pitch: sizes.taps,
                taps,
                image: gradient,
                tiles: &part.tiles,
                out_pitch: sizes.image,
            };
            outer.run::<L>(inputs, &mut dx[part.first..]);
        }
    }

    /// Output gradients `[outputs, tiles * 8]`.
    #[inline(always)]
    fn tile_rows<'r>(&self, grad: &'r [f32], rows: &'r mut [f32]) -> &'r [f32] {
        let (tiles, positions) = (&self.shared.windows.tiles, self.shared.sizes.positions);
        if tiles.len() * LANES == positions {
            return grad;
        }
        let planes = grad.chunks_exact(positions);
        for (plane, row) in planes.zip(rows.chunks_exact_mut(tiles.len() * LANES)) {
            for (tile, row) in tiles.iter().zip(row.chunks_exact_mut(LANES)) {
                let valid = tile.valid as usize;
                row[..valid].copy_from_slice(&plane[tile.out as usize..][..valid]);
            }
        }
        rows
    }
}
