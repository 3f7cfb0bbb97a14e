//! Statistics of samples, in f64.

/// Mean, variance, skewness and kurtosis (3 for a normal).
#[derive(Debug)]
pub struct Moments {
    pub mean: f64,
    pub variance: f64,
    pub skewness: f64,
    pub kurtosis: f64,
}

impl Moments {
    pub fn of(sample: &[f32]) -> Self {
        let n = sample.len() as f64;
        let mean = sample.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let central = |power: i32| {
            let sum: f64 = sample
                .iter()
                .map(|&x| (f64::from(x) - mean).powi(power))
                .sum();
            sum / n
        };
        let variance = central(2);
        Self {
            mean,
            variance,
            skewness: central(3) / variance.powf(1.5),
            kurtosis: central(4) / (variance * variance),
        }
    }
}

/// Distribution function of the standard normal.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Largest distance between the empirical distribution function and `cdf`.
pub fn kolmogorov_smirnov(sample: &[f32], cdf: impl Fn(f64) -> f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f32::total_cmp);
    let n = sorted.len() as f64;
    let gap = |(rank, &x): (usize, &f32)| {
        let expected = cdf(f64::from(x));
        let (below, above) = (rank as f64 / n, (rank + 1) as f64 / n);
        (expected - below).abs().max((above - expected).abs())
    };
    sorted.iter().enumerate().map(gap).fold(0.0, f64::max)
}

/// Pearson's statistic of disjoint pairs `(x[i], x[i + lag])` of a normal sample in a grid of
/// `side * side` equally likely cells.
pub fn chi_square(sample: &[f32], lag: usize, side: usize) -> f64 {
    let cell = |x: f32| ((normal_cdf(f64::from(x)) * side as f64) as usize).min(side - 1);
    let mut counts = vec![0u32; side * side];
    let mut pairs = 0u32;
    for chunk in sample.chunks_exact(2 * lag) {
        let (first, second) = chunk.split_at(lag);
        for (&a, &b) in first.iter().zip(second) {
            counts[cell(a) * side + cell(b)] += 1;
            pairs += 1;
        }
    }
    let expected = f64::from(pairs) / counts.len() as f64;
    counts
        .iter()
        .map(|&count| (f64::from(count) - expected).powi(2) / expected)
        .sum()
}

/// Pearson correlation.
pub fn correlation(a: &[f32], b: &[f32]) -> f64 {
    let (mean_a, mean_b) = (Moments::of(a), Moments::of(b));
    let covariance: f64 = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| (f64::from(a) - mean_a.mean) * (f64::from(b) - mean_b.mean))
        .sum::<f64>()
        / a.len() as f64;
    covariance / (mean_a.variance * mean_b.variance).sqrt()
}
