//! A pool of read-only connections. Each job runs on a blocking thread and reads one snapshot.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use perigee_core::error::StoreError;
use perigee_core::time::Clock;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

use super::connection::open_reader;
use super::error::from_sqlite;
use super::low_priority::LowPriorityThread;
use super::session::Session;
use crate::job::{Job, JobResult};
use crate::tx::{Tx, TxContext};

/// How long a read waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The readers of one file.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    path: Arc<PathBuf>,
    clock: Arc<dyn Clock>,
    context: TxContext,
    permits: Arc<Semaphore>,
    /// The runtime whose blocking threads run the reads, whichever thread calls.
    runtime: Handle,
    idle: Arc<Mutex<Vec<Session>>>,
    low_priority: LowPriorityThread,
}

impl Readers {
    /// Must be called on the runtime that lives as long as the file is open.
    pub(crate) fn start(
        path: PathBuf,
        limit: usize,
        clock: Arc<dyn Clock>,
        context: TxContext,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let permits = Arc::new(Semaphore::new(limit.max(1)));
        let runtime = Handle::current();
        let (low_priority, thread) = LowPriorityThread::start()?;
        let readers = Self {
            path: Arc::new(path),
            clock,
            context,
            permits,
            runtime,
            idle: Arc::default(),
            low_priority,
        };
        Ok((readers, thread))
    }

    pub(crate) async fn read(&self, job: Job) -> Result<JobResult, StoreError> {
        let permit = tokio::time::timeout(PERMIT_TIMEOUT, Arc::clone(&self.permits).acquire_owned())
            .await
            .map_err(|elapsed| StoreError::Unavailable(elapsed.into()))?
            .map_err(|_closed| StoreError::Unavailable("the database is closed".into()))?;
        let readers = self.clone();
        let read = self.runtime.spawn_blocking(move || {
            let result = readers.run(job);
            drop(permit);
            result
        });
        read.await.unwrap_or_else(|stopped| Err(StoreError::Unavailable(stopped.into())))
    }

    /// Runs a job on the low-priority thread.
    pub(crate) async fn read_low_priority(&self, job: Job) -> Result<JobResult, StoreError> {
        let (reply, answer) = oneshot::channel();
        let readers = self.clone();
        // The caller may have been cancelled.
        let accepted = self.low_priority.run(Box::new(move || drop(reply.send(readers.run(job)))));
        let closed = || StoreError::Unavailable("the database is closed".into());
        if accepted { answer.await.unwrap_or_else(|_dropped| Err(closed())) } else { Err(closed()) }
    }

    fn run(&self, job: Job) -> Result<JobResult, StoreError> {
        let session = self.take()?;
        session.control("BEGIN").map_err(from_sqlite)?;
        let result = job.run_now(&Tx::sqlite(session.clone(), self.clock.now(), self.context.clone()));
        // A connection that cannot end its transaction is closed; the next read opens another.
        if session.control("ROLLBACK").is_ok() && !self.permits.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
        result
    }

    fn take(&self) -> Result<Session, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(session) => Ok(session),
            None => Ok(Session::new(open_reader(&self.path).map_err(from_sqlite)?)),
        }
    }

    /// Refuses further reads and closes idle connections.
    pub(crate) fn close(&self) {
        self.permits.close();
        self.low_priority.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
