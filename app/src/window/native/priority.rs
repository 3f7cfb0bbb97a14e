//! What computes on the CPU gives way to what draws: a window with two busy cores is as fluent as an idle one.
//!
//! Not what computes on a GPU: the window would wait for a thread that holds a lock of the device and does not come to
//! its turn.

use crate::device::Named;
use burn::tensor::Device;
use rayon::ThreadPoolBuilder;
use thread_priority::{ThreadPriority, ThreadPriorityValue, set_current_thread_priority};

/// Of 0 to 99. On Linux it comes to the niceness that the command `nice` gives, on Windows to one below the usual.
const BELOW_THE_USUAL: u8 = 22;

/// Lets others go before this thread, if it is about to compute on the CPU; for good, since a thread may not raise its
/// own priority. Not for threads that may compute on a GPU later.
pub fn give_way(on: &Named) {
    if on.device == Device::flex() {
        lower();
    }
}

/// Lets others go before the threads that tensor operations on the CPU share. It has to be the first to start them.
pub fn share_politely() {
    // Threads that were started already compute as they did.
    let _ = polite_threads().build_global();
}

fn polite_threads() -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().start_handler(|_| lower())
}

/// Lets others go before this thread, for good. Where the system refuses, it computes as it did.
pub fn lower() {
    if let Ok(priority) = ThreadPriorityValue::try_from(BELOW_THE_USUAL) {
        let _ = set_current_thread_priority(ThreadPriority::Crossplatform(priority));
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use burn::tensor::DeviceKind;
    use std::thread;

    /// How nice the system says that this thread is: the 19th entry, where the second one is a name in brackets.
    fn niceness() -> i32 {
        let entries = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, after_name) = entries.rsplit_once(')').unwrap();
        let entry = after_name.split_whitespace().nth(16).unwrap();
        entry.parse().unwrap()
    }

    fn after_giving_way(device: Device) -> i32 {
        let named = Named {
            name: String::new(),
            device,
            fast: true,
        };
        let thread = thread::spawn(move || {
            give_way(&named);
            niceness()
        });
        thread.join().unwrap()
    }

    #[test]
    fn the_cpu_gives_way_and_a_gpu_does_not() {
        let before = niceness();
        assert!(after_giving_way(Device::flex()) >= 10);
        let gpu = Device::wgpu(DeviceKind::DefaultDevice);
        assert_eq!(after_giving_way(gpu), before);
        assert_eq!(niceness(), before);
    }

    #[test]
    fn threads_that_share_the_work_give_way() {
        let before = niceness();
        let threads = polite_threads().num_threads(1).build().unwrap();
        assert!(threads.install(niceness) >= 10);
        assert_eq!(niceness(), before);
    }
}
