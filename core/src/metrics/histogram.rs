//! How values are distributed.

use serde::{Deserialize, Serialize};

/// Counts of values in bins of equal width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Lower edge of the first bin.
    pub lower: f64,
    /// Width of every bin, above zero.
    pub width: f64,
    /// Values in each bin.
    pub counts: Vec<usize>,
}

impl Histogram {
    /// From the least to the greatest value. What is not finite, such as the logarithm of zero, is left out.
    ///
    /// ```
    /// use bayesadapter::metrics::Histogram;
    ///
    /// let found = Histogram::of([0.0, 0.1, 1.0, f64::NEG_INFINITY], 2);
    /// assert_eq!((found.lower, found.width), (0.0, 0.5));
    /// assert_eq!(found.counts, [2, 1]);
    /// ```
    pub fn of(values: impl IntoIterator<Item = f64, IntoIter: Clone>, bins: usize) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (lower, upper) = finite.clone().fold(none, |(least, most), value| {
            (value.min(least), value.max(most))
        });
        match lower <= upper {
            true => Self::within(finite, lower, upper, bins),
            false => Self::within([], 0.0, 1.0, bins),
        }
    }

    /// Between two bounds; what lies outside is in the nearest bin.
    pub fn within(
        values: impl IntoIterator<Item = f64>,
        lower: f64,
        upper: f64,
        bins: usize,
    ) -> Self {
        let bins = bins.max(1);
        // Equal values need a bin too.
        let least = f64::EPSILON * lower.abs().max(f64::MIN_POSITIVE / f64::EPSILON);
        let width = ((upper - lower) / bins as f64).max(least);
        let mut counts = vec![0; bins];
        for value in values.into_iter().filter(|value| !value.is_nan()) {
            // The cast takes what is below to the first bin.
            let bin = ((value - lower) / width) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        Self {
            lower,
            width,
            counts,
        }
    }

    /// The middle of each bin, and the share of the values that are in it.
    pub fn shares(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let all = self.counts.iter().sum::<usize>().max(1) as f64;
        let counts = self.counts.iter().enumerate();
        counts.map(move |(bin, &count)| {
            let middle = self.lower + (bin as f64 + 0.5) * self.width;
            (middle, count as f64 / all)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_bin_and_no_values_make_an_empty_histogram() {
        let equal = Histogram::of([3.0; 5], 4);
        assert!(equal.width > 0.0);
        assert_eq!(equal.counts.iter().sum::<usize>(), 5);
        let none = Histogram::of([], 4);
        assert_eq!(none.counts, [0; 4]);
        assert!(none.shares().all(|(_, share)| share == 0.0));
        assert!(Histogram::of([0.0; 2], 3).width > 0.0);
    }

    #[test]
    fn what_is_outside_is_at_the_edge() {
        let found = Histogram::within([-5.0, 0.5, 9.0, f64::NAN], 0.0, 1.0, 4);
        assert_eq!(found.counts, [1, 0, 1, 1]);
        let shares: Vec<(f64, f64)> = found.shares().collect();
        assert_eq!(shares[2], (0.625, 1.0 / 3.0));
    }
}
