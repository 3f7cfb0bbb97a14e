//! Gradients of the convolution. Threads share out the input channels: each owns its channels of
//! dx and its columns of the weight gradient, so noise is made once and nothing is reduced twice.

use super::conv::Sizes;
use super::lanes::{LANES, Lanes, Task, dispatch};
use super::runs::unwritten;
use super::source::{Block, Fold, Folded, Scratch, Weight, scatter};
use super::tiles::{Inner, Outer, Product, Tap, Taps};
use super::window::{GradientWindows, Windows, flattened};
use crate::ops::backend::Wanted;
use bayesadapter_shaders::Conv2d;
use rayon::prelude::*;
use std::ops::Range;

/// Weights of a block of input channels: what is made of them for one example stays in the second-level cache.
const BLOCK_WEIGHTS: usize = 1 << 16;

/// Examples whose weight gradients are summed together at the most.
const EXAMPLES_AT_ONCE: usize = 8;

/// Tiles after which it no longer matters that the lanes of a sum have to be added up.
const MANY_TILES: usize = 64;

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
    let mut dx = unwritten(if wanted.x { x.len() } else { 0 });
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
            // Every block copies the output gradients once more, so that narrow ones cost a tenth.
            let at_once = (BLOCK_WEIGHTS / (sizes.outputs * sizes.taps)).clamp(16, 32);
            let blocks = sizes.inputs.div_ceil(at_once);
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

    /// Output gradients of one group.
    #[inline(always)]
    fn gradients(&self, example: usize, group: usize) -> &[f32] {
        let len = self.sizes.outputs * self.sizes.positions;
        &self.grad[(example * self.c.groups + group) * len..][..len]
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
    /// Windows of the images of each example at once.
    images: Vec<Vec<f32>>,
    gradient: Vec<f32>,
    /// Output gradients of each in the order of the tiles, where rows do not fill their tiles.
    rows: Vec<Vec<f32>>,
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
        let Room {
            mut images,
            mut gradient,
            mut rows,
            offsets,
            mut scratch,
        } = self.room();
        let mut fold = wanted
            .parameters
            .then(|| Fold::new(shared.weight, block.clone(), shared.slots));
        let order = shared.weight.order(self.share.examples.clone());
        let mut taps = None;
        let mut done = 0;
        for examples in shared.weight.runs(&order, images.len()) {
            let mut deviation: &[f32] = &[];
            for &example in examples {
                let view = shared.weight.block(example, &block, &mut scratch);
                deviation = view.deviation;
                if !wanted.x {
                    continue;
                }
                let taps = taps.get_or_insert_with(|| self.taps(view.pitch));
                for (position, group) in self.groups().enumerate() {
                    let windows = shared.gradient_windows;
                    let gradient = windows.view(shared.gradients(example, group), &mut gradient);
                    let weight = &view.values[position * sizes.outputs * view.pitch..];
                    self.image_gradient::<L>(weight, taps, gradient, example, position);
                }
            }
            done += examples.len();
            let Some(fold) = &mut fold else { continue };
            let target = fold.target(examples[0]);
            for (position, group) in self.groups().enumerate() {
                let target = &mut target[position * sizes.outputs * block.width()..];
                let mut products = [Product::default(); EXAMPLES_AT_ONCE];
                let buffers = images.iter_mut().zip(&mut rows);
                for ((product, &example), (image, rows)) in
                    products.iter_mut().zip(examples).zip(buffers)
                {
                    product.image = shared.windows.view(self.images(example, group), image);
                    product.rows = self.tile_rows(shared.gradients(example, group), rows);
                }
                let inner = Inner {
                    products: &products[..examples.len()],
                    row_pitch: shared.windows.tiles.len() * LANES,
                    tiles: &shared.windows.tiles,
                    offsets: &offsets,
                };
                inner.run::<L>(sizes.outputs, target, block.width());
            }
            fold.advance(examples[0], deviation, order.get(done).copied());
        }
        fold.map(Fold::finish)
    }
}

impl BackwardTask<'_, '_> {
    fn room(&self) -> Room {
        let Backward { sizes, windows, .. } = *self.shared;
        let inputs = self.inputs().len();
        let rows = sizes.outputs * windows.tiles.len() * LANES;
        let at_once = self.examples_at_once();
        Room {
            images: (0..at_once).map(|_| windows.buffer(inputs)).collect(),
            gradient: self.shared.gradient_windows.buffer(sizes.outputs),
            rows: (0..at_once).map(|_| vec![0.0; rows]).collect(),
            offsets: windows.offsets(inputs),
            scratch: Scratch::default(),
        }
    }

    /// Examples of one weight whose gradients are summed together: several where images are small. The
    /// groups of a grouped convolution would need the images of all examples in turn, and Gaussian examples
    /// have a weight each.
    fn examples_at_once(&self) -> usize {
        match (self.shared.c.groups, self.shared.weight) {
            (1, Weight::Given { .. } | Weight::LowRank(_)) => {
                (MANY_TILES / self.shared.windows.tiles.len()).clamp(1, EXAMPLES_AT_ONCE)
            }
            _ => 1,
        }
    }

    /// Groups of the share's channels.
    fn groups(&self) -> Range<usize> {
        let inputs = self.shared.sizes.inputs;
        self.share.channels.start / inputs..self.share.channels.end.div_ceil(inputs)
    }

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
        let (groups, inputs) = (self.groups(), self.inputs());
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
