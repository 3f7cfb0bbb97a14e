//! How long a run has worked.

use crate::clock::Stopwatch;

/// Time since the start, without pauses and rests.
pub(super) struct WorkingTime {
    watch: Stopwatch,
    /// Seconds of the pauses that are over, and of rests.
    paused: f64,
    /// When the pause began that lasts.
    since: Option<f64>,
}

impl WorkingTime {
    pub(super) fn start() -> Self {
        Self {
            watch: Stopwatch::start(),
            paused: 0.0,
            since: None,
        }
    }

    pub(super) fn pause(&mut self) {
        self.since.get_or_insert_with(|| self.watch.seconds());
    }

    pub(super) fn go_on(&mut self) {
        if let Some(since) = self.since.take() {
            self.paused += self.watch.seconds() - since;
        }
    }

    /// That it rested for so long just now, or did what is no training. In a pause no time passes anyway.
    pub(super) fn rested(&mut self, seconds: f64) {
        if self.since.is_none() {
            self.paused += seconds;
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.since.unwrap_or_else(|| self.watch.seconds()) - self.paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{thread::sleep, time::Duration};

    #[test]
    fn a_pause_takes_no_time() {
        let mut time = WorkingTime::start();
        sleep(Duration::from_millis(5));
        time.pause();
        let before = time.seconds();
        assert!(before >= 0.005);
        sleep(Duration::from_millis(200));
        assert_eq!(time.seconds(), before);
        time.go_on();
        assert!((before..before + 0.2).contains(&time.seconds()));
    }

    #[test]
    fn a_rest_takes_no_time() {
        let mut time = WorkingTime::start();
        let before = time.seconds();
        time.rested(1000.0);
        assert!(time.seconds() - before < -900.0);
    }

    #[test]
    fn a_rest_in_a_pause_is_not_counted_twice() {
        let mut time = WorkingTime::start();
        time.pause();
        let before = time.seconds();
        time.rested(1000.0);
        time.go_on();
        assert!((before..before + 1.0).contains(&time.seconds()));
    }
}
