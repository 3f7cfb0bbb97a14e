//! Threads of which each takes launches of its own, on the CPU.
//!
//! Threads that share a launch wait for the slowest of them after every layer, and pass their maps through a memory that
//! all of them share. Launches that are as small as a thread's cache need neither.

use burn::module::Module;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// A thread with a network of its own.
struct Member<M> {
    network: M,
    /// Of one thread: what is computed in it is shared out among no others.
    pool: ThreadPool,
}

pub(super) struct Team<M>(Vec<Member<M>>);

impl<M: Module> Team<M> {
    /// As many threads as a launch would be shared among; none if that is one, or if the system gives no more.
    pub fn new(network: &M) -> Option<Self> {
        let count = rayon::current_num_threads();
        if count == 1 {
            return None;
        }
        let member = |_| {
            let pool = ThreadPoolBuilder::new().num_threads(1).build().ok()?;
            let network = network.clone();
            Some(Member { network, pool })
        };
        (0..count).map(member).collect::<Option<Vec<_>>>().map(Self)
    }

    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// What `work` makes of each item, in their order. Whoever is free takes the next one.
    pub fn map<T: Sync, R: Send>(
        &mut self,
        items: &[T],
        work: impl Fn(&M, &T) -> R + Sync,
    ) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let take = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        };
        let (take, work) = (&take, &work);
        let mut done: Vec<(usize, R)> = thread::scope(|scope| {
            let members = self.0.iter_mut().map(|member| {
                let Member { network, pool } = member;
                scope.spawn(move || {
                    pool.install(move || {
                        let network = &*network;
                        let taken = std::iter::from_fn(take);
                        let made = taken.map(|(at, item)| (at, work(network, item)));
                        made.collect::<Vec<_>>()
                    })
                })
            });
            let members: Vec<_> = members.collect();
            let done = members.into_iter().map(|member| member.join());
            done.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, made)| made).collect()
    }
}
