//! The target of a verification: an open database, or a SQLite file that no other process uses.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;
use perigee_core::store::Result;
use perigee_core::time::{Clock, SystemClock};

use crate::database::{Database, Engine};
use crate::job::run_now;
use crate::sqlite::{LocationMemory, Session, open_reader};
use crate::tx::{Tx, TxContext};

pub(super) enum Source<'d> {
    Database(&'d Database),
    File { session: Session, context: TxContext, clock: SystemClock },
}

impl Source<'_> {
    /// A file, such as a new backup.
    pub(super) fn file(path: &Path) -> rusqlite::Result<Self> {
        let (session, clock) = (Session::new(open_reader(path)?), SystemClock);
        Ok(Self::File { session, context: Arc::new(LocationMemory::new(Arc::new(clock))).context(), clock })
    }

    pub(super) fn engine(&self) -> Engine {
        match self {
            Self::Database(database) => database.engine(),
            Self::File { .. } => Engine::Sqlite,
        }
    }

    pub(super) async fn read<T, F>(&self, job: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T>> + Send + 'static,
    {
        match self {
            Self::Database(database) => database.read(job).await,
            Self::File { session, context, clock } => {
                run_now(job, &Tx::sqlite(session.clone(), clock.now(), context.clone()))
            }
        }
    }

    /// Whether an error means that the store is damaged, rather than temporarily unavailable.
    pub(super) fn is_damage(&self, error: &StoreError) -> bool {
        self.engine() == Engine::Sqlite || !matches!(error, StoreError::Unavailable(_))
    }
}
