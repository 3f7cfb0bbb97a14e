//! Medians by criterion, within a time limit.

use bayesadapter_tests::median_seconds;
use criterion::{Criterion, SamplingMode};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A call that takes longer is timed a few times only: criterion would ask for ten at the least.
const SLOW: Duration = Duration::from_secs(1);
const SLOW_CALLS: usize = 3;

pub struct Measure {
    criterion: Criterion,
    directory: PathBuf,
    deadline: Instant,
}

impl Measure {
    /// `target` is where criterion keeps its files.
    pub fn new(target: &Path, quick: bool) -> Self {
        let directory = target.join("criterion");
        // Criterion compares with what it finds there; a fresh start keeps the output to this run.
        if let Err(error) = std::fs::remove_dir_all(&directory) {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{}", directory.display());
        }
        let [warm_up, measurement] = if quick { [30, 120] } else { [150, 600] };
        let criterion = Criterion::default()
            .output_directory(&directory)
            .without_plots()
            .warm_up_time(Duration::from_millis(warm_up))
            .measurement_time(Duration::from_millis(measurement))
            .sample_size(10)
            .nresamples(2000);
        Self {
            criterion,
            directory,
            deadline: Instant::now(),
        }
    }

    /// Measurements that have not begun after this much more time are left out.
    pub fn allow(&mut self, time: Duration) {
        self.deadline = Instant::now() + time;
    }

    /// Median milliseconds of one call after warm-up; `None` when the time is up.
    ///
    /// `prepare` makes what `run` works on, and is not called in vain.
    pub fn milliseconds<T>(
        &mut self,
        id: &str,
        prepare: impl FnOnce() -> T,
        run: impl Fn(&T),
    ) -> Option<f64> {
        if Instant::now() > self.deadline {
            println!("{id}: left out, the time is up");
            return None;
        }
        let subject = prepare();
        // Shader compilation and tuning end here: criterion plans by how long its own first calls take.
        run(&subject);
        let start = Instant::now();
        run(&subject);
        if start.elapsed() > SLOW {
            let seconds = median_seconds(SLOW_CALLS, || run(&subject));
            println!("{id}: {seconds:.2} s, the median of {SLOW_CALLS} calls");
            return Some(1e3 * seconds);
        }
        // Criterion cuts names at 64 bytes and replaces what a file name cannot hold; do it first.
        let name: String = id
            .replace("forward+backward", "both")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        assert!(
            name.len() <= 64,
            "{name} is too long for a directory of criterion's"
        );
        let mut group = self.criterion.benchmark_group("kernels");
        // A long call is then measured ten times, not 1 + 2 + .. + 10 times.
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function(&name, |bencher| bencher.iter(|| run(&subject)));
        group.finish();
        Some(self.median(&name))
    }

    fn median(&self, name: &str) -> f64 {
        let file = self
            .directory
            .join("kernels")
            .join(name)
            .join("new/estimates.json");
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("criterion left no {}: {error}", file.display()));
        let estimates: serde_json::Value =
            serde_json::from_str(&text).expect("criterion writes JSON");
        let nanoseconds = estimates["median"]["point_estimate"].as_f64();
        nanoseconds.expect("criterion estimates a median") / 1e6
    }
}
