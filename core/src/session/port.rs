//! The two ends of a session: commands go in, events come out, and a cell holds the latest state.
//!
//! Nothing here grows without bound. Of commands that wait, a later one takes the place of one of its kind; of events
//! that nobody reads, those make room first that only repeat what a later one says.

use super::{Command, Event, Phase, Progress};
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Events that wait to be read, at most.
const CAPACITY: usize = 1024;

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    listener: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    events: VecDeque<Event>,
    latest: Latest,
    /// The other end is gone.
    closed: bool,
}

/// What a session does, and how far it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latest {
    /// What it does.
    pub phase: Phase,
    /// How far the training is.
    pub progress: Option<Progress>,
}

/// A connected pair.
pub fn connect() -> (Control, Port) {
    let shared = Arc::new(Shared::default());
    (Control(Arc::clone(&shared)), Port(shared))
}

impl Shared {
    /// A panic of the other end leaves nothing half-done in the state: every change is one push or one assignment.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of the user: command line, window or page.
#[derive(Clone)]
pub struct Control(Arc<Shared>);

impl Control {
    /// Tells the session what to do. It obeys between two steps; what it has not come to yet is replaced by a later
    /// command of the same kind.
    pub fn send(&self, command: Command) {
        let mut state = self.0.lock();
        state.commands.retain(|waiting| !command.replaces(waiting));
        state.commands.push_back(command);
        drop(state);
        self.0.changed.notify_all();
    }

    /// Calls this after every event from now on, on the thread of the session: for a user who does not wait, such as a
    /// window that is drawn when there is news. The first listener stays.
    pub fn listen(&self, listener: impl Fn() + Send + Sync + 'static) {
        self.0.listener.get_or_init(|| Box::new(listener));
    }

    /// The events since the last call.
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().events.drain(..).collect()
    }

    /// The next event; nothing when the session is over and all its events are read.
    #[cfg(not(target_family = "wasm"))]
    pub fn next_event(&self) -> Option<Event> {
        let mut state = self.0.lock();
        loop {
            if let Some(event) = state.events.pop_front() {
                return Some(event);
            }
            if state.closed {
                return None;
            }
            let waited = self.0.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What the session does at this moment.
    pub fn latest(&self) -> Latest {
        self.0.lock().latest.clone()
    }

    /// Whether the session is over.
    pub fn is_over(&self) -> bool {
        self.0.lock().closed
    }
}

/// The end of the session.
pub struct Port(Arc<Shared>);

impl Port {
    /// Tells what happened.
    pub(crate) fn emit(&self, event: Event) {
        let mut state = self.0.lock();
        match &event {
            Event::Phase { phase } => state.latest.phase = *phase,
            Event::Progress(progress) => state.latest.progress = Some(progress.clone()),
            _ => {}
        }
        if state.events.len() >= CAPACITY {
            let dispensable = dispensable(&state.events, &event);
            state.events.remove(dispensable);
        }
        state.events.push_back(event);
        drop(state);
        self.0.changed.notify_all();
        if let Some(listener) = self.0.listener.get() {
            listener();
        }
    }

    /// Whether a stop was asked for. Other commands stay, for the next time the session can obey them.
    pub(crate) fn take_stop(&self) -> bool {
        let mut state = self.0.lock();
        let waiting = state.commands.len();
        state.commands.retain(|one| *one != Command::Stop);
        state.commands.len() < waiting
    }

    /// Whether a stop waits to be obeyed.
    pub(crate) fn is_told_to_stop(&self) -> bool {
        self.0.lock().commands.contains(&Command::Stop)
    }

    /// The next command, if there is one.
    pub(crate) fn command(&self) -> Option<Command> {
        self.0.lock().commands.pop_front()
    }
}

/// The event that is missed the least: the oldest that a later one makes worthless, else the oldest warning.
fn dispensable(events: &VecDeque<Event>, coming: &Event) -> usize {
    let repeated = |at: &usize| {
        let mut later = events.range(at + 1..).chain([coming]);
        later.any(|later| later.replaces(&events[*at]))
    };
    let repeated = (0..events.len()).find(repeated);
    let warning = |event: &Event| matches!(event, Event::Warning { .. });
    repeated
        .or_else(|| events.iter().position(warning))
        .unwrap_or(0)
}

impl Drop for Port {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Position;

    fn warning(message: &str) -> Event {
        let message = message.to_owned();
        Event::Warning { message }
    }

    fn training() -> Event {
        let phase = Phase::Training;
        Event::Phase { phase }
    }

    #[test]
    fn events_that_nobody_reads_do_not_pile_up_and_none_that_counts_is_lost() {
        let (control, port) = connect();
        port.emit(warning("first"));
        for done in 0..3 * CAPACITY {
            port.emit(Event::Evaluating {
                method: "MAP".to_owned(),
                done,
                of: 3 * CAPACITY,
                curve: None,
            });
        }
        port.emit(warning("last"));
        let events = control.events();
        assert!(events.len() <= CAPACITY, "{}", events.len());
        assert_eq!(events.first(), Some(&warning("first")));
        assert_eq!(events.last(), Some(&warning("last")));
    }

    #[test]
    fn warnings_that_nobody_reads_do_not_push_out_what_counts() {
        let (control, port) = connect();
        port.emit(training());
        for number in 0..2 * CAPACITY {
            port.emit(warning(&number.to_string()));
            port.emit(Event::Saved {
                position: Position::default(),
            });
        }
        let events = control.events();
        assert_eq!(events.len(), CAPACITY);
        assert_eq!(events.first(), Some(&training()));
        let last = warning(&(2 * CAPACITY - 1).to_string());
        assert_eq!(events.get(CAPACITY - 2), Some(&last));
    }

    #[test]
    fn of_commands_that_wait_the_last_of_a_kind_counts() {
        let (control, port) = connect();
        for number in 0..10_000 {
            control.send(Command::Pause);
            control.send(Command::ShowLayer(number.to_string()));
            control.send(Command::Save);
            control.send(Command::Resume);
        }
        let waiting: Vec<Command> = std::iter::from_fn(|| port.command()).collect();
        let layer = Command::ShowLayer("9999".to_owned());
        assert_eq!(waiting, [layer, Command::Save, Command::Resume]);
    }

    #[test]
    fn a_listener_finds_the_event_that_it_is_called_for() {
        let (control, port) = connect();
        port.emit(training());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (reader, kept) = (control.clone(), Arc::clone(&heard));
        control.listen(move || kept.lock().unwrap().push(reader.events()));
        control.listen(|| panic!("there is a listener already"));
        port.emit(warning("one"));
        port.emit(warning("two"));
        let expected = [vec![training(), warning("one")], vec![warning("two")]];
        assert_eq!(*heard.lock().unwrap(), expected);
    }

    #[test]
    fn a_session_that_ends_ends_the_stream() {
        let (control, port) = connect();
        port.emit(training());
        drop(port);
        assert_eq!(control.next_event(), Some(training()));
        assert_eq!(control.next_event(), None);
        assert_eq!(control.latest().phase, Phase::Training);
        assert!(control.is_over());
    }
}
