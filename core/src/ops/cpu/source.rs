//! Weights of one example, a block at a time, and their gradients folded back into parameters.

use super::exp::exp_all;
use super::lanes::LANES;
use crate::ops::noise::fill_normals;
use bayesadapter_shaders::{Map, NoiseKey, Source};
use std::ops::Range;

/// A weight source with its parameters at hand. A weight is seen as the matrix it is stored as:
/// `[out, in]` for a convolution and `[in, out]` for a matrix product.
pub(super) enum Weight<'a> {
    Given {
        weights: &'a [f32],
        index: &'a [u32],
        /// Elements of one weight.
        len: usize,
    },
    Gaussian {
        mu: &'a [f32],
        std: Vec<f32>,
        key: NoiseKey,
    },
    LowRank(LowRank<'a>),
}

/// Shared weight and factors of a low-rank ensemble.
#[derive(Clone, Copy)]
pub(super) struct LowRank<'a> {
    pub shared: &'a [f32],
    /// `[components, in, rank]`
    pub left: &'a [f32],
    /// `[components, rank, out]`
    pub right: &'a [f32],
    pub index: &'a [u32],
    pub rank: usize,
    pub fan: [usize; 2],
}

impl LowRank<'_> {
    /// `[in, rank]` of one component.
    pub fn left_of(&self, component: usize) -> &[f32] {
        let len = self.fan[0] * self.rank;
        &self.left[component * len..][..len]
    }

    /// `[rank, out]` of one component.
    pub fn right_of(&self, component: usize) -> &[f32] {
        let len = self.fan[1] * self.rank;
        &self.right[component * len..][..len]
    }
}

/// Rows and columns of a weight.
#[derive(Clone)]
pub(super) struct Block {
    pub rows: Range<usize>,
    pub columns: Range<usize>,
    /// Columns of the whole weight.
    pub pitch: usize,
}

impl Block {
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    pub fn len(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Start of each row of the block in the whole weight.
    pub fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows
            .clone()
            .map(|row| row * self.pitch + self.columns.start)
    }
}

/// Room for one block of one example's weight, in one pass of one layer.
#[derive(Default)]
pub(super) struct Scratch {
    weight: Vec<f32>,
    deviation: Vec<f32>,
    /// Component, first row and first column of the low-rank weight that is there.
    made: Option<[usize; 3]>,
}

/// A block of one example's weight: `values[row * pitch + column]`.
pub(super) struct BlockView<'s> {
    pub values: &'s [f32],
    /// `exp(psi) * eps` of a Gaussian weight, of the same pitch; empty for other sources.
    pub deviation: &'s [f32],
    pub pitch: usize,
}

impl<'a> Weight<'a> {
    pub fn new(source: &'a Source, parameters: &[&'a [f32]], map: &Map) -> Self {
        match source {
            Source::Given { index, .. } => Self::Given {
                weights: parameters[0],
                index,
                len: map.weight_len(),
            },
            Source::Gaussian { key } => Self::Gaussian {
                mu: parameters[0],
                std: exp_all(parameters[1]),
                key: *key,
            },
            Source::LowRank { index, rank, .. } => Self::LowRank(LowRank {
                shared: parameters[0],
                left: parameters[1],
                right: parameters[2],
                index,
                rank: *rank,
                fan: map.fan(),
            }),
        }
    }

    /// The block of one example's weight: a view where it is stored, else made in `scratch`.
    ///
    /// Low-rank weights are made for convolutions only, whose rows are outputs; a matrix product
    /// with them scales its inputs and outputs instead.
    #[inline(always)]
    pub fn block<'s>(
        &'s self,
        example: usize,
        block: &Block,
        scratch: &'s mut Scratch,
    ) -> BlockView<'s> {
        match self {
            Self::Given {
                weights,
                index,
                len,
            } => {
                let weight = &weights[index[example] as usize * len..][..*len];
                return BlockView {
                    values: &weight[block.rows.start * block.pitch + block.columns.start..],
                    deviation: &[],
                    pitch: block.pitch,
                };
            }
            Self::Gaussian { mu, std, key } => {
                scratch.weight.resize(block.len(), 0.0);
                scratch.deviation.resize(block.len(), 0.0);
                // Whole rows lie behind one another: one long run wastes the least noise.
                let whole = block.width() == block.pitch;
                let run = if whole { block.len() } else { block.width() };
                let rows = scratch.weight.chunks_exact_mut(run);
                let rows = rows.zip(scratch.deviation.chunks_exact_mut(run));
                for (start, (weight, deviation)) in block.starts().zip(rows) {
                    fill_normals(key, example as u32, start as u32, deviation);
                    let (mu, std) = (&mu[start..], &std[start..]);
                    for k in 0..deviation.len().min(mu.len()).min(std.len()) {
                        deviation[k] *= std[k];
                        weight[k] = mu[k] + deviation[k];
                    }
                }
            }
            Self::LowRank(low_rank) => {
                let component = low_rank.index[example] as usize;
                let made = Some([component, block.rows.start, block.columns.start]);
                if scratch.made != made {
                    scratch.weight.resize(block.len(), 0.0);
                    low_rank.block(component, block, &mut scratch.weight);
                    scratch.made = made;
                }
            }
        }
        BlockView {
            values: &scratch.weight,
            deviation: &scratch.deviation,
            pitch: block.width(),
        }
    }

    /// Examples in the order in which their gradients fold best.
    pub fn order(&self, examples: Range<usize>) -> Vec<usize> {
        let mut order: Vec<usize> = examples.collect();
        if let Self::LowRank(low_rank) = self {
            order.sort_by_key(|&example| low_rank.index[example]);
        }
        order
    }

    /// Runs of at most `most` examples that follow one another in `order` and have one weight.
    pub fn runs<'o>(
        &self,
        order: &'o [usize],
        most: usize,
    ) -> impl Iterator<Item = &'o [usize]> + use<'_, 'o, 'a> {
        let same = |a: &usize, b: &usize| match self {
            Self::Given { index, .. } | Self::LowRank(LowRank { index, .. }) => {
                index[*a] == index[*b]
            }
            Self::Gaussian { .. } => false,
        };
        order.chunk_by(same).flat_map(move |run| run.chunks(most))
    }
}

impl LowRank<'_> {
    /// `out[o][k] = shared[o][k] * sum_q left[k][q] * right[q][o]` over a block.
    #[inline(always)]
    fn block(&self, component: usize, block: &Block, out: &mut [f32]) {
        let left = &self.left_of(component)[block.columns.start * self.rank..];
        let right = self.right_of(component);
        let rows = block.rows.clone().zip(block.starts());
        for ((o, start), out) in rows.zip(out.chunks_exact_mut(block.width())) {
            let shared = &self.shared[start..start + block.width()];
            if self.rank == 1 {
                for ((out, shared), left) in out.iter_mut().zip(shared).zip(left) {
                    *out = shared * (left * right[o]);
                }
                continue;
            }
            for (k, out) in out.iter_mut().enumerate() {
                *out = shared[k] * self.factor(left, right, k, o);
            }
        }
    }

    #[inline(always)]
    fn factor(&self, left: &[f32], right: &[f32], k: usize, o: usize) -> f32 {
        (0..self.rank)
            .map(|q| left[k * self.rank + q] * right[q * self.fan[1] + o])
            .sum()
    }

    /// Folds the gradient `dw` of one component's weight into those of its parts.
    #[inline(always)]
    fn fold(&self, component: usize, block: &Block, dw: &[f32], into: &mut LowRankGradient) {
        let (rank, [_, fan_out]) = (self.rank, self.fan);
        let left = &self.left_of(component)[block.columns.start * rank..];
        let right = self.right_of(component);
        let width = block.width();
        let d_left = &mut into.left[component * width * rank..][..width * rank];
        let d_right = &mut into.right[component * rank * fan_out..][..rank * fan_out];
        let rows = block.rows.clone().zip(block.starts());
        let rows = rows.zip(dw.chunks_exact(width));
        for (((o, start), dw), d_shared) in rows.zip(into.shared.chunks_exact_mut(width)) {
            let shared = &self.shared[start..start + width];
            if rank == 1 {
                let r = right[o];
                let left = &left[..width];
                for k in 0..width {
                    d_shared[k] += dw[k] * (left[k] * r);
                    d_left[k] += dw[k] * shared[k] * r;
                }
                d_right[o] += sum_of_products(dw, shared, left);
                continue;
            }
            for k in 0..width {
                d_shared[k] += dw[k] * self.factor(left, right, k, o);
                let d_factor = dw[k] * shared[k];
                for q in 0..rank {
                    d_left[k * rank + q] += d_factor * right[q * fan_out + o];
                    d_right[q * fan_out + o] += d_factor * left[k * rank + q];
                }
            }
        }
    }
}

/// `sum_k a[k] b[k] c[k]`, with a sum per lane: one sum alone would make the loop wait for every addition.
#[inline(always)]
fn sum_of_products(a: &[f32], b: &[f32], c: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let (c, c_rest) = c.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane] * c[lane];
        }
    }
    let rest = a_rest.iter().zip(b_rest).zip(c_rest);
    sums.iter().sum::<f32>() + rest.map(|((a, b), c)| a * b * c).sum::<f32>()
}

/// Gradients of a block's parameters, summed over examples.
pub(super) enum Folded {
    /// `[slots, block]`
    Given(Vec<f32>),
    Gaussian {
        mu: Vec<f32>,
        psi: Vec<f32>,
    },
    LowRank(LowRankGradient),
}

pub(super) struct LowRankGradient {
    /// `[block]`
    pub shared: Vec<f32>,
    /// `[components, columns of the block, rank]`
    pub left: Vec<f32>,
    /// `[components, rank, out]`, zero outside the rows of the block
    pub right: Vec<f32>,
}

/// Takes the weight gradients of one example after the other, in the order of [`Weight::order`].
pub(super) struct Fold<'a> {
    weight: &'a Weight<'a>,
    block: Block,
    /// Gradient of the weight in the making, where it is not the result itself.
    dw: Vec<f32>,
    folded: Folded,
}

impl<'a> Fold<'a> {
    pub fn new(weight: &'a Weight<'a>, block: Block, slots: usize) -> Self {
        let zeros = |len: usize| vec![0.0; len];
        let len = block.len();
        let (dw, folded) = match weight {
            Weight::Given { .. } => (Vec::new(), Folded::Given(zeros(slots * len))),
            Weight::Gaussian { .. } => (
                zeros(len),
                Folded::Gaussian {
                    mu: zeros(len),
                    psi: zeros(len),
                },
            ),
            Weight::LowRank(low_rank) => (
                zeros(len),
                Folded::LowRank(LowRankGradient {
                    shared: zeros(len),
                    left: zeros(slots * block.width() * low_rank.rank),
                    right: zeros(slots * low_rank.rank * low_rank.fan[1]),
                }),
            ),
        };
        Self {
            weight,
            block,
            dw,
            folded,
        }
    }

    /// Where the weight gradient of `example` is to be added, `[block]`.
    #[inline(always)]
    pub fn target(&mut self, example: usize) -> &mut [f32] {
        match (&mut self.folded, self.weight) {
            (Folded::Given(dw), Weight::Given { index, .. }) => {
                let len = self.block.len();
                &mut dw[index[example] as usize * len..][..len]
            }
            _ => &mut self.dw,
        }
    }

    /// To be called after an example, with its deviations and the example that comes next.
    #[inline(always)]
    pub fn advance(&mut self, example: usize, deviation: &[f32], next: Option<usize>) {
        match (&mut self.folded, self.weight) {
            (Folded::Gaussian { mu, psi }, _) => {
                for k in 0..self
                    .dw
                    .len()
                    .min(deviation.len())
                    .min(mu.len())
                    .min(psi.len())
                {
                    mu[k] += self.dw[k];
                    psi[k] += self.dw[k] * deviation[k];
                }
                self.dw.fill(0.0);
            }
            (Folded::LowRank(gradient), Weight::LowRank(low_rank)) => {
                let component = low_rank.index[example];
                if next.is_none_or(|next| low_rank.index[next] != component) {
                    low_rank.fold(component as usize, &self.block, &self.dw, gradient);
                    self.dw.fill(0.0);
                }
            }
            _ => {}
        }
    }

    pub fn finish(self) -> (Block, Folded) {
        (self.block, self.folded)
    }
}

/// Adds the gradients of one block to those of the whole parameters.
pub(super) fn scatter(weight: &Weight, block: &Block, folded: Folded, into: &mut [Vec<f32>]) {
    let add_block = |values: &[f32], into: &mut [f32]| {
        for (start, row) in block.starts().zip(values.chunks_exact(block.width())) {
            add(row, &mut into[start..start + block.width()]);
        }
    };
    match (folded, weight) {
        (Folded::Given(dw), Weight::Given { len, .. }) => {
            for (dw, into) in dw
                .chunks_exact(block.len())
                .zip(into[0].chunks_exact_mut(*len))
            {
                add_block(dw, into);
            }
        }
        (Folded::Gaussian { mu, psi }, _) => {
            add_block(&mu, &mut into[0]);
            add_block(&psi, &mut into[1]);
        }
        (Folded::LowRank(gradient), Weight::LowRank(low_rank)) => {
            add_block(&gradient.shared, &mut into[0]);
            let (rank, width) = (low_rank.rank, block.width());
            let components = into[1].chunks_exact_mut(low_rank.fan[0] * rank);
            for (left, into) in gradient.left.chunks_exact(width * rank).zip(components) {
                add(
                    left,
                    &mut into[block.columns.start * rank..][..width * rank],
                );
            }
            add(&gradient.right, &mut into[2]);
        }
        _ => unreachable!("gradients are folded by the source they belong to"),
    }
}

fn add(values: &[f32], into: &mut [f32]) {
    for (into, value) in into.iter_mut().zip(values) {
        *into += value;
    }
}
