//! Sorting, ties and division into equal parts.

use std::ops::Range;

/// Indices of `values` from the smallest to the largest; equal ones keep their order.
pub(super) fn rising_order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

/// Runs of equal values within `order`, which sorts `values`.
pub(super) fn ties<'a>(
    order: &'a [usize],
    values: &'a [f64],
) -> impl DoubleEndedIterator<Item = &'a [usize]> {
    order.chunk_by(|&a, &b| values[a] == values[b])
}

/// How many of `indices` are not `true` in `correct`.
pub(super) fn count_errors(indices: &[usize], correct: &[bool]) -> usize {
    indices.iter().filter(|&&at| !correct[at]).count()
}

/// `0..count` in `parts` consecutive ranges whose lengths differ by at most one, the longer first.
pub(super) fn equal_ranges(count: usize, parts: usize) -> impl Iterator<Item = Range<usize>> {
    let (length, longer) = (count / parts, count % parts);
    (0..parts).map(move |part| {
        let start = part * length + part.min(longer);
        start..start + length + usize::from(part < longer)
    })
}

/// The quotient, or nothing for a mean over nothing.
pub(super) fn mean(sum: f64, count: usize) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_ranges_come_first() {
        let ranges: Vec<_> = equal_ranges(7, 3).collect();
        assert_eq!(ranges, [0..3, 3..5, 5..7]);
        let ranges: Vec<_> = equal_ranges(2, 4).collect();
        assert_eq!(ranges, [0..1, 1..2, 2..2, 2..2]);
    }

    #[test]
    fn ties_keep_their_order() {
        let values = [0.5, 0.1, 0.5, 0.1, 0.3];
        let order = rising_order(&values);
        assert_eq!(order, [1, 3, 4, 0, 2]);
        let runs: Vec<&[usize]> = ties(&order, &values).collect();
        assert_eq!(runs, [&[1, 3][..], &[4], &[0, 2]]);
    }
}
