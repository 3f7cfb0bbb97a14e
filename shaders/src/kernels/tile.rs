//! Tile sizes of the kernels that multiply in workgroup memory.

use super::consts::{Consts, numbers};

/// A workgroup computes `rows` x `cols`, an invocation `thread_rows` x `thread_cols` of it, in steps
/// of `depth` along the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileShape {
    pub rows: usize,
    pub cols: usize,
    pub depth: usize,
    pub thread_rows: usize,
    pub thread_cols: usize,
}

/// Bytes of workgroup memory that tiles may take, out of the 16 KiB that WebGPU promises.
pub const TILE_BYTES: usize = 16_000;

impl TileShape {
    /// For a product of `rows` x `cols`. Tiles are no larger than the product needs.
    pub(super) fn new(rows: usize, cols: usize) -> Self {
        let fit = |size: usize, most: usize| size.next_power_of_two().clamp(4, most);
        let mut tile = Self {
            rows: fit(rows, 64),
            cols: fit(cols, 64),
            depth: 16,
            thread_rows: 8,
            thread_cols: 8,
        };
        if tile.rows < 64 {
            tile.cols = fit(cols, (64 * 64 / tile.rows).min(256));
        }
        if tile.rows < 32 || tile.cols < 32 {
            (tile.thread_rows, tile.thread_cols) = (4, 4);
        }
        while tile.threads() > 256 {
            tile.cols /= 2;
        }
        while tile.bytes() > TILE_BYTES {
            tile.depth /= 2;
        }
        tile
    }

    pub fn threads(&self) -> usize {
        (self.rows / self.thread_rows) * (self.cols / self.thread_cols)
    }

    fn bytes(&self) -> usize {
        (self.rows + self.cols) * self.depth * 4
    }

    pub(super) fn consts(&self) -> Consts {
        numbers([
            ("MT", self.rows),
            ("NT", self.cols),
            ("KC", self.depth),
            ("TM", self.thread_rows),
            ("TN", self.thread_cols),
        ])
    }
}

/// How the backward pass for x walks (output, tap).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TapChunk {
    pub taps: usize,
    /// All taps of a chunk's outputs are laid out at once.
    pub whole: bool,
    pub flat_len: usize,
}

impl TapChunk {
    /// Chooses the chunk and shrinks the tile until everything fits.
    pub(super) fn new(tile: &mut TileShape, taps: usize) -> Self {
        let single = Self {
            taps: 1,
            whole: false,
            flat_len: 4,
        };
        if taps == 1 {
            return single;
        }
        let mut shape = *tile;
        loop {
            shape.depth = taps * (18 / taps).max(1);
            let bytes = (2 * shape.rows + shape.cols) * shape.depth * 4;
            if bytes <= TILE_BYTES {
                *tile = shape;
                return Self {
                    taps,
                    whole: true,
                    flat_len: shape.rows * shape.depth,
                };
            }
            (shape.thread_rows, shape.thread_cols) = (4, 4);
            if shape.cols > 16 && shape.cols >= shape.rows {
                shape.cols /= 2;
            } else if shape.rows > 8 {
                shape.rows /= 2;
            } else {
                return single;
            }
        }
    }
}
