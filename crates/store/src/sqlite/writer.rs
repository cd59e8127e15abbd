//! The one thread that writes. Jobs that wait while a commit runs share the next one.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;
use perigee_core::time::Clock;
use tokio::sync::oneshot;

use super::error::{abort_if_fatal, from_sqlite};
use super::locations::Live;
use super::session::Session;
use crate::error::DbError;
use crate::job::run_now;
use crate::stats::Counters;
use crate::tx::{Afterwards, Tx};

/// Jobs of one commit at most, so that the first of them is not kept waiting for the last.
const GROUP_LIMIT: usize = 1000;
/// From how many jobs in the last group on it pays to wait for those who are about to come back.
const MANY: usize = 8;
/// How long after the last commit to wait for them.
const COMPANY: Duration = Duration::from_millis(1);

/// The way to the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: RwLock<Option<SyncSender<Box<dyn Job>>>>,
    counters: Arc<Counters>,
}

impl Writer {
    /// Starts the thread on this connection. It ends, and lets go of the connection, after [`Self::close`].
    pub(crate) fn start(
        session: Session,
        limit: usize,
        clock: Arc<dyn Clock>,
        live: Arc<Live>,
        counters: Arc<Counters>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (queue, jobs) = sync_channel(limit);
        let thread = Thread {
            session,
            clock,
            live,
            counters: Arc::clone(&counters),
            data_version: None,
            last_size: 0,
            last_end: Instant::now(),
        };
        let handle =
            std::thread::Builder::new().name("sqlite-writer".into()).spawn(move || thread.run(&jobs))?;
        Ok((Self { queue: RwLock::new(Some(queue)), counters }, handle))
    }

    /// Runs the job in the next group and answers once that is committed.
    pub(crate) async fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        self.submit(Box::new(WaitingJob { job: Some(job), result: None, reply }))?;
        answer.await.unwrap_or_else(|_gone| Err(unavailable("the writer has stopped")))
    }

    fn submit(&self, job: Box<dyn Job>) -> Result<(), StoreError> {
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

    /// Takes no more jobs; those accepted are still done.
    pub(crate) fn close(&self) {
        self.queue.write().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn unavailable(reason: &'static str) -> StoreError {
    StoreError::Unavailable(reason.into())
}

/// A job whatever its result: run inside the transaction, answered after it.
trait Job: Send {
    /// Runs it and says whether its changes are to be kept.
    fn run(&mut self, tx: &Tx) -> bool;

    /// Answers whoever waits: with its own result, or with this error when the group was not committed.
    fn answer(self: Box<Self>, lost: Option<StoreError>);
}

struct WaitingJob<T, F> {
    job: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for WaitingJob<T, F>
where
    T: Send,
    F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send,
{
    fn run(&mut self, tx: &Tx) -> bool {
        self.result = self.job.take().map(|job| run_now(job, tx));
        matches!(self.result, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, lost: Option<StoreError>) {
        let result = match lost {
            Some(error) => Err(error),
            None => self.result.unwrap_or_else(|| Err(unavailable("the job did not run"))),
        };
        // Whoever asked may have gone; what was done stays done.
        let _ = self.reply.send(result);
    }
}

struct Thread {
    session: Session,
    clock: Arc<dyn Clock>,
    live: Arc<Live>,
    counters: Arc<Counters>,
    /// Changes when another process writes.
    data_version: Option<i64>,
    last_size: usize,
    last_end: Instant,
}

impl Thread {
    fn run(mut self, queue: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = queue.recv() {
            let mut group = vec![first];
            self.gather(&mut group, queue);
            self.last_size = group.len();
            self.finish(group);
            self.last_end = Instant::now();
        }
    }

    /// Adds whoever waits already. Right after a large group its writers are about to come back with their next
    /// job, so it waits a moment for them; a lone writer never sees that.
    fn gather(&self, group: &mut Vec<Box<dyn Job>>, queue: &Receiver<Box<dyn Job>>) {
        group.extend(queue.try_iter().take(GROUP_LIMIT - group.len()));
        let expected = self.last_size / 2;
        let patience = COMPANY.saturating_sub(self.last_end.elapsed());
        if self.last_size < MANY || group.len() >= expected || patience.is_zero() {
            return;
        }
        self.counters.waits.add(1);
        let deadline = Instant::now() + patience;
        while group.len() < expected {
            match queue.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(job) => group.push(job),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    fn finish(&mut self, mut group: Vec<Box<dyn Job>>) {
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

    /// Runs every job of the group in one transaction, and says how many of them it kept.
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> rusqlite::Result<usize> {
        let mut afterwards = Vec::new();
        let mut leaves_facts = true;
        let outcome = self.session.control("BEGIN IMMEDIATE").and_then(|()| {
            self.notice_others()?;
            let kept = self.run_jobs(group, &mut afterwards, &mut leaves_facts)?;
            self.session
                .control(if kept > 0 { "COMMIT" } else { "ROLLBACK" })
                .inspect_err(|error| abort_if_fatal(error, "commit"))?;
            Ok(kept)
        });
        // Once more: a reader may have remembered what was true until this commit.
        if !leaves_facts || outcome.is_err() {
            self.live.facts_mut().forget();
        }
        if outcome.is_ok() {
            for work in afterwards {
                work();
            }
        }
        if self.live.present().is_crowded() {
            self.live.present_mut().make_room();
        }
        if outcome.is_err() && self.session.in_transaction() {
            // Nothing more can be done here if even that fails; the next BEGIN will, and say so.
            let _ = self.session.control("ROLLBACK");
        }
        outcome
    }

    /// Forgets what may have been changed by a command beside this server.
    fn notice_others(&mut self) -> rusqlite::Result<()> {
        let version = self
            .session
            .connection()
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get::<_, i64>(0))?;
        if self.data_version.replace(version).is_some_and(|before| before != version) {
            self.live.facts_mut().forget();
        }
        Ok(())
    }

    fn run_jobs(
        &self,
        group: &mut [Box<dyn Job>],
        afterwards: &mut Vec<Afterwards>,
        leaves_facts: &mut bool,
    ) -> rusqlite::Result<usize> {
        let mut kept = 0;
        for job in group {
            self.session.control("SAVEPOINT job")?;
            let tx = Tx::sqlite(self.session.clone(), self.clock.now(), Arc::clone(&self.live));
            let keep = job.run(&tx);
            if !tx.leaves_facts() || !keep {
                *leaves_facts = false;
                self.live.facts_mut().forget();
            }
            // A full disk and its like make SQLite undo the whole transaction, neighbours included.
            if !self.session.in_transaction() {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL),
                    Some("SQLite rolled the transaction back".into()),
                ));
            }
            if keep {
                afterwards.append(&mut tx.take_afterwards());
                kept += 1;
            } else {
                self.session.control("ROLLBACK TO job")?;
            }
            self.session.control("RELEASE job")?;
        }
        Ok(kept)
    }
}
