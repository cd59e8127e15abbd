//! Runs a job on a transaction, with the same rules for its outcome on both engines.
//!
//! Each of hundreds of callers has a closure type of its own. The types are erased at once, so that queues, pools,
//! time-outs and commits are compiled for one type of job.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;

use crate::error::DbError;
use crate::postgres::Session;
use crate::tx::Tx;

/// The result of a job with its type erased; [`typed`] restores it.
pub(crate) type JobResult = Box<dyn Any + Send>;

/// The future of a job.
type Running<'t, T> = BoxFuture<'t, Result<T, StoreError>>;

/// Starts a job on a transaction.
type Start = dyn for<'t> FnOnce(&'t Tx) -> Running<'t, JobResult> + Send;

/// The answers of the opening statements, with their types erased.
pub(crate) type Opened = Box<dyn Any + Send>;

/// Statements that are sent to PostgreSQL together with the start of the transaction, before the job runs.
#[async_trait]
pub(crate) trait Opening: Send + Sync {
    /// Prepares all statements of the job, so that [`Self::run`] can send its statements when it is first polled.
    async fn prepare(&self, session: &Session) -> Result<(), DbError>;

    /// Runs the statements. The job gets the result from [`Tx::take_opened`].
    async fn run(&self, session: &Session) -> Result<Opened, DbError>;
}

/// A job with its type erased.
pub(crate) struct Job {
    start: Box<Start>,
    opening: Option<Box<dyn Opening>>,
}

impl Job {
    pub(crate) fn new<T, F>(job: F) -> Self
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> Running<'t, T> + Send + 'static,
    {
        Self { start: Box::new(move |tx| erased(job(tx))), opening: None }
    }

    /// The job with statements that run before it on PostgreSQL.
    pub(crate) fn after(self, opening: Option<Box<dyn Opening>>) -> Self {
        Self { opening, ..self }
    }

    pub(crate) fn take_opening(&mut self) -> Option<Box<dyn Opening>> {
        self.opening.take()
    }

    /// Runs the job on a tokio task.
    pub(crate) async fn run(self, tx: &Tx) -> Result<JobResult, StoreError> {
        let outcome = AssertUnwindSafe(async move { (self.start)(tx).await }).catch_unwind().await;
        check_outcome(outcome, tx)
    }

    /// Runs the job to the end on this thread. Every SQLite statement is ready at once, so one poll is enough.
    pub(crate) fn run_now(self, tx: &Tx) -> Result<JobResult, StoreError> {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            (self.start)(tx).now_or_never().unwrap_or_else(|| {
                Err(StoreError::Internal("the job waited for something other than its transaction".into()))
            })
        }));
        check_outcome(outcome, tx)
    }
}

fn erased<T: Send + 'static>(running: Running<'_, T>) -> Running<'_, JobResult> {
    Box::pin(async move { running.await.map(|result| Box::new(result) as JobResult) })
}

/// Restores the type of a job's result.
pub(crate) fn typed<T: 'static>(running: Running<'_, JobResult>) -> Running<'_, T> {
    Box::pin(async move { downcast(running.await?) })
}

/// Runs a job to the end on this thread.
pub(crate) fn run_now<T, F>(job: F, tx: &Tx) -> Result<T, StoreError>
where
    T: Send + 'static,
    F: for<'t> FnOnce(&'t Tx) -> Running<'t, T> + Send + 'static,
{
    downcast(Job::new(job).run_now(tx)?)
}

fn downcast<T: 'static>(result: JobResult) -> Result<T, StoreError> {
    let result = result
        .downcast()
        .map_err(|_other| StoreError::Internal("the job has a result of another type".into()))?;
    Ok(*result)
}

/// Fails a job that reports success after a failed statement: PostgreSQL would silently answer its COMMIT with a
/// ROLLBACK.
fn check_outcome(
    outcome: Result<Result<JobResult, StoreError>, Box<dyn Any + Send>>,
    tx: &Tx,
) -> Result<JobResult, StoreError> {
    match outcome {
        Ok(Ok(_)) if tx.has_failed() => {
            Err(StoreError::Internal("the job reported success after a statement had failed".into()))
        }
        Ok(result) => result,
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(ToString::to_string)
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            Err(StoreError::Internal(format!("the job panicked: {text}").into()))
        }
    }
}
