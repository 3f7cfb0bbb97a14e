//! Timing for benchmarks.

use std::time::Instant;

/// Median seconds of a call, after one to warm up.
pub fn median_seconds(repeats: usize, mut run: impl FnMut()) -> f64 {
    run();
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
