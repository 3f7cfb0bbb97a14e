//! Ordinary matrix products over strided views: by the `gemm` crate, or as dot products where that has to copy too much.

use super::dots;
use super::lanes::LANES;
use gemm::Parallelism;
use rayon::prelude::*;
use std::ops::Range;

/// A matrix over a slice: element `(r, c)` is `data[r * row + c * column]`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub data: &'a [f32],
    pub shape: [usize; 2],
    pub row: usize,
    pub column: usize,
}

impl<'a> Matrix<'a> {
    /// `[rows, columns]`, one row after the other, `pitch` apart.
    pub fn rows(data: &'a [f32], shape: [usize; 2], pitch: usize) -> Self {
        Self {
            data,
            shape,
            row: pitch,
            column: 1,
        }
    }

    /// Contiguous `[rows, columns]`.
    pub fn new(data: &'a [f32], shape: [usize; 2]) -> Self {
        Self::rows(data, shape, shape[1])
    }

    pub fn transposed(self) -> Self {
        Self {
            shape: [self.shape[1], self.shape[0]],
            row: self.column,
            column: self.row,
            ..self
        }
    }

    fn reach(&self) -> usize {
        let [rows, columns] = self.shape;
        (rows - 1) * self.row + (columns - 1) * self.column
    }
}

/// Whether a product may use other threads.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Threads {
    One,
    All,
}

impl Threads {
    pub fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::All => rayon::current_num_threads(),
        }
    }
}

/// Multiplications below which other threads are not worth waking.
const FEW: usize = 1 << 18;

/// `out = a b`, or `out += a b`, for `out [a rows, b columns]` with rows `pitch` apart.
pub(super) fn product(
    a: Matrix,
    b: Matrix,
    out: &mut [f32],
    pitch: usize,
    accumulate: bool,
    threads: Threads,
) {
    let ([m, k], [_, n]) = (a.shape, b.shape);
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!(k == b.shape[0] && a.reach() < a.data.len() && b.reach() < b.data.len());
    assert!(n <= pitch && (m - 1) * pitch + n <= out.len());
    let threads = match m * n * k {
        0..FEW => Threads::One,
        _ => threads,
    };
    if dots::suit(&a, &b) {
        return dots::dots(a, b, out, pitch, accumulate, threads);
    }
    let parts = threads.count();
    let out = Out(out.as_mut_ptr());
    let multiply = |rows: Range<usize>, columns: Range<usize>| {
        // SAFETY: the assertions keep every element of the three views inside its slice. `out` is borrowed
        // exclusively, and no two parts have both a row and a column in common.
        unsafe {
            gemm::gemm(
                rows.len(),
                columns.len(),
                k,
                out.at(rows.start * pitch + columns.start),
                1,
                pitch as isize,
                accumulate,
                a.data.as_ptr().add(rows.start * a.row),
                a.column as isize,
                a.row as isize,
                b.data.as_ptr().add(columns.start * b.column),
                b.column as isize,
                b.row as isize,
                1.0,
                1.0,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    };
    // The library shares one product out over threads as well, but leaves narrow ones unpacked then.
    let part = m.max(n).div_ceil(parts).next_multiple_of(LANES);
    let starts = (0..m.max(n)).into_par_iter().step_by(part);
    match (parts, m > n) {
        (1, _) => multiply(0..m, 0..n),
        (_, true) => starts.for_each(|start| multiply(start..m.min(start + part), 0..n)),
        (_, false) => starts.for_each(|start| multiply(0..m, start..n.min(start + part))),
    }
}

/// Where parts of a result are written.
#[derive(Clone, Copy)]
struct Out(*mut f32);

impl Out {
    /// # Safety
    /// The result must have an element at `offset`.
    unsafe fn at(self, offset: usize) -> *mut f32 {
        // SAFETY: the caller vouches for it.
        unsafe { self.0.add(offset) }
    }
}

// SAFETY: `product` gives every thread elements of its own.
unsafe impl Send for Out {}
// SAFETY: as above.
unsafe impl Sync for Out {}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[rows, columns]` with values that differ.
    fn values(rows: usize, columns: usize) -> Vec<f32> {
        let value = |at: usize| ((at * 37 + at / 11) % 19) as f32 / 8.0 - 1.0;
        (0..rows * columns).map(value).collect()
    }

    /// Rows below and above the number from which on a library multiplies, terms that fill tiles and that do not.
    #[test]
    fn products_with_transposed_matrices() {
        for (m, k, n) in [
            (1, 64, 3),
            (23, 72, 300),
            (70, 512, 41),
            (97, 64, 9),
            (5, 70, 33),
        ] {
            let (a, b, pitch) = (values(m, k), values(n, k), n + 2);
            let b_seen = Matrix::new(&b, [n, k]).transposed();
            for (accumulate, threads) in [(false, Threads::One), (true, Threads::All)] {
                let mut out = vec![0.5; m * pitch];
                let a_seen = Matrix::new(&a, [m, k]);
                product(a_seen, b_seen, &mut out, pitch, accumulate, threads);
                for (row, out) in out.chunks(pitch).enumerate() {
                    for (column, &found) in out[..n].iter().enumerate() {
                        let (a, b) = (&a[row * k..][..k], &b[column * k..][..k]);
                        let sum: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                        let expected = if accumulate { sum + 0.5 } else { sum };
                        assert!(
                            (found - expected).abs() < 1e-3,
                            "{m} {k} {n}: {found} for {expected}"
                        );
                    }
                    assert_eq!(out[n..], [0.5; 2]);
                }
            }
        }
    }
}
