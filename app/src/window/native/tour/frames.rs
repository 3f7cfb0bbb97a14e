//! How long frames take, and how much memory there is.

use std::{fmt, time::Instant};

/// Frames in which the window opens, fonts and shaders are made.
const START_UP: usize = 10;

/// Seconds of each frame since the last report.
#[derive(Default)]
pub struct Frames {
    seen: usize,
    /// That the processor worked on it.
    seconds: Vec<f32>,
    /// From its beginning to that of the next; the window waits in between.
    between: Vec<f32>,
    last: Option<Instant>,
}

impl Frames {
    pub fn add(&mut self, seconds: Option<f32>) {
        self.seen += 1;
        let last = self.last.replace(Instant::now());
        if self.seen > START_UP {
            self.seconds.extend(seconds);
            self.between
                .extend(last.map(|last| last.elapsed().as_secs_f32()));
        }
    }

    /// Leaves a frame out.
    pub fn skip(&mut self) {
        self.last = None;
    }

    /// The figures so far, after which they begin anew.
    pub fn take(&mut self) -> String {
        let worked = Spread::of(&mut self.seconds);
        let between = Spread::of(&mut self.between);
        let memory = memory().map(|megabytes| format!("; {megabytes} MB of memory in use"));
        format!(
            "{} frames; work for one {worked}; from one to the next {between}{}",
            self.seen,
            memory.unwrap_or_default()
        )
    }
}

/// How times are spread, in milliseconds.
struct Spread {
    median: f32,
    percentile_99: f32,
    longest: f32,
}

impl Spread {
    /// Of these seconds, which are taken.
    fn of(seconds: &mut Vec<f32>) -> Self {
        let mut seconds = std::mem::take(seconds);
        seconds.sort_by(f32::total_cmp);
        let at = |share: f32| {
            let place = (share * seconds.len().saturating_sub(1) as f32).round() as usize;
            1000.0 * seconds.get(place).copied().unwrap_or_default()
        };
        Self {
            median: at(0.5),
            percentile_99: at(0.99),
            longest: at(1.0),
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:.0} ms (median), {:.0} ms (99 %), {:.0} ms (longest)",
            self.median, self.percentile_99, self.longest
        )
    }
}

/// Megabytes that this process holds in memory, where the system tells.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_does_not_count() {
        let mut frames = Frames::default();
        for _ in 0..START_UP {
            frames.add(Some(9.0));
        }
        for milliseconds in 1..=100 {
            frames.add(Some(milliseconds as f32 / 1000.0));
        }
        let text = frames.take();
        let worked = "110 frames; work for one 51 ms (median), 99 ms (99 %), 100 ms (longest);";
        assert!(text.starts_with(worked), "{text}");
        assert!(frames.take().contains("work for one 0 ms"));
    }
}
