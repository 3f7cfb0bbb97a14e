//! Ctrl-C: a run is stopped and saved, anything else is ended.

use super::exit::INTERRUPTED;
use bayesadapter::session::{Command, Control};
use std::{
    io::Write,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

/// The run that Ctrl-C stops, and whether it was told so already.
static CURRENT: Mutex<Option<(Control, bool)>> = Mutex::new(None);

fn current() -> MutexGuard<'static, Option<(Control, bool)>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As long as it lives, Ctrl-C stops a run; afterwards it ends the program.
pub struct Interrupt(());

impl Drop for Interrupt {
    fn drop(&mut self) {
        *current() = None;
    }
}

/// Ctrl-C ends the run after its current step; a second one ends the program at once.
#[must_use]
pub fn stops(control: &Control) -> Interrupt {
    static INSTALLED: Once = Once::new();
    *current() = Some((control.clone(), false));
    INSTALLED.call_once(|| {
        // Where no handler can be set, Ctrl-C ends the program, and the last saved state is there.
        let _ = ctrlc::set_handler(|| match &mut *current() {
            Some((control, told)) if !*told => {
                *told = true;
                let text = "\nStopping after this step; once more to end at once.";
                let _ = writeln!(std::io::stderr(), "{text}");
                control.send(Command::Stop);
            }
            _ => std::process::exit(i32::from(INTERRUPTED)),
        });
    });
    Interrupt(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayesadapter::session::connect;

    #[test]
    fn a_run_that_is_over_is_not_stopped_any_more() {
        let (control, _port) = connect();
        let interrupt = stops(&control);
        assert!(current().is_some());
        drop(interrupt);
        assert!(current().is_none(), "Ctrl-C would be swallowed");
    }
}
