//! Named steps, timed, with a table at the end.

use anyhow::{Context, Result};
use std::time::{Duration, Instant};

/// The steps done so far.
#[derive(Default)]
pub struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Does one step. A failure ends the run: later steps cost more and say less.
    pub fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n=== {name} ===");
        let start = Instant::now();
        let result = step();
        let time = start.elapsed();
        self.done.push((name, time));
        match result {
            Ok(value) => {
                println!("=== {name}: ok in {:.1} s ===", time.as_secs_f64());
                Ok(value)
            }
            Err(error) => {
                println!("=== {name}: FAILED after {:.1} s ===", time.as_secs_f64());
                self.print("FAILED");
                Err(error).context(format!("step `{name}` failed"))
            }
        }
    }

    pub fn finish(self) {
        self.print("ok");
    }

    fn print(&self, last: &str) {
        println!("\n{:<28}{:>9}", "step", "seconds");
        for (position, (name, time)) in self.done.iter().enumerate() {
            let is_last = position + 1 == self.done.len();
            let outcome = if is_last { last } else { "ok" };
            println!("{name:<28}{:>9.1}  {outcome}", time.as_secs_f64());
        }
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        println!("{:<28}{:>9.1}", "total", total.as_secs_f64());
    }
}
