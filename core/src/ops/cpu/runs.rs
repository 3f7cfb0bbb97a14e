//! Results that threads write run by run. Their memory is first touched by the thread that fills it, while
//! it is in that thread's cache: zeroing a large vector beforehand would be a pass of one thread.

use rayon::prelude::*;
use std::mem::MaybeUninit;

/// Elements that a thread has gone through by the time another is awake.
pub(super) const FEW: usize = 1 << 16;

/// A copy of `values`, of which `change(r, run)` has changed run `r`, `length` elements long.
pub(super) fn changed_copy(
    values: &[f32],
    length: usize,
    change: impl Fn(usize, &mut [f32]) + Sync,
) -> Vec<f32> {
    let mut copy = Vec::with_capacity(values.len());
    let spare = &mut copy.spare_capacity_mut()[..values.len()];
    let write = |(run, (spare, values)): (usize, (&mut [MaybeUninit<f32>], &[f32]))| {
        change(run, spare.write_copy_of_slice(values));
    };
    match values.len() > FEW {
        true => spare
            .par_chunks_mut(length)
            .zip(values.par_chunks(length))
            .enumerate()
            .for_each(write),
        false => spare
            .chunks_mut(length)
            .zip(values.chunks(length))
            .enumerate()
            .for_each(write),
    }
    // SAFETY: the runs cover the first `values.len()` elements, and each was written.
    unsafe { copy.set_len(values.len()) };
    copy
}

/// A row of `row` elements for each of `order`, which is a permutation, cut into runs of `length` (the last of a row may
/// be shorter): `fill(room, r, start, run)` writes all of the run that begins at `start` of row `r`. A thread makes its
/// `room` once, and gets rows that follow one another in `order`.
pub(super) fn filled_rows<T>(
    order: &[usize],
    [row, length]: [usize; 2],
    room: impl Fn() -> T + Sync + Send,
    fill: impl Fn(&mut T, usize, usize, &mut [f32]) + Sync + Send,
) -> Vec<f32> {
    let rows = order.len();
    let mut values = Vec::with_capacity(rows * row);
    let mut spare: Vec<_> = values.spare_capacity_mut()[..rows * row]
        .chunks_mut(row)
        .map(Some)
        .collect();
    let runs: Vec<_> = order
        .iter()
        .filter_map(|&r| Some((r, spare[r].take()?)))
        .flat_map(|(r, spare)| {
            let runs = spare.chunks_mut(length).enumerate();
            runs.map(move |(run, spare)| (r, run * length, spare))
        })
        .collect();
    assert!(spare.iter().all(Option::is_none), "some rows are in no run");
    runs.into_par_iter()
        .for_each_init(room, |room, (r, start, spare)| {
            fill(room, r, start, initialised(spare));
        });
    // SAFETY: the runs cover all rows, and each was initialised.
    unsafe { values.set_len(rows * row) };
    values
}

/// So many elements that are yet to be written, first touched by all threads.
pub(super) fn unwritten(len: usize) -> Vec<f32> {
    repeated(UNWRITTEN, len)
}

/// One number so many times, written by all threads where that is worth waking them.
pub(super) fn repeated(number: f32, len: usize) -> Vec<f32> {
    const RUN: usize = 1 << 16;
    if len <= 4 * RUN {
        return vec![number; len];
    }
    let mut values = Vec::with_capacity(len);
    let runs = values.spare_capacity_mut()[..len].par_chunks_mut(RUN);
    runs.for_each(|spare| spare.fill(MaybeUninit::new(number)));
    // SAFETY: the runs cover the first `len` elements, and each was written.
    unsafe { values.set_len(len) };
    values
}

/// What stands where nothing was written yet; in the tests not a number, so that they notice.
const UNWRITTEN: f32 = if cfg!(test) { f32::NAN } else { 0.0 };

fn initialised(spare: &mut [MaybeUninit<f32>]) -> &mut [f32] {
    spare.fill(MaybeUninit::new(UNWRITTEN));
    // SAFETY: every element has just been written.
    unsafe { spare.assume_init_mut() }
}
