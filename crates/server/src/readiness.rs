//! Readiness: a row is written to the store and read back, at most once a second.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::error::StoreError;
use perigee_core::store::Store;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long the outcome of a probe is used.
const FRESH: Duration = Duration::from_secs(1);
/// Time limit of a probe.
const LIMIT: Duration = Duration::from_secs(2);

/// The outcome of a probe: fine, or the reason of the failure.
pub type Outcome = Result<(), Arc<str>>;

/// The last outcome, and the probe that is running.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    last: Option<(Instant, Outcome)>,
    /// A probe that exceeds its time limit continues, and no other is started meanwhile.
    running: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Readiness {
    /// The last outcome, or that of a new probe.
    pub async fn check(&self, store: &Arc<dyn Store>, runtime: &Handle) -> Outcome {
        let mut inner = self.0.lock().await;
        if let Some((at, outcome)) = &inner.last
            && at.elapsed() < FRESH
        {
            return outcome.clone();
        }
        let running = inner.running.get_or_insert_with(|| {
            let store = Arc::clone(store);
            runtime.spawn(async move { store.probe().await })
        });
        let outcome = match timeout(LIMIT, running).await {
            Err(_elapsed) => Err("the store did not write and read within 2 s".into()),
            Ok(ended) => {
                inner.running = None;
                match ended {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(error)) => Err(reason(&error).into()),
                    Err(stopped) => Err(stopped.to_string().into()),
                }
            }
        };
        inner.last = Some((Instant::now(), outcome.clone()));
        outcome
    }

    /// Discards the last outcome, so that the next check probes again.
    pub async fn reset(&self) {
        self.0.lock().await.last = None;
    }
}

fn reason(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
