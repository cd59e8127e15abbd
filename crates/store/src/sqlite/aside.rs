//! A thread for work that nobody waits for at the moment, such as packing: it lets everybody else go first.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How much it lets others go first, as `nice` counts: it has a third of their weight. With much less, those who wait
/// for it to make room would wait long beside others who compute.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

type Work = Box<dyn FnOnce() + Send>;

/// The way to the thread.
#[derive(Clone, Debug)]
pub(super) struct Aside(Arc<Mutex<Option<Sender<Work>>>>);

impl Aside {
    /// Starts the thread. It ends after [`Self::close`].
    pub(super) fn start() -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, works) = channel();
        let thread = std::thread::Builder::new().name("sqlite-aside".into()).spawn(move || run(&works))?;
        Ok((Self(Arc::new(Mutex::new(Some(sender)))), thread))
    }

    /// Has this done; says whether it will be.
    pub(super) fn run(&self, work: Work) -> bool {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sender.as_ref().is_some_and(|sender| sender.send(work).is_ok())
    }

    /// Takes no more; what was taken is still done.
    pub(super) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn run(works: &Receiver<Work>) {
    // On Linux the priority is the calling thread's own. Without it, packing is merely as urgent as the rest.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::warn!(%error, "packing is as urgent as everything else: its priority cannot be lowered");
    }
    while let Ok(work) = works.recv() {
        // One piece of work that panics must not end all others; whoever waits for it sees that it is gone.
        let _panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    }
}
