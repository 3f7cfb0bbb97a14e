//! Weights of one example, a block at a time, and their gradients folded back into parameters.

use super::exp::exp_all;
use super::lanes::{LANES, Lanes, Task, dispatch};
use crate::ops::noise::fill_normals;
use bayesadapter_shaders::{Map, NoiseKey, Source};
use std::{borrow::Cow, ops::Range};

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
pub(super) struct LowRank<'a> {
    pub shared: &'a [f32],
    /// `[components, in, rank]`
    pub left: &'a [f32],
    /// `[components, rank, out]`
    pub right: &'a [f32],
    pub index: &'a [u32],
    pub rank: usize,
    pub fan: [usize; 2],
    by_row: ByRow<'a>,
}

/// The factors in the order in which rows of a kernel are made: a row is one output, and its elements are inputs.
struct ByRow<'a> {
    /// `[components, rank, in]`
    left: Cow<'a, [f32]>,
    /// `[components, out, rank]`
    right: Cow<'a, [f32]>,
}

impl<'a> ByRow<'a> {
    fn new(left: &'a [f32], right: &'a [f32], rank: usize, [fan_in, fan_out]: [usize; 2]) -> Self {
        Self {
            left: swapped(left, [fan_in, rank]),
            right: swapped(right, [rank, fan_out]),
        }
    }
}

/// `[.., rows, columns]` as `[.., columns, rows]`.
fn swapped(values: &[f32], [rows, columns]: [usize; 2]) -> Cow<'_, [f32]> {
    if rows == 1 || columns == 1 {
        return Cow::Borrowed(values);
    }
    let mut swapped = Vec::with_capacity(values.len());
    for matrix in values.chunks_exact(rows * columns) {
        for column in 0..columns {
            swapped.extend((0..rows).map(|row| matrix[row * columns + column]));
        }
    }
    Cow::Owned(swapped)
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
                by_row: ByRow::new(parameters[1], parameters[2], *rank, map.fan()),
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
                    dispatch(MakeTask {
                        low_rank,
                        component,
                        block,
                        out: &mut scratch.weight,
                    });
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
    /// Left factors of one component from input `first` on: those of rank `q` begin at `q * fan_in`.
    fn left_of(&self, component: usize, first: usize) -> &[f32] {
        let len = self.fan[0] * self.rank;
        &self.by_row.left[component * len..][..len][first..]
    }

    /// Right factors of one component, `[out, rank]`.
    fn right_of(&self, component: usize) -> &[f32] {
        let len = self.fan[1] * self.rank;
        &self.by_row.right[component * len..][..len]
    }

    /// `out[o][k] = shared[o][k] * sum_q left[q][k] * right[o][q]` over a block.
    #[inline(always)]
    fn block(&self, component: usize, block: &Block, out: &mut [f32]) {
        let width = block.width();
        let left = self.left_of(component, block.columns.start);
        let right = self.right_of(component).chunks_exact(self.rank);
        let rows = block.starts().zip(right.skip(block.rows.start));
        for ((start, right), out) in rows.zip(out.chunks_exact_mut(width)) {
            let shared = &self.shared[start..start + width];
            let (full, _) = out.as_chunks_mut::<LANES>();
            let whole = full.len() * LANES;
            for (out, k) in full.iter_mut().zip((0..whole).step_by(LANES)) {
                let factor = self.factors::<LANES>(left, right, k);
                for (lane, out) in out.iter_mut().enumerate() {
                    *out = shared[k + lane] * factor[lane];
                }
            }
            for k in whole..width {
                out[k] = shared[k] * self.factors::<1>(left, right, k)[0];
            }
        }
    }

    /// Elements of the product of the factors from input `k` on, of the output whose right factors are `right`.
    #[inline(always)]
    fn factors<const N: usize>(&self, left: &[f32], right: &[f32], k: usize) -> [f32; N] {
        let mut factors = [0.0; N];
        for (q, right) in right.iter().enumerate() {
            let left = &left[q * self.fan[0] + k..][..N];
            for lane in 0..N {
                factors[lane] += left[lane] * right;
            }
        }
        factors
    }

    /// Folds the gradient `dw` of one component's weight into those of its parts.
    #[inline(always)]
    fn fold(&self, component: usize, block: &Block, dw: &[f32], into: &mut LowRankGradient) {
        let (rank, [_, fan_out]) = (self.rank, self.fan);
        let width = block.width();
        let left = self.left_of(component, block.columns.start);
        let right = self.right_of(component).chunks_exact(rank);
        let d_left = &mut into.left[component * rank * width..][..rank * width];
        let d_right = into.right[component * fan_out * rank..].chunks_exact_mut(rank);
        let rights = right.zip(d_right).skip(block.rows.start);
        let rows = block.starts().zip(dw.chunks_exact(width));
        let rows = rows.zip(into.shared.chunks_exact_mut(width));
        let mut sums = vec![[0.0; LANES]; rank];
        for (((start, dw), d_shared), (right, d_right)) in rows.zip(rights) {
            sums.fill([0.0; LANES]);
            let mut row = FoldRow {
                low_rank: self,
                shared: &self.shared[start..start + width],
                left,
                right,
                dw,
                d_shared,
                d_left: &mut *d_left,
                sums: &mut sums,
            };
            let whole = width - width % LANES;
            for k in (0..whole).step_by(LANES) {
                row.fold::<LANES>(k);
            }
            for k in whole..width {
                row.fold::<1>(k);
            }
            for (d_right, sums) in d_right.iter_mut().zip(&sums) {
                *d_right += sums.iter().sum::<f32>();
            }
        }
    }
}

/// Makes a block of a component's weight. In a function of its own, so that the loops over examples around it stay small.
struct MakeTask<'a> {
    low_rank: &'a LowRank<'a>,
    component: usize,
    block: &'a Block,
    out: &'a mut [f32],
}

impl Task for MakeTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.low_rank.block(self.component, self.block, self.out);
    }
}

/// Folds the gradient of a component's weight; see [`MakeTask`].
struct FoldTask<'a> {
    low_rank: &'a LowRank<'a>,
    component: usize,
    block: &'a Block,
    dw: &'a [f32],
    into: &'a mut LowRankGradient,
}

impl Task for FoldTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.low_rank
            .fold(self.component, self.block, self.dw, self.into);
    }
}

/// One row of a weight gradient on its way into the gradients of shared weight and factors.
struct FoldRow<'a> {
    low_rank: &'a LowRank<'a>,
    shared: &'a [f32],
    left: &'a [f32],
    right: &'a [f32],
    dw: &'a [f32],
    d_shared: &'a mut [f32],
    d_left: &'a mut [f32],
    /// Gradient of the right factor of each rank. One sum per lane, since one alone would make the loop wait for every
    /// addition.
    sums: &'a mut [[f32; LANES]],
}

impl FoldRow<'_> {
    /// Elements `k..k + N`; `N` is at most the number of lanes.
    #[inline(always)]
    fn fold<const N: usize>(&mut self, k: usize) {
        let (width, fan_in) = (self.dw.len(), self.low_rank.fan[0]);
        let factor: [f32; N] = self.low_rank.factors(self.left, self.right, k);
        let (dw, shared) = (&self.dw[k..][..N], &self.shared[k..][..N]);
        let d_shared = &mut self.d_shared[k..][..N];
        let mut d_factor = [0.0; N];
        for lane in 0..N {
            d_shared[lane] += dw[lane] * factor[lane];
            d_factor[lane] = dw[lane] * shared[lane];
        }
        for (q, (right, sums)) in self.right.iter().zip(self.sums.iter_mut()).enumerate() {
            let left = &self.left[q * fan_in + k..][..N];
            let d_left = &mut self.d_left[q * width + k..][..N];
            for lane in 0..N {
                d_left[lane] += d_factor[lane] * right;
                sums[lane] += d_factor[lane] * left[lane];
            }
        }
    }
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
    /// `[components, rank, columns of the block]`
    pub left: Vec<f32>,
    /// `[components, out, rank]`, zero outside the rows of the block
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
                    dispatch(FoldTask {
                        low_rank,
                        component: component as usize,
                        block: &self.block,
                        dw: &self.dw,
                        into: gradient,
                    });
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
            let (rank, width, [fan_in, fan_out]) = (low_rank.rank, block.width(), low_rank.fan);
            let components = into[1].chunks_exact_mut(fan_in * rank);
            let left = swapped(&gradient.left, [rank, width]);
            for (left, into) in left.chunks_exact(width * rank).zip(components) {
                add(
                    left,
                    &mut into[block.columns.start * rank..][..width * rank],
                );
            }
            add(&swapped(&gradient.right, [fan_out, rank]), &mut into[2]);
        }
        _ => unreachable!("gradients are folded by the source they belong to"),
    }
}

fn add(values: &[f32], into: &mut [f32]) {
    for (into, value) in into.iter_mut().zip(values) {
        *into += value;
    }
}
