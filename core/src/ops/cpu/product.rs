//! Ordinary matrix products over strided views, by the `gemm` crate.

use gemm::Parallelism;

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
    let parallelism = match threads {
        Threads::One => Parallelism::None,
        Threads::All => Parallelism::Rayon(0),
    };
    // SAFETY: the assertions keep every element of the three views inside its slice, and `out` is
    // borrowed exclusively.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            pitch as isize,
            accumulate,
            a.data.as_ptr(),
            a.column as isize,
            a.row as isize,
            b.data.as_ptr(),
            b.column as isize,
            b.row as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}
