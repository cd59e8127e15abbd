//! A pool of connections that read, each job on a blocking thread and from one snapshot.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;
use perigee_core::time::Clock;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

use super::aside::Aside;
use super::connection::open_reader;
use super::error::from_sqlite;
use super::locations::Live;
use super::session::Session;
use crate::job::run_now;
use crate::tx::Tx;

/// How long a read waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// The readers of one file.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    path: Arc<PathBuf>,
    clock: Arc<dyn Clock>,
    live: Arc<Live>,
    turns: Arc<Semaphore>,
    /// Whose blocking threads do the reading, whichever thread asks.
    runtime: Handle,
    idle: Arc<Mutex<Vec<Session>>>,
    aside: Aside,
}

impl Readers {
    /// To be called on the runtime that lives as long as the file is open.
    pub(crate) fn start(
        path: PathBuf,
        limit: usize,
        clock: Arc<dyn Clock>,
        live: Arc<Live>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let turns = Arc::new(Semaphore::new(limit.max(1)));
        let runtime = Handle::current();
        let (aside, thread) = Aside::start()?;
        let readers = Self { path: Arc::new(path), clock, live, turns, runtime, idle: Arc::default(), aside };
        Ok((readers, thread))
    }

    pub(crate) async fn read<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let turn = tokio::time::timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned())
            .await
            .map_err(|elapsed| StoreError::Unavailable(elapsed.into()))?
            .map_err(|_closed| StoreError::Unavailable("the database is closed".into()))?;
        let readers = self.clone();
        let read = self.runtime.spawn_blocking(move || {
            let result = readers.run(job);
            drop(turn);
            result
        });
        read.await.unwrap_or_else(|stopped| Err(StoreError::Unavailable(stopped.into())))
    }

    /// Reads on the thread that lets everybody else go first.
    pub(crate) async fn read_aside<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let readers = self.clone();
        // Whoever asked may have gone.
        let accepted = self.aside.run(Box::new(move || drop(reply.send(readers.run(job)))));
        let gone = || StoreError::Unavailable("the database is closed".into());
        if accepted { answer.await.unwrap_or_else(|_gone| Err(gone())) } else { Err(gone()) }
    }

    fn run<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>>,
    {
        let session = self.take()?;
        session.control("BEGIN").map_err(from_sqlite)?;
        let result = run_now(job, &Tx::sqlite(session.clone(), self.clock.now(), Arc::clone(&self.live)));
        // A connection that cannot even end its transaction is closed; the next read opens another.
        if session.control("ROLLBACK").is_ok() && !self.turns.is_closed() {
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

    /// Takes no more reads and closes what is idle.
    pub(crate) fn close(&self) {
        self.turns.close();
        self.aside.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
