//! A unit of work on a transaction, and how its outcome is judged alike on both engines.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;

use crate::tx::Tx;

/// Runs on tokio, on its own task's time.
pub(crate) async fn run<T, F>(job: F, tx: &Tx) -> Result<T, StoreError>
where
    F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>>,
{
    let outcome = AssertUnwindSafe(async move { job(tx).await }).catch_unwind().await;
    judge(outcome, tx)
}

/// Runs to the end on this thread. Every statement on SQLite is ready at once, so one poll is enough.
pub(crate) fn run_now<T, F>(job: F, tx: &Tx) -> Result<T, StoreError>
where
    F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>>,
{
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        job(tx).now_or_never().unwrap_or_else(|| {
            Err(StoreError::Internal("the job waited for something other than its transaction".into()))
        })
    }));
    judge(outcome, tx)
}

/// A job that goes on after a failed statement would be lost silently: PostgreSQL answers its COMMIT with a ROLLBACK.
fn judge<T>(outcome: Result<Result<T, StoreError>, Box<dyn Any + Send>>, tx: &Tx) -> Result<T, StoreError> {
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
