//! The threads that serve connections, one per core.
//!
//! A connection stays on its thread: what a request allocates is freed where it was allocated, and while it waits for
//! a commit no other core takes it over (`docs/adr/0012-connections-stay-on-a-thread.md`).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Threads that serve connections. By default there are none, and connections are served on the runtime that calls
/// [`serve`](super::serve). When the last copy of this is dropped, the threads end and abort what still runs on them.
#[derive(Clone, Debug, Default)]
pub struct Threads(Arc<[Thread]>);

#[derive(Debug)]
struct Thread {
    runtime: Handle,
    open: Arc<AtomicUsize>,
    _ends_when_dropped: oneshot::Sender<()>,
}

impl Threads {
    /// Starts a thread for each core.
    pub fn one_a_core() -> io::Result<Self> {
        let cores = available_parallelism().map_or(1, usize::from);
        (0..cores).map(Thread::start).collect::<io::Result<_>>().map(Self)
    }

    /// The thread for the next connection: the one with the fewest.
    pub(super) fn assign(&self) -> ThreadPermit {
        match self.0.iter().min_by_key(|thread| thread.open.load(Ordering::Relaxed)) {
            Some(thread) => {
                thread.open.fetch_add(1, Ordering::Relaxed);
                ThreadPermit { runtime: thread.runtime.clone(), open: Some(Arc::clone(&thread.open)) }
            }
            None => ThreadPermit { runtime: Handle::current(), open: None },
        }
    }
}

impl Thread {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (sender, end) = oneshot::channel();
        std::thread::Builder::new().name(format!("http-{number}")).spawn(move || {
            // Resolves when the sender is dropped; nothing is ever sent.
            let _ended = runtime.block_on(end);
            runtime.shutdown_background();
        })?;
        Ok(Self { runtime: handle, open: Arc::default(), _ends_when_dropped: sender })
    }
}

/// The thread that serves a connection. The connection is counted there until this is dropped.
#[derive(Debug)]
pub(super) struct ThreadPermit {
    pub(super) runtime: Handle,
    open: Option<Arc<AtomicUsize>>,
}

impl Drop for ThreadPermit {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_are_spread_evenly() {
        let threads = Threads([0, 1].map(|number| Thread::start(number).unwrap()).into_iter().collect());
        let mut permits: Vec<ThreadPermit> = (0..4).map(|_| threads.assign()).collect();
        let open = |threads: &Threads| -> Vec<usize> {
            threads.0.iter().map(|thread| thread.open.load(Ordering::Relaxed)).collect()
        };
        assert_eq!(open(&threads), [2, 2]);
        permits.retain(|permit| permit.runtime.id() == threads.0[0].runtime.id());
        assert_eq!(open(&threads), [2, 0]);
        assert_eq!(threads.assign().runtime.id(), threads.0[1].runtime.id());
    }

    #[tokio::test]
    async fn without_threads_connections_use_the_current_runtime() {
        assert_eq!(Threads::default().assign().runtime.id(), Handle::current().id());
    }

    #[tokio::test]
    async fn tasks_end_with_their_threads() {
        let threads = Threads::one_a_core().unwrap();
        let (kept, dropped) = oneshot::channel::<()>();
        let permit = threads.assign();
        permit.runtime.spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        drop(threads);
        assert!(dropped.await.is_err());
    }
}
