//! The writer thread. It commits jobs in groups: those that queue up while a commit runs share the next one.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;

use perigee_core::error::StoreError;
use perigee_core::store::Additions;
use perigee_core::time::Clock;
use tokio::sync::oneshot;

use super::error::{abort_if_fatal, from_sqlite};
use super::locations::LocationMemory;
use super::session::Session;
use crate::error::DbError;
use crate::job::{Job, JobResult};
use crate::stats::Counters;
use crate::tx::{AfterCommit, Tx, TxContext};

/// Jobs of one commit; bounds the time that the first of them waits for the last.
const GROUP_MAX: usize = 1000;

/// A handle to the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: RwLock<Option<SyncSender<WaitingJob>>>,
    counters: Arc<Counters>,
}

impl Writer {
    /// Starts the thread on this connection. It ends, and closes the connection, after [`Self::close`].
    pub(crate) fn start(
        session: Session,
        limit: usize,
        clock: Arc<dyn Clock>,
        memory: Arc<LocationMemory>,
        counters: Arc<Counters>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (queue, jobs) = sync_channel(limit);
        let thread = Thread {
            session,
            clock,
            context: memory.context(),
            memory,
            counters: Arc::clone(&counters),
            data_version: None,
        };
        let handle =
            std::thread::Builder::new().name("sqlite-writer".into()).spawn(move || thread.run(&jobs))?;
        Ok((Self { queue: RwLock::new(Some(queue)), counters }, handle))
    }

    /// Runs the job in the next group and returns once that is committed.
    pub(crate) async fn write(&self, job: Job) -> Result<JobResult, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.submit(WaitingJob { job: Some(job), result: None, reply })?;
        answer.await.unwrap_or_else(|_dropped| Err(unavailable("the writer has stopped")))
    }

    fn submit(&self, job: WaitingJob) -> Result<(), StoreError> {
        let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
        let queue = queue.as_ref().ok_or_else(|| unavailable("the database is closed"))?;
        queue.try_send(job).map_err(|refused| match refused {
            TrySendError::Full(_) => {
                self.counters.jobs_refused.add(1);
                unavailable("too many writes are waiting")
            }
            TrySendError::Disconnected(_) => unavailable("the writer has stopped"),
        })
    }

    /// Refuses further jobs; those accepted are still done.
    pub(crate) fn close(&self) {
        self.queue.write().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn unavailable(reason: &'static str) -> StoreError {
    StoreError::Unavailable(reason.into())
}

/// A job with its caller: run inside the transaction, answered after the commit.
struct WaitingJob {
    job: Option<Job>,
    result: Option<Result<JobResult, StoreError>>,
    reply: oneshot::Sender<Result<JobResult, StoreError>>,
}

impl WaitingJob {
    /// Runs the job, and returns whether its changes are to be committed.
    fn run(&mut self, tx: &Tx) -> bool {
        self.result = self.job.take().map(|job| job.run_now(tx));
        matches!(self.result, Some(Ok(_)))
    }

    /// Answers the caller: with the job's own result, or with this error when the group was not committed.
    fn answer(self, lost: Option<StoreError>) {
        let result = match lost {
            Some(error) => Err(error),
            None => self.result.unwrap_or_else(|| Err(unavailable("the job did not run"))),
        };
        // The caller may have been cancelled; the transaction stays committed.
        let _ = self.reply.send(result);
    }
}

struct Thread {
    session: Session,
    clock: Arc<dyn Clock>,
    memory: Arc<LocationMemory>,
    context: TxContext,
    counters: Arc<Counters>,
    /// Changes when another process writes.
    data_version: Option<i64>,
}

impl Thread {
    fn run(mut self, queue: &Receiver<WaitingJob>) {
        while let Ok(first) = queue.recv() {
            // Never waits for more: locations are gathered before they get here, and other jobs are few.
            let group = std::iter::once(first).chain(queue.try_iter()).take(GROUP_MAX).collect();
            self.finish(group);
        }
    }

    fn finish(&mut self, mut group: Vec<WaitingJob>) {
        let size = group.len();
        match self.commit(&mut group) {
            Ok(kept) => {
                self.counters.commits.add(usize::from(kept > 0));
                self.counters.jobs_committed.add(kept);
                self.counters.jobs_failed.add(size - kept);
                for job in group {
                    job.answer(None);
                }
            }
            Err(error) => {
                self.counters.jobs_failed.add(size);
                tracing::warn!(%error, jobs = size, "writes were not committed");
                let (retry, reason) = match from_sqlite(error) {
                    DbError::Unavailable(cause) => (true, cause.to_string()),
                    other => (false, crate::error::describe(&other)),
                };
                for job in group {
                    let cause = format!("the commit failed: {reason}").into();
                    job.answer(Some(if retry {
                        StoreError::Unavailable(cause)
                    } else {
                        StoreError::Internal(cause)
                    }));
                }
            }
        }
    }

    /// Runs every job of the group in one transaction, and returns how many of them were committed.
    fn commit(&mut self, group: &mut [WaitingJob]) -> rusqlite::Result<usize> {
        let (mut after_commit, mut additions) = (Vec::new(), Additions::default());
        let mut is_cache_stale = false;
        let outcome = self.session.control("BEGIN IMMEDIATE").and_then(|()| {
            self.notice_other_processes()?;
            let kept = self.run_jobs(group, (&mut after_commit, &mut additions), &mut is_cache_stale)?;
            self.session
                .control(if kept > 0 { "COMMIT" } else { "ROLLBACK" })
                .inspect_err(|error| abort_if_fatal(error, "commit"))?;
            Ok(kept)
        });
        // Invalidated again after the commit: meanwhile a reader may have cached the state from before the commit.
        if is_cache_stale || outcome.is_err() {
            self.memory.device_cache_mut().invalidate();
        }
        if outcome.is_ok() {
            for work in after_commit {
                work();
            }
            self.context.signal(additions);
        }
        if self.memory.device_states().is_over_capacity() {
            self.memory.device_states_mut().evict_saved();
        }
        if outcome.is_err() && self.session.in_transaction() {
            // If the rollback fails too, the next BEGIN fails and is reported.
            let _ = self.session.control("ROLLBACK");
        }
        outcome
    }

    /// Invalidates the device cache if another process, such as a command, has written to the file.
    fn notice_other_processes(&mut self) -> rusqlite::Result<()> {
        let version = self
            .session
            .connection()
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get::<_, i64>(0))?;
        if self.data_version.replace(version).is_some_and(|before| before != version) {
            self.memory.device_cache_mut().invalidate();
        }
        Ok(())
    }

    fn run_jobs(
        &self,
        group: &mut [WaitingJob],
        (after_commit, additions): (&mut Vec<AfterCommit>, &mut Additions),
        is_cache_stale: &mut bool,
    ) -> rusqlite::Result<usize> {
        let mut kept = 0;
        for job in group {
            self.session.control("SAVEPOINT job")?;
            let tx = Tx::sqlite(self.session.clone(), self.clock.now(), self.context.clone());
            let keep = job.run(&tx);
            if self.session.take_device_writes() || !keep {
                *is_cache_stale = true;
                self.memory.device_cache_mut().invalidate();
            }
            // Errors such as a full disk make SQLite roll back the whole transaction, including other jobs.
            if !self.session.in_transaction() {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL),
                    Some("SQLite rolled the transaction back".into()),
                ));
            }
            if keep {
                after_commit.append(&mut tx.take_after_commit());
                *additions |= tx.additions();
                kept += 1;
            } else {
                self.session.control("ROLLBACK TO job")?;
            }
            self.session.control("RELEASE job")?;
        }
        Ok(kept)
    }
}
