//! An allocator that counts, for tests and benchmarks of memory.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// An allocator that keeps memory for the next step, counting the bytes that are live and the most that ever were.
pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the allocator as it came; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(
            LIVE.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: the caller's promises are passed on.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(
            LIVE.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: the caller's promises are passed on. Not through `alloc`: fresh blocks are zero
        // without being touched, and timings should see that.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { MiMalloc.dealloc(block, layout) }
    }
}

impl Counting {
    /// Bytes that are allocated now.
    pub fn live() -> usize {
        LIVE.load(Relaxed)
    }

    /// The most bytes that were allocated at once while `run` ran, beyond those before it.
    pub fn peak_of<T>(run: impl FnOnce() -> T) -> (T, usize) {
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let result = run();
        (result, PEAK.load(Relaxed).saturating_sub(before))
    }
}
