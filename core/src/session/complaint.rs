//! Devices that fail where nothing returns an error: they panic.

use super::SessionError;
use crate::{pass::panic_text, read::in_a_line};
use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::pin,
    task::Poll,
};

/// What Burn, cubecl and wgpu say, in small letters, when it is the device that failed, and not the program.
const COMPLAINTS: [&str; 8] = [
    "wgpu error",
    "device is poisoned",
    "device was poisoned",
    "device is lost",
    "out of memory",
    "launch error happened",
    "io error happened",
    "never written",
];

/// Does work in which a device may fail anywhere, also where only a panic tells of it: that becomes an error. Any other
/// panic is a defect, and goes on. A page does not unwind, so that there nothing is caught.
pub(super) async fn caught<T>(
    work: impl Future<Output = Result<T, SessionError>>,
) -> Result<T, SessionError> {
    let mut work = pin!(work);
    poll_fn(|context| {
        // Work that panicked is not polled again. What it leaves behind was whole between two steps, and is looked at
        // as it was then.
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|panic| match complaint(&*panic) {
            Some(reason) => Poll::Ready(Err(SessionError::Device { reason })),
            None => resume_unwind(panic),
        })
    })
    .await
}

/// What a device complains of in a panic, if that is what it is.
fn complaint(panic: &(dyn Any + Send)) -> Option<String> {
    let text = panic_text(panic)?;
    let small = text.to_lowercase();
    let told = COMPLAINTS.iter().any(|complaint| small.contains(complaint));
    told.then(|| in_a_line(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_told_from_a_defect() {
        let of = |text: &str| complaint(&text.to_owned());
        let memory = "wgpu error: Out of Memory\n\nCaused by:\n  Not enough memory left.\n";
        let told = "wgpu error: Out of Memory: Not enough memory left";
        assert_eq!(of(memory).as_deref(), Some(told));
        let lost = "called `Result::unwrap()` on an `Err` value: Parent device is lost";
        assert!(of(lost).is_some());
        let defect = "index out of bounds: the len is 3 but the index is 7";
        assert_eq!(of(defect), None);
        assert_eq!(complaint(&7_u8), None);
    }
}
