//! A low-priority thread for background work such as packing.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The nice value of the thread, which gives it a third of the usual weight. With much less, submitters that wait for
/// compaction would starve while other threads use the processor.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

type Work = Box<dyn FnOnce() + Send>;

/// A handle to the thread.
#[derive(Clone, Debug)]
pub(super) struct LowPriorityThread(Arc<Mutex<Option<Sender<Work>>>>);

impl LowPriorityThread {
    /// Starts the thread, which ends after [`Self::close`].
    pub(super) fn start() -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, works) = channel();
        let thread = std::thread::Builder::new().name("sqlite-lowprio".into()).spawn(move || run(&works))?;
        Ok((Self(Arc::new(Mutex::new(Some(sender)))), thread))
    }

    /// Queues work; false if the thread is closed.
    pub(super) fn run(&self, work: Work) -> bool {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sender.as_ref().is_some_and(|sender| sender.send(work).is_ok())
    }

    /// Refuses further work. Queued work is still done.
    pub(super) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn run(works: &Receiver<Work>) {
    // On Linux the priority is per thread. Failure is harmless: the thread then runs with normal priority.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::warn!(%error, "cannot lower the priority of the packing thread");
    }
    while let Ok(work) = works.recv() {
        // A panic must not end the thread; the caller of that work sees its reply channel closed.
        let _panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    }
}
