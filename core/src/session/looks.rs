//! What users ask a run to tell of itself, and when it does.

use super::Scrub;
use std::mem;

/// How many times as long as a look took a run learns before the next: looking costs it a fifth of its time at most.
const LEARNING_PER_LOOK: f64 = 4.0;
/// Seconds of learning before the next in any case: nobody follows what changes faster.
const LEAST_SECONDS: f64 = 0.5;

/// What a run is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Look {
    /// What it is worth on some of the test pictures.
    Judge,
    /// A network out of its posterior.
    Draw(Scrub),
}

/// What waits to be told; of each kind the latest.
#[derive(Default)]
pub(super) struct Looks {
    judge: bool,
    draw: Option<Scrub>,
    /// The draw that was told last.
    told: Option<Scrub>,
    /// Seconds of learning at which it is time for the next one.
    next_at: f64,
}

impl Looks {
    pub(super) fn ask(&mut self, look: Look) {
        match look {
            Look::Judge => self.judge = true,
            Look::Draw(scrub) => self.draw = Some(scrub),
        }
    }

    /// What it is time for after so many seconds of learning. A run that is paused has time for everything; and nobody
    /// waits for another draw than the last one.
    pub(super) fn take(&mut self, now: f64, paused: bool) -> Option<Look> {
        let time = paused || now >= self.next_at;
        if time && mem::take(&mut self.judge) {
            return Some(Look::Judge);
        }
        let told = self.told.as_ref();
        let draw = self.draw.take_if(|draw| time || told != Some(&*draw))?;
        self.told = Some(draw.clone());
        Some(Look::Draw(draw))
    }

    /// That a look took so many seconds of work just now.
    pub(super) fn took(&mut self, seconds: f64, now: f64) {
        self.next_at = now + (LEARNING_PER_LOOK * seconds).max(LEAST_SECONDS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(draw: u32) -> Look {
        Look::Draw(Scrub {
            draw: Some(draw),
            layer: "conv1".to_owned(),
        })
    }

    #[test]
    fn looking_costs_a_fifth_of_the_time_at_most() {
        let mut looks = Looks::default();
        let (mut learning, mut looking) = (0.0, 0.0);
        for _ in 0..1000 {
            looks.ask(Look::Judge);
            if looks.take(learning, false).is_some() {
                looking += 0.7;
                looks.took(0.7, learning);
            }
            learning += 0.1;
        }
        let share = looking / (looking + learning);
        assert!((0.15..0.21).contains(&share), "{share}");
    }

    #[test]
    fn another_draw_is_told_at_once_and_the_same_one_in_time() {
        let mut looks = Looks::default();
        for number in 0..3 {
            looks.ask(draw(number));
            assert_eq!(looks.take(1.0, false), Some(draw(number)));
            looks.took(1.0, 1.0);
        }
        looks.ask(draw(2));
        assert_eq!(looks.take(4.9, false), None);
        assert_eq!(looks.take(5.1, false), Some(draw(2)));
        assert_eq!(looks.take(9.0, false), None);
    }

    #[test]
    fn a_run_that_is_paused_has_time() {
        let mut looks = Looks::default();
        looks.took(100.0, 0.0);
        looks.ask(Look::Judge);
        assert_eq!(looks.take(0.0, false), None);
        assert_eq!(looks.take(0.0, true), Some(Look::Judge));
        assert_eq!(looks.take(0.0, true), None);
    }
}
