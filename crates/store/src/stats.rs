//! Counters of the engines, for metrics and tests.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters since a database was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Transactions committed by write jobs.
    pub commits: u64,
    /// Write jobs committed; more than `commits` when jobs shared a commit.
    pub jobs_committed: u64,
    /// Write jobs that failed or whose commit failed.
    pub jobs_failed: u64,
    /// Write jobs refused because the queue was full.
    pub jobs_refused: u64,
    /// Checkpoints that ran; always 0 on PostgreSQL.
    pub checkpoints: u64,
    /// Histories that were read from the replica.
    pub replica_reads: u64,
}

impl Stats {
    /// The difference to an earlier reading.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            commits: self.commits - before.commits,
            jobs_committed: self.jobs_committed - before.jobs_committed,
            jobs_failed: self.jobs_failed - before.jobs_failed,
            jobs_refused: self.jobs_refused - before.jobs_refused,
            checkpoints: self.checkpoints - before.checkpoints,
            replica_reads: self.replica_reads - before.replica_reads,
        }
    }
}

/// A counter that many threads may increment.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters behind [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commits: Counter,
    pub(crate) jobs_committed: Counter,
    pub(crate) jobs_failed: Counter,
    pub(crate) jobs_refused: Counter,
    pub(crate) checkpoints: Counter,
    pub(crate) replica_reads: Counter,
}

impl Counters {
    pub(crate) fn read(&self) -> Stats {
        Stats {
            commits: self.commits.get(),
            jobs_committed: self.jobs_committed.get(),
            jobs_failed: self.jobs_failed.get(),
            jobs_refused: self.jobs_refused.get(),
            checkpoints: self.checkpoints.get(),
            replica_reads: self.replica_reads.get(),
        }
    }
}
