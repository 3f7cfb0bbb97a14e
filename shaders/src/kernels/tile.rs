//! Tile sizes of the kernels that multiply in workgroup memory.

use super::consts::{Consts, numbers};

/// A workgroup computes `rows` x (`weights` * `slot`): `slot` columns for each of `weights` weights.
/// An invocation owns `thread_rows` x `thread_cols` of it. The sum is made in steps of `depth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileShape {
    /// Rows of the tile.
    pub rows: usize,
    /// Columns of each weight.
    pub slot: usize,
    /// Weights side by side.
    pub weights: usize,
    /// Terms of the sum that are in workgroup memory at once.
    pub depth: usize,
    /// Rows of an invocation; they divide `rows`.
    pub thread_rows: usize,
    /// Columns of an invocation; they divide `slot`.
    pub thread_cols: usize,
}

/// What is to be cut into tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub rows: usize,
    /// Columns of each weight.
    pub columns: usize,
    pub weights: usize,
    /// Weights have something in common, which a workgroup loads once for several of them.
    pub sharing: bool,
    /// Sums that an invocation can keep in registers.
    pub sums: usize,
    /// Floats of workgroup memory for each row of each weight, beside the tiles.
    pub beside: usize,
}

/// What WebGPU promises.
const MOST_FLOATS: usize = 16_384 / size_of::<f32>();
const MOST_THREADS: usize = 256;

/// Rows and columns of tiles, from those that make the most workgroups to those that move the least;
/// then small ones, for what takes much memory beside the tiles.
const SIZES: [[usize; 2]; 8] = [
    [64, 64],
    [64, 128],
    [32, 256],
    [64, 256],
    [32, 512],
    [16, 64],
    [8, 64],
    [4, 16],
];

/// Steps of the sum in whole vectors, the best first.
pub(super) const VECTOR_DEPTHS: [usize; 4] = [16, 12, 8, 4];

/// `size` in pieces of at most `most`, all nearly the same: a multiple of `step`.
fn even(size: usize, most: usize, step: usize) -> usize {
    let pieces = size.div_ceil(most).max(1);
    size.div_ceil(pieces).next_multiple_of(step).max(step)
}

impl TileShape {
    /// Tiles for a product, those with the most workgroups first. The depth is yet to be chosen;
    /// the least is sure to fit.
    pub(super) fn candidates(request: Request) -> impl Iterator<Item = Self> {
        SIZES
            .into_iter()
            .filter_map(move |most| Self::within(most, &request))
    }

    fn within(most: [usize; 2], request: &Request) -> Option<Self> {
        let columns = match request.sharing {
            true => request.columns * request.weights,
            false => request.columns,
        };
        // Few rows leave room for more columns.
        let widest = |rows: usize| (most[0] * most[1] / rows).clamp(most[1], most[1].max(256));
        let fewest = request.rows.min(most[0]);
        // Invocations that own much need fewer loads, but there should be enough of them.
        let large = fewest >= 32 && fewest * columns.min(widest(fewest)) >= 4096;
        let [thread_rows, thread_cols] = match large {
            true if request.columns > 4 => [8, request.sums / 8],
            true => [8, 4],
            false => [4, 4],
        };
        let rows = even(request.rows, most[0], thread_rows);
        let most_cols = widest(rows).min(MOST_THREADS * thread_rows / rows * thread_cols);
        let slot = even(request.columns, most_cols, thread_cols);
        let mut tile = Self {
            rows,
            slot,
            weights: 1,
            depth: VECTOR_DEPTHS[VECTOR_DEPTHS.len() - 1],
            thread_rows,
            thread_cols,
        };
        if request.sharing {
            let room = MOST_FLOATS / tile.floats(rows * request.beside);
            tile.weights = even(request.weights, room.min(most_cols / slot).max(1), 1);
        }
        tile.fits(rows * request.beside).then_some(tile)
    }

    /// Columns of the tile, those of all its weights.
    pub fn cols(&self) -> usize {
        self.weights * self.slot
    }

    /// Invocations of a workgroup.
    pub fn threads(&self) -> usize {
        (self.rows / self.thread_rows) * (self.cols() / self.thread_cols)
    }

    /// Floats of workgroup memory, with so many beside the tiles for each weight.
    fn floats(&self, beside: usize) -> usize {
        // Every weight has a slot, and the tile a place: `lib/columns.wgsl`. No array is empty.
        let each = (self.rows + self.slot) * self.depth + beside.max(1) + 2;
        self.weights * each + 4
    }

    fn fits(&self, beside: usize) -> bool {
        self.floats(beside) <= MOST_FLOATS
    }

    /// The first of the depths that fits.
    pub(super) fn with_depth(
        self,
        depths: impl IntoIterator<Item = usize>,
        beside: usize,
    ) -> Option<Self> {
        depths
            .into_iter()
            .map(|depth| Self { depth, ..self })
            .find(|tile| tile.fits(beside))
    }

    pub(super) fn consts(&self) -> Consts {
        numbers([
            ("MT", self.rows),
            ("SLOT", self.slot),
            ("WEIGHTS", self.weights),
            ("KC", self.depth),
            ("TM", self.thread_rows),
            ("TN", self.thread_cols),
        ])
    }
}
