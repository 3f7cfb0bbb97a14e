//! Where a benchmark runs: what else does, and where its results go.
//!
//! Is anything else running? A busy core halves our figures and ruins those of a peer whose threads
//! wait for each other, so that ratios measured then are worth nothing.

use std::{fs, path::PathBuf, thread, time::Duration};

/// Share of processor time that nobody used during half a second of our own rest; `None` where the
/// system does not tell.
pub fn idle_share() -> Option<f64> {
    let (idle, all) = processor_ticks()?;
    thread::sleep(Duration::from_millis(500));
    let (idle_after, all_after) = processor_ticks()?;
    Some((idle_after - idle) / (all_after - all))
}

/// Idle and total time of all cores since the system started.
fn processor_ticks() -> Option<(f64, f64)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<f64> = text
        .lines()
        .next()?
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    // Columns 3 and 4 are idle and waiting for a disk; 8 and 9 are already part of the first two.
    Some((ticks.get(3)? + ticks.get(4)?, ticks.get(..8)?.iter().sum()))
}

/// The running program is `<target>/<profile>/deps/<benchmark>-<hash>`.
pub fn target_directory() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    let target = program
        .ancestors()
        .nth(3)
        .expect("cargo's layout of the target directory");
    target.to_path_buf()
}
