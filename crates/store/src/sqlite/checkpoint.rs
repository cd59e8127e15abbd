//! Checkpoints: a thread moves committed pages from the write-ahead log into the database file while the writer
//! continues.

use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;

use super::connection::{BUSY_TIMEOUT, open_writer};
use super::error::abort_if_fatal;
use super::file::Ownership;
use crate::stats::Counters;

/// Log pages (of 4 KiB) not yet moved at which a checkpoint runs.
const CHECKPOINT_AT_PAGES: c_int = 1000;
/// Log pages in total at which the log is restarted, for which writers are blocked briefly: while commits follow each
/// other closely, SQLite never restarts it by itself.
const RESTART_AT_PAGES: c_int = 16_000;
/// Log pages that may remain to be moved while writers are blocked, and how many passive checkpoints try to get there.
const RESTART_REMAINING_PAGES_MAX: c_int = 200;
const PASSIVE_ATTEMPTS_MAX: usize = 4;
/// How long the restart may block writers. If a reader prevents it for longer, the next checkpoint tries again.
const RESTART_BUSY_TIMEOUT: Duration = Duration::from_millis(10);

/// Starts the thread. When the writer's connection is closed, it runs a last checkpoint, releases the ownership of the
/// file and ends.
pub(crate) fn start(
    path: &Path,
    ownership: Option<Ownership>,
    writer: &mut Connection,
    counters: Arc<Counters>,
) -> Result<JoinHandle<()>, Box<dyn std::error::Error + Send + Sync>> {
    let moved = Arc::new(AtomicI32::new(0));
    let checkpointer = Checkpointer { connection: open_writer(path)?, moved: Arc::clone(&moved), counters };
    // Capacity 1: while a checkpoint is due, a second request adds nothing.
    let (request, requests) = sync_channel(1);
    writer.wal_hook(Some(move |_wal: &mut Wal, pages: c_int| {
        if outstanding(pages, moved.load(Ordering::Relaxed)) >= CHECKPOINT_AT_PAGES {
            let _ = request.try_send(pages);
        }
        Ok(())
    }))?;
    let work = move || checkpointer.run(ownership.as_ref(), &requests);
    Ok(std::thread::Builder::new().name("sqlite-checkpoint".into()).spawn(work)?)
}

/// How many pages of the log are not yet moved. A log shorter than what was moved has been restarted.
const fn outstanding(pages: c_int, moved: c_int) -> c_int {
    if pages < moved { pages } else { pages - moved }
}

struct Checkpointer {
    connection: Connection,
    /// How many pages of the log are in the database file.
    moved: Arc<AtomicI32>,
    counters: Arc<Counters>,
}

impl Checkpointer {
    fn run(&self, owned: Option<&Ownership>, requests: &Receiver<c_int>) {
        while let Ok(pages) = requests.recv() {
            self.checkpoint(CheckpointMode::PASSIVE, Duration::ZERO);
            if pages >= RESTART_AT_PAGES {
                self.restart_log();
            }
        }
        if owned.is_some() {
            self.checkpoint(CheckpointMode::TRUNCATE, BUSY_TIMEOUT);
        } else {
            // Another process may be serving, and truncating the log would block it.
            self.checkpoint(CheckpointMode::PASSIVE, Duration::ZERO);
        }
    }

    /// Restarts the log. Passive checkpoints move most of the pages first, so that writers are blocked only for the
    /// rest.
    fn restart_log(&self) {
        for _ in 0..PASSIVE_ATTEMPTS_MAX {
            if self
                .checkpoint(CheckpointMode::PASSIVE, Duration::ZERO)
                .is_some_and(|left| left <= RESTART_REMAINING_PAGES_MAX)
            {
                break;
            }
        }
        self.checkpoint(CheckpointMode::RESTART, RESTART_BUSY_TIMEOUT);
    }

    /// Runs a checkpoint, and returns how many pages were outstanding when it began.
    fn checkpoint(&self, mode: CheckpointMode, busy_timeout: Duration) -> Option<c_int> {
        let before = self.moved.load(Ordering::Relaxed);
        let outcome = self
            .connection
            .busy_timeout(busy_timeout)
            .and_then(|()| self.connection.wal_checkpoint_v2(None::<&str>, mode));
        match outcome {
            Ok((pages, moved)) => {
                self.moved.store(moved, Ordering::Relaxed);
                self.counters.checkpoints.add(1);
                Some(outstanding(pages, before))
            }
            Err(error) => {
                abort_if_fatal(&error, "checkpoint");
                // Busy or disk full: the log keeps everything, and a later commit requests another.
                tracing::debug!(%error, "checkpoint postponed");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::outstanding;

    #[test]
    fn moved_pages_are_not_outstanding() {
        assert_eq!(outstanding(1500, 0), 1500);
        assert_eq!(outstanding(1500, 1400), 100);
        assert_eq!(outstanding(3, 1400), 3);
    }
}
