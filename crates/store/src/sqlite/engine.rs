//! An open SQLite database: its ownership lock, its writer, readers and threads.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use futures_util::FutureExt as _;
use perigee_core::error::StoreError;
use perigee_core::time::Clock;

use super::connection::{open_reader, open_writer};
use super::file::{Against, Ownership, prepare};
use super::locations::{LocationMemory, quarantine_rows, replay};
use super::reader::Readers;
use super::session::Session;
use super::writer::Writer;
use super::{checkpoint, migrate};
use crate::database::{OpenOptions, Role};
use crate::error::OpenError;
use crate::job::{Job, JobResult, run_now};
use crate::migration::{Migration, SQLITE};
use crate::stats::{Counters, Stats};
use crate::tx::{Tx, TxContext};

/// An open SQLite database.
#[derive(Debug)]
pub(crate) struct Sqlite {
    writer: Writer,
    readers: Readers,
    counters: Arc<Counters>,
    #[cfg(all(test, feature = "testing"))]
    memory: Arc<LocationMemory>,
    context: TxContext,
    /// In the order in which they are joined at close.
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Sqlite {
    /// Opens or makes the file. Blocks.
    pub(crate) fn open(path: &Path, options: &OpenOptions, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let path = prepare(path)?;
        let ownership = migrate_as(options.role, &path, &*clock)?;
        let counters = Arc::<Counters>::default();
        let mut connection = open_writer(&path).map_err(OpenError::other)?;
        let checkpointer = checkpoint::start(&path, ownership, &mut connection, Arc::clone(&counters))
            .map_err(OpenError::other)?;
        let session = Session::writer(connection).map_err(OpenError::other)?;
        let memory = Arc::new(LocationMemory::new(Arc::clone(&clock)));
        let context = memory.context();
        if options.role == Role::Serve {
            let tx = Tx::sqlite(session.clone(), clock.now(), context.clone());
            let replayed = Arc::clone(&memory);
            let damaged = run_now(move |tx| async move { replay(tx, &replayed).await }.boxed(), &tx)
                .map_err(OpenError::other)?;
            if !damaged.is_empty() {
                session.control("BEGIN IMMEDIATE").map_err(OpenError::other)?;
                run_now(|tx| quarantine_rows(tx, damaged).boxed(), &tx).map_err(OpenError::other)?;
                session.control("COMMIT").map_err(OpenError::other)?;
            }
        }
        let (writer, thread) = Writer::start(
            session,
            options.queue,
            Arc::clone(&clock),
            Arc::clone(&memory),
            Arc::clone(&counters),
        )
        .map_err(OpenError::other)?;
        let (readers, low_priority) =
            Readers::start(path, options.readers, clock, context.clone()).map_err(OpenError::other)?;
        Ok(Self {
            writer,
            readers,
            counters,
            #[cfg(all(test, feature = "testing"))]
            memory,
            context,
            threads: Arc::new(Mutex::new(vec![low_priority, thread, checkpointer])),
        })
    }

    /// The migrations that opening would apply. Blocks.
    pub(crate) fn pending_migrations(path: &Path) -> Result<Vec<Migration>, OpenError> {
        if !path.exists() {
            return Ok(SQLITE.to_vec());
        }
        let connection = open_reader(path).map_err(OpenError::other)?;
        Ok(migrate::pending(&connection)?.to_vec())
    }

    pub(crate) async fn write(&self, job: Job) -> Result<JobResult, StoreError> {
        self.writer.write(job).await
    }

    pub(crate) async fn read(&self, job: Job) -> Result<JobResult, StoreError> {
        self.readers.read(job).await
    }

    pub(crate) async fn read_low_priority(&self, job: Job) -> Result<JobResult, StoreError> {
        self.readers.read_low_priority(job).await
    }

    pub(crate) const fn context(&self) -> &TxContext {
        &self.context
    }

    #[cfg(all(test, feature = "testing"))]
    pub(crate) const fn memory(&self) -> &Arc<LocationMemory> {
        &self.memory
    }

    pub(crate) fn stats(&self) -> Stats {
        self.counters.read()
    }

    /// Finishes accepted work, joins the threads, truncates the log and releases the file.
    pub(crate) async fn close(&self) {
        self.readers.close();
        self.writer.close();
        let threads = Arc::clone(&self.threads);
        let end = tokio::task::spawn_blocking(move || {
            // Held while joining, so that a concurrent close also waits.
            let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
            for thread in threads.drain(..) {
                if thread.join().is_err() {
                    tracing::error!("a database thread panicked");
                }
            }
        });
        if let Err(error) = end.await {
            tracing::error!(%error, "the database did not close");
        }
    }
}

/// Applies pending migrations. A server owns the file from then on; a command owns it only while it migrates, which
/// must not happen under a running server.
fn migrate_as(role: Role, path: &Path, clock: &dyn Clock) -> Result<Option<Ownership>, OpenError> {
    match role {
        Role::Serve => {
            let ownership = Ownership::take(path, Against::All).map_err(|refused| refused.in_use(path))?;
            migrate::apply(path, clock)?;
            Ok(Some(ownership))
        }
        Role::Command => {
            let connection = open_reader(path).map_err(OpenError::other)?;
            if !migrate::pending(&connection)?.is_empty() {
                let _kept_meanwhile =
                    Ownership::take(path, Against::Servers).map_err(|refused| refused.blocked(path))?;
                migrate::apply(path, clock)?;
            }
            Ok(None)
        }
    }
}
