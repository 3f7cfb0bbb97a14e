//! How far apart frames are, and how much memory there is.

use super::super::LOOK;
use std::{
    fmt,
    time::{Duration, Instant},
};

/// Frames in which the window opens, fonts and shaders are made.
const START_UP: usize = 10;

/// What people notice, and what disturbs them.
const NOTICED: [Duration; 2] = [Duration::from_millis(75), Duration::from_millis(100)];

/// The frames since the last report. At the beginning of one, a tour asks for the next after [`LOOK`]: a frame takes
/// that long, or as long as the work for it and whatever kept the window from it, if that is longer.
#[derive(Default)]
pub struct Frames {
    seen: usize,
    /// How long each took until the next, and on which page.
    took: Vec<(Duration, &'static str)>,
    last: Option<Instant>,
}

impl Frames {
    /// Takes up a frame of a page that begins now.
    pub fn add(&mut self, now: Instant, page: &'static str) {
        self.seen += 1;
        let last = self.last.replace(now);
        if let Some(last) = last.filter(|_| self.seen > START_UP) {
            self.took.push((now - last, page));
        }
    }

    /// Leaves a frame out.
    pub fn skip(&mut self) {
        self.last = None;
    }

    /// The figures so far, after which they begin anew.
    pub fn take(&mut self) -> String {
        let times = Times::of(std::mem::take(&mut self.took));
        let memory = memory().map(|megabytes| format!("; {megabytes} MB of memory in use"));
        format!("{times}{}", memory.unwrap_or_default())
    }
}

/// How long frames took, the shortest first.
struct Times(Vec<(Duration, &'static str)>);

impl Times {
    fn of(mut took: Vec<(Duration, &'static str)>) -> Self {
        took.sort();
        Self(took)
    }

    /// Milliseconds, than which this share of the frames took no longer.
    fn at(&self, share: f64) -> u128 {
        let place = (share * self.0.len().saturating_sub(1) as f64).round() as usize;
        let took = self.0.get(place);
        took.map_or(0, |(took, _)| took.as_millis())
    }

    fn beyond(&self, limit: Duration) -> usize {
        self.0.iter().filter(|(took, _)| *took > limit).count()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [noticed, disturbing] = NOTICED.map(|limit| self.beyond(limit));
        let [few, many] = NOTICED.map(|limit| limit.as_millis());
        write!(
            formatter,
            "{} frames, asked for every {} ms; one took {} ms (median), {} ms (99 %), {} ms (longest, {}); {noticed} \
             took more than {few} ms, {disturbing} more than {many} ms",
            self.0.len(),
            LOOK.as_millis(),
            self.at(0.5),
            self.at(0.99),
            self.at(1.0),
            self.0.last().map_or("none", |(_, page)| page),
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

    /// Frames that come so many milliseconds after each other.
    fn follow(frames: &mut Frames, now: &mut Instant, gaps: impl IntoIterator<Item = u64>) {
        for gap in gaps {
            *now += Duration::from_millis(gap);
            frames.add(*now, "Predict");
        }
    }

    #[test]
    fn neither_the_start_nor_the_pause_nor_pictures_count() {
        let (mut frames, mut now) = (Frames::default(), Instant::now());
        follow(&mut frames, &mut now, [9_000; START_UP]);
        follow(&mut frames, &mut now, (51..=150).chain([20]));
        frames.skip();
        follow(&mut frames, &mut now, [5_000]);
        let told = frames.take();
        let expected = "101 frames, asked for every 50 ms; one took 100 ms (median), 149 ms (99 %), 150 ms (longest, \
            Predict); 75 took more than 75 ms, 50 more than 100 ms";
        assert!(told.starts_with(expected), "{told}");
        follow(&mut frames, &mut now, [200]);
        let told = frames.take();
        assert!(told.starts_with("1 frames"), "{told}");
        assert!(told.contains("1 more than 100 ms"), "{told}");
        assert!(frames.take().starts_with("0 frames"));
    }
}
