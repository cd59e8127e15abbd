//! Moves committed pages from the log into the database file, beside the writer so that no commit waits for it.

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

/// Log pages (of 4 KiB) not yet moved from which a checkpoint is worth its syncs.
const WORTHWHILE: c_int = 1000;
/// Log pages in all from which writers are made to wait a moment, so that the log can begin anew: while commits
/// follow each other closely it never does by itself.
const OVERDUE: c_int = 16_000;
/// Log pages left to move that may be moved while they wait, and how often it is tried to come so far beforehand.
const FEW: c_int = 200;
const TRIES: usize = 4;
/// How long beginning anew may hold them up; a reader that is in the way for longer is waited for next time.
const OVERDUE_PATIENCE: Duration = Duration::from_millis(10);

/// Starts the thread. It ends, after a last checkpoint, when the writer's connection is gone, and gives up the
/// ownership of the file with that.
pub(crate) fn start(
    path: &Path,
    ownership: Option<Ownership>,
    writer: &mut Connection,
    counters: Arc<Counters>,
) -> Result<JoinHandle<()>, Box<dyn std::error::Error + Send + Sync>> {
    let moved = Arc::new(AtomicI32::new(0));
    let checkpointer = Checkpointer { connection: open_writer(path)?, moved: Arc::clone(&moved), counters };
    // Room for one: while a checkpoint is due there is nothing to add.
    let (due, dues) = sync_channel(1);
    writer.wal_hook(Some(move |_wal: &mut Wal, pages: c_int| {
        if outstanding(pages, moved.load(Ordering::Relaxed)) >= WORTHWHILE {
            let _ = due.try_send(pages);
        }
        Ok(())
    }))?;
    let work = move || checkpointer.run(ownership.as_ref(), &dues);
    Ok(std::thread::Builder::new().name("sqlite-checkpoint".into()).spawn(work)?)
}

/// How many pages of the log wait to be moved. A log shorter than what was moved has begun anew.
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
    fn run(&self, owned: Option<&Ownership>, dues: &Receiver<c_int>) {
        while let Ok(pages) = dues.recv() {
            self.checkpoint(CheckpointMode::PASSIVE, Duration::ZERO);
            if pages >= OVERDUE {
                self.begin_anew();
            }
        }
        if owned.is_some() {
            self.checkpoint(CheckpointMode::TRUNCATE, BUSY_TIMEOUT);
        } else {
            // A server may be running, and emptying the log would hold it up.
            self.checkpoint(CheckpointMode::PASSIVE, Duration::ZERO);
        }
    }

    /// Makes the log begin anew. What came in during the checkpoint before is moved first, and what came in during
    /// that: the rest is moved while writers wait.
    fn begin_anew(&self) {
        for _ in 0..TRIES {
            if self.checkpoint(CheckpointMode::PASSIVE, Duration::ZERO).is_some_and(|left| left <= FEW) {
                break;
            }
        }
        self.checkpoint(CheckpointMode::RESTART, OVERDUE_PATIENCE);
    }

    /// Moves what it can, and says how many pages were left when it began to.
    fn checkpoint(&self, mode: CheckpointMode, patience: Duration) -> Option<c_int> {
        let before = self.moved.load(Ordering::Relaxed);
        let outcome = self
            .connection
            .busy_timeout(patience)
            .and_then(|()| self.connection.wal_checkpoint_v2(None::<&str>, mode));
        match outcome {
            Ok((pages, moved)) => {
                self.moved.store(moved, Ordering::Relaxed);
                self.counters.checkpoints.add(1);
                Some(outstanding(pages, before))
            }
            Err(error) => {
                abort_if_fatal(&error, "checkpoint");
                // Busy or full: the log keeps everything and the next commit asks again.
                tracing::debug!(%error, "checkpoint put off");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::outstanding;

    #[test]
    fn what_was_moved_does_not_count() {
        assert_eq!(outstanding(1500, 0), 1500);
        assert_eq!(outstanding(1500, 1400), 100);
        assert_eq!(outstanding(3, 1400), 3);
    }
}
