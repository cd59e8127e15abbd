//! A PostgreSQL database as a whole.

use std::sync::Arc;

use deadpool_postgres::Pool;
use futures_util::future::BoxFuture;
use perigee_core::error::StoreError;
use perigee_core::time::Clock;

use super::check::check;
use super::error::unique_indexes;
use super::migrate;
use super::pool::{self, no_connection};
use super::session::{Session, Shared};
use crate::bell::Bells;
use crate::database::OpenOptions;
use crate::error::{DbError, OpenError, describe};
use crate::job;
use crate::migration::Migration;
use crate::placeholder::Translations;
use crate::stats::{Counters, Stats};
use crate::tx::Tx;
use crate::url::PostgresPlace;

const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE";
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/// An open PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
    shared: Arc<Shared>,
    counters: Counters,
}

impl Postgres {
    /// Checks the server, brings the schema up to date and opens the pool.
    pub(crate) async fn open(
        place: &PostgresPlace,
        options: &OpenOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let mut client = pool::connect(place).await?;
        check(&client).await?;
        let clock = options.use_given_clock.then_some(clock);
        migrate::apply(&mut client, clock.as_ref().map(|clock| clock.now())).await?;
        let indexes = unique_indexes(&client).await.map_err(|error| OpenError::other(describe(&error)))?;
        let shared = Shared { translations: Translations::default(), indexes, clock, bells: Arc::default() };
        Ok(Self {
            pool: pool::build(place, options.connections)?,
            shared: Arc::new(shared),
            counters: Counters::default(),
        })
    }

    /// What opening would change.
    pub(crate) async fn pending_migrations(place: &PostgresPlace) -> Result<Vec<Migration>, OpenError> {
        let client = pool::connect(place).await?;
        check(&client).await?;
        Ok(migrate::pending(&client).await?.to_vec())
    }

    pub(crate) async fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>>,
    {
        let result = self.commit(job).await;
        match result {
            Ok(_) => {
                self.counters.commits.add(1);
                self.counters.jobs_committed.add(1);
            }
            Err(_) => self.counters.jobs_failed.add(1),
        }
        result
    }

    async fn commit<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>>,
    {
        let tx = self.begin(Some(WRITE)).await?;
        let made = job::run(job, &tx).await?;
        let afterwards = tx.take_afterwards();
        if let Some(session) = tx.into_postgres() {
            session.commit().await?;
        }
        for work in afterwards {
            work();
        }
        Ok(made)
    }

    pub(crate) async fn read<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>>,
    {
        job::run(job, &self.begin(None).await?).await
    }

    /// The transaction is dropped unfinished, which nobody has to wait for.
    pub(crate) async fn read_snapshot<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: for<'t> FnOnce(&'t Tx) -> BoxFuture<'t, Result<T, StoreError>>,
    {
        job::run(job, &self.begin(Some(SNAPSHOT)).await?).await
    }

    /// After a restart of the server the pool is full of connections that do not yet know they are dead. Nothing of
    /// the job has run at this point, so each of them is passed over.
    async fn begin(&self, begin: Option<&str>) -> Result<Tx, DbError> {
        let mut spare = self.pool.status().max_size;
        loop {
            let client = self.pool.get().await.map_err(|error| no_connection(&error))?;
            match Session::begin(client, Arc::clone(&self.shared), begin).await {
                Ok((session, now)) => return Ok(Tx::postgres(session, now)),
                Err(DbError::Unavailable(_)) if spare > 0 => spare -= 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// What tells those who wait for something to send.
    pub(crate) fn bells(&self) -> &Arc<Bells> {
        &self.shared.bells
    }

    pub(crate) fn stats(&self) -> Stats {
        self.counters.read()
    }

    /// Takes no more jobs; those under way end on their own.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}
