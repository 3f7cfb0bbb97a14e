//! Wakes the window when there is news, so that it need not be drawn all the time to look for some.

use super::platform;
use egui::Context;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

/// What those ring who work beside the window.
#[derive(Clone, Default)]
pub struct Bell(Arc<Wire>);

#[derive(Default)]
struct Wire {
    window: OnceLock<Context>,
    /// The window was woken, and has not looked for news since.
    rung: AtomicBool,
}

impl Bell {
    /// From now on the window hears it.
    pub fn hang(&self, ctx: &Context) {
        self.0.window.get_or_init(|| ctx.clone());
    }

    /// The window is about to look for news, and is to be woken again for those that come after.
    pub fn heard(&self) {
        // Not a store: after a swap, the window sees what was told before any ring that had no effect.
        self.0.rung.swap(false, Ordering::AcqRel);
    }

    /// There is news. What comes soon after it is shown in the same frame: only the first ring takes egui's lock, for
    /// which the window would have to wait.
    pub fn ring(&self) {
        if let Some(ctx) = self.0.window.get()
            && !self.0.rung.swap(true, Ordering::AcqRel)
        {
            ctx.request_repaint_after(platform::LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn the_window_is_woken_once_until_it_looks_for_news() {
        let (bell, ctx) = (Bell::default(), Context::default());
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        ctx.set_repaint_observer(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        // Before it hangs, nobody hears it.
        bell.ring();
        bell.hang(&ctx);
        for frame in 1..4 {
            let other = bell.clone();
            bell.ring();
            other.ring();
            assert_eq!(asked.load(Ordering::Relaxed), frame);
            bell.heard();
        }
    }
}
