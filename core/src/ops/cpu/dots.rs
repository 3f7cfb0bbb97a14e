//! The product with a transposed matrix, as dot products of rows.
//!
//! A library brings such a matrix into another order first, which takes as long as it takes to multiply a few dozen
//! rows with it. Dot products read it as it lies.

use super::lanes::{LANES, Lanes, Task, dispatch};
use super::product::{Matrix, Threads};
use super::tiles::{Inner, Product, Tile, Tiles};
use rayon::prelude::*;

/// Rows of `a` from which on a library is faster.
const MANY_ROWS: usize = 96;

/// Terms of a dot product below which adding up its lanes takes too much of the time.
const FEW_TERMS: usize = 64;

/// Elements of `b` that all rows of `a` meet before the next ones: they stay in the second-level cache.
const ELEMENTS_AT_ONCE: usize = 1 << 17;

/// Whether `a b` is better made of dot products.
pub(super) fn suit(a: &Matrix, b: &Matrix) -> bool {
    let [rows, terms] = a.shape;
    // Offsets into b are 32 bits wide.
    let contiguous = a.column == 1 && b.row == 1 && u32::try_from(b.data.len()).is_ok();
    contiguous && rows <= MANY_ROWS && terms >= FEW_TERMS && terms.is_multiple_of(LANES)
}

/// `out = a b`, or `out += a b`, as [`product`](super::product::product).
pub(super) fn dots(
    a: Matrix,
    b: Matrix,
    out: &mut [f32],
    pitch: usize,
    accumulate: bool,
    threads: Threads,
) {
    let ([rows, terms], [_, columns]) = (a.shape, b.shape);
    let starts = (0..terms as u32).step_by(LANES);
    let tile = |start| Tile {
        base: start,
        out: start,
        valid: LANES as u32,
    };
    let tiles = Tiles::new(starts.map(tile).collect(), 1);
    let offsets: Vec<u32> = (0..columns).map(|n| (n * b.column) as u32).collect();
    let share = rows.div_ceil(threads.count());
    let parts = out.par_chunks_mut(share * pitch).enumerate();
    parts.take(rows.div_ceil(share)).for_each(|(part, out)| {
        let first = part * share;
        let rows = share.min(rows - first);
        if !accumulate {
            for row in out.chunks_mut(pitch).take(rows) {
                row[..columns].fill(0.0);
            }
        }
        dispatch(Dots {
            rows: &a.data[first * a.row..],
            row_pitch: a.row,
            count: rows,
            columns: b.data,
            offsets: &offsets,
            tiles: &tiles,
            out,
            out_pitch: pitch,
        });
    });
}

struct Dots<'a> {
    rows: &'a [f32],
    row_pitch: usize,
    count: usize,
    columns: &'a [f32],
    /// Where each column begins.
    offsets: &'a [u32],
    tiles: &'a Tiles,
    out: &'a mut [f32],
    out_pitch: usize,
}

impl Task for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let at_once = (ELEMENTS_AT_ONCE / (self.tiles.len() * LANES)).max(1);
        let products = [Product {
            rows: self.rows,
            image: self.columns,
        }];
        for (part, offsets) in self.offsets.chunks(at_once).enumerate() {
            let inner = Inner {
                products: &products,
                row_pitch: self.row_pitch,
                tiles: self.tiles,
                offsets,
            };
            let out = &mut self.out[part * at_once..];
            inner.run::<L>(self.count, out, self.out_pitch);
        }
    }
}
