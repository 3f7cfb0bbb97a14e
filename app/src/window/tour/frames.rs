//! How long frames take, and how much memory there is.

/// Frames in which the window opens, fonts and shaders are made.
const START_UP: usize = 10;

/// Seconds of each frame since the last report.
#[derive(Default)]
pub struct Frames {
    seen: usize,
    seconds: Vec<f32>,
}

impl Frames {
    pub fn add(&mut self, seconds: Option<f32>) {
        self.seen += 1;
        if self.seen > START_UP {
            self.seconds.extend(seconds);
        }
    }

    /// The figures so far, after which they begin anew.
    pub fn take(&mut self) -> String {
        let mut seconds = std::mem::take(&mut self.seconds);
        seconds.sort_by(f32::total_cmp);
        let at = |share: f32| {
            let place = (share * seconds.len().saturating_sub(1) as f32).round() as usize;
            1000.0 * seconds.get(place).copied().unwrap_or_default()
        };
        format!(
            "{} frames of {:.0} ms (median), {:.0} ms (99 %), {:.0} ms (longest){}",
            seconds.len(),
            at(0.5),
            at(0.99),
            at(1.0),
            memory().map_or(String::new(), |megabytes| format!(
                "; {megabytes} MB of memory in use"
            ))
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
        assert!(
            text.starts_with("100 frames of 51 ms (median), 99 ms (99 %), 100 ms (longest)"),
            "{text}"
        );
        assert!(frames.take().starts_with("0 frames"));
    }
}
