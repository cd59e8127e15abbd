//! The phases of a server, followed by every connection, and the report of its shutdown.

use std::pin::Pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::counters::{CloseReason, Counters};

/// The result of a shutdown: how many connections ended, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Connections that were served since the start.
    pub accepted: u64,
    /// Connections closed at once for being over a limit.
    pub refused: u64,
    /// Request bodies that failed for being slow.
    pub slow_bodies: u64,
    /// Connections that ended by themselves after the shutdown began.
    pub drained: usize,
    /// Connections closed with work under way when the time was over.
    pub cut: usize,
    closed: [u64; CloseReason::ALL.len()],
}

impl ShutdownReport {
    /// How many connections were closed for this reason since the start.
    pub fn closed(&self, reason: CloseReason) -> u64 {
        self.closed[reason as usize]
    }
}

/// The phase of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Accepting and serving connections.
    Running,
    /// Finishing accepted work; no new connections.
    Draining,
    /// The time limit is over: connections are closed.
    Cutting,
}

/// Resolves when the server begins to drain.
pub(super) type Draining = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The server's side: sets the phase, and waits until every connection has ended.
#[derive(Debug)]
pub(super) struct Lifecycle(watch::Sender<Phase>);

impl Lifecycle {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Phase::Running))
    }

    pub(super) fn follow(&self) -> PhaseWatch {
        PhaseWatch(self.0.subscribe())
    }

    /// Lets connections finish for `limit`, then cuts them.
    pub(super) async fn drain(self, limit: Duration, counters: &Counters) -> ShutdownReport {
        /// Time for closed connections to be dropped.
        const CUT_TIME: Duration = Duration::from_secs(1);
        let open_at_start = counters.open_now();
        self.0.send_replace(Phase::Draining);
        let mut cut = 0;
        if timeout(limit, self.0.closed()).await.is_err() {
            cut = counters.open_now();
            self.0.send_replace(Phase::Cutting);
            if timeout(CUT_TIME, self.0.closed()).await.is_err() {
                tracing::warn!(open = counters.open_now(), "connections still open after being cut");
            }
        }
        ShutdownReport {
            accepted: counters.accepted_total(),
            refused: counters.refused_total(),
            slow_bodies: counters.slow_bodies_total(),
            drained: open_at_start.saturating_sub(cut),
            cut,
            closed: counters.closed_total(),
        }
    }
}

/// A connection's side: follows the phase. Dropping the server closes its connections.
#[derive(Debug, Clone)]
pub(super) struct PhaseWatch(watch::Receiver<Phase>);

impl PhaseWatch {
    /// The next phase, when it comes.
    pub(super) async fn next(&mut self) -> Phase {
        match self.0.changed().await {
            Ok(()) => *self.0.borrow_and_update(),
            Err(_) => Phase::Cutting,
        }
    }

    /// A future for the moment the server begins to drain.
    pub(super) fn draining(&self) -> Draining {
        let mut phases = self.0.clone();
        Box::pin(async move {
            // An error means that the server has stopped, which ends the wait as well.
            let _ = phases.wait_for(|phase| *phase != Phase::Running).await;
        })
    }
}
