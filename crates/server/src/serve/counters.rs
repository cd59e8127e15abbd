//! How connections ended: counted for the shutdown report and published as metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum CloseReason {
    /// Both sides were done, or the peer disconnected.
    Finished,
    /// The peer broke the protocol or the connection failed.
    Failed,
    /// The peer sent no first byte.
    Silent,
    /// The peer began a request head and did not finish it.
    HalfHead,
    /// The peer sent no request for too long after an answer.
    Idle,
    /// The peer did not finish the TLS handshake in time.
    HandshakeTimeout,
    /// The TLS handshake failed.
    HandshakeFailed,
    /// The peer read answers too slowly.
    SlowReader,
    /// The peer read nothing at all of an answer.
    StalledReader,
    /// The connection was still open when the time for the shutdown was over.
    Cut,
}

impl CloseReason {
    /// Every reason, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Finished,
        Self::Failed,
        Self::Silent,
        Self::HalfHead,
        Self::Idle,
        Self::HandshakeTimeout,
        Self::HandshakeFailed,
        Self::SlowReader,
        Self::StalledReader,
        Self::Cut,
    ];

    /// The value of the metric's `reason` label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Silent => "silent",
            Self::HalfHead => "half_head",
            Self::Idle => "idle",
            Self::HandshakeTimeout => "handshake_timeout",
            Self::HandshakeFailed => "handshake_failed",
            Self::SlowReader => "slow_reader",
            Self::StalledReader => "stalled_reader",
            Self::Cut => "cut",
        }
    }
}

/// The counts of one server; the metrics add up all servers of the process.
#[derive(Debug, Default)]
pub(super) struct Counters {
    accepted: AtomicU64,
    refused: AtomicU64,
    open: OpenConnections,
    slow_bodies: AtomicU64,
    closed: [AtomicU64; CloseReason::ALL.len()],
}

/// How many connections are open; clones count the same ones.
#[derive(Clone, Debug, Default)]
pub struct OpenConnections(Arc<AtomicUsize>);

impl OpenConnections {
    /// How many there are at this moment.
    pub fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// Counters at zero; open connections are counted in `open`.
    pub(super) fn new(open: OpenConnections) -> Self {
        Self { open, ..Self::default() }
    }

    /// Counts a connection as open until the returned value is dropped.
    pub(super) fn open(self: &Arc<Self>) -> OpenConnection {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        self.open.0.fetch_add(1, Ordering::Relaxed);
        metrics::gauge!("perigee_http_connections_open").increment(1.0);
        // A connection whose task panics is dropped without a reason.
        OpenConnection { counters: Arc::clone(self), reason: CloseReason::Failed }
    }

    fn closed(&self, reason: CloseReason) {
        self.open.0.fetch_sub(1, Ordering::Relaxed);
        self.closed[reason as usize].fetch_add(1, Ordering::Relaxed);
        metrics::gauge!("perigee_http_connections_open").decrement(1.0);
        metrics::counter!("perigee_http_connections_closed_total", "reason" => reason.label()).increment(1);
    }

    pub(super) fn refused(&self, reason: &'static str) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        metrics::counter!("perigee_http_connections_refused_total", "reason" => reason).increment(1);
    }

    pub(super) fn slow_body(&self) {
        self.slow_bodies.fetch_add(1, Ordering::Relaxed);
        metrics::counter!("perigee_http_slow_bodies_total").increment(1);
    }

    pub(super) fn accept_error() {
        metrics::counter!("perigee_http_accept_errors_total").increment(1);
    }

    pub(super) fn open_now(&self) -> usize {
        self.open.now()
    }

    pub(super) fn accepted_total(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn refused_total(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(super) fn slow_bodies_total(&self) -> u64 {
        self.slow_bodies.load(Ordering::Relaxed)
    }

    pub(super) fn closed_total(&self) -> [u64; CloseReason::ALL.len()] {
        std::array::from_fn(|reason| self.closed[reason].load(Ordering::Relaxed))
    }
}

/// A connection counted as open.
#[derive(Debug)]
pub(super) struct OpenConnection {
    counters: Arc<Counters>,
    reason: CloseReason,
}

impl OpenConnection {
    pub(super) fn close(mut self, reason: CloseReason) {
        self.reason = reason;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.counters.closed(self.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_where_they_are_counted() {
        for (index, reason) in CloseReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason:?}");
        }
    }
}
