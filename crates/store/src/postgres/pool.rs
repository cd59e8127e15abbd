//! The connection pool. Each connection is checked before its first use.

use std::ops::Deref;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Manager, Metrics, RecycleError, RecycleResult};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::check::{check, set_limits};
use super::connection::Connection;
use super::tls;
use crate::error::{DbError, OpenError, describe};
use crate::url::PostgresAddress;

/// How long a job waits for a connection.
const POOL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one attempt to connect may take when the store is opened.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The shared connections of a store.
///
/// This and [`Object`] hide the types of the pool. Otherwise the compiler would prove for each job of each store method
/// that the pool, the connections and TLS can move between threads.
pub(crate) struct Pool(Box<dyn AnyPool>);

impl std::fmt::Debug for Pool {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// A connection, once one is free.
    pub(crate) async fn get(&self) -> Result<Object, DbError> {
        self.0.get().await
    }

    /// How many connections there are at most.
    pub(crate) fn max_size(&self) -> usize {
        self.0.max_size()
    }

    /// Hands out no more connections.
    pub(crate) fn close(&self) {
        self.0.close();
    }
}

/// A connection in use; it goes back to the pool when it is dropped.
pub(crate) struct Object(Box<dyn Deref<Target = Connection> + Send + Sync>);

impl std::fmt::Debug for Object {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Object").finish_non_exhaustive()
    }
}

impl Deref for Object {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

trait AnyPool: Send + Sync {
    fn get(&self) -> BoxFuture<'_, Result<Object, DbError>>;
    fn max_size(&self) -> usize;
    fn close(&self);
}

impl AnyPool for managed::Pool<Connections> {
    fn get(&self) -> BoxFuture<'_, Result<Object, DbError>> {
        Box::pin(async move {
            let connection = self.get().await.map_err(|error| no_connection(&error))?;
            Ok(Object(Box::new(connection)))
        })
    }

    fn max_size(&self) -> usize {
        self.status().max_size
    }

    fn close(&self) {
        self.close();
    }
}

/// A pool of this many connections. Each is checked when it is opened, because a server can be replaced or reconfigured
/// while we run.
pub(crate) fn build(
    address: &PostgresAddress,
    connections: usize,
    allowed: Vec<String>,
) -> Result<Pool, OpenError> {
    build_with(address, connections, Some(allowed))
}

/// Like [`build`], for a standby: it commits nothing itself, so its settings cannot lose data.
pub(crate) fn build_unchecked(address: &PostgresAddress, connections: usize) -> Result<Pool, OpenError> {
    build_with(address, connections, None)
}

fn build_with(
    address: &PostgresAddress,
    connections: usize,
    allowed: Option<Vec<String>>,
) -> Result<Pool, OpenError> {
    let manager = Connections {
        name: address.to_string(),
        config: address.config.clone(),
        tls: tls::connector(address)?,
        allowed,
        sets_limits: address.prepares,
        runtime: Handle::current(),
    };
    let pool = managed::Pool::<Connections>::builder(manager)
        .max_size(connections.max(1))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(POOL_TIMEOUT))
        .create_timeout(Some(POOL_TIMEOUT))
        .build()
        .map_err(OpenError::other)?;
    Ok(Pool(Box::new(pool)))
}

/// Opens connections on the runtime that opened the store, whichever runtime needs one: there, reading from them does
/// not queue behind requests.
pub(crate) struct Connections {
    name: String,
    config: Config,
    tls: MakeRustlsConnect,
    /// Values of `synchronous_commit` that the operator allows although they can lose data; `None` for a standby.
    allowed: Option<Vec<String>>,
    /// Whether limits are set once for the connection. Behind a pooler, each transaction sets them.
    sets_limits: bool,
    runtime: Handle,
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Connections").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Manager for Connections {
    type Type = Connection;
    type Error = OpenError;

    async fn create(&self) -> Result<Connection, OpenError> {
        let (config, tls) = (self.config.clone(), self.tls.clone());
        let made = self.runtime.spawn(async move { Connection::open(&config, tls).await });
        let made = made.await.map_err(OpenError::other)?;
        let connection = made.map_err(|error| OpenError::connect(&self.name, &error))?;
        if let Some(allowed) = &self.allowed {
            check(&connection, allowed).await?;
        }
        if self.sets_limits {
            set_limits(&connection).await.map_err(|error| OpenError::other(describe(&error)))?;
        }
        Ok(connection)
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<OpenError> {
        if connection.is_closed() { Err(RecycleError::message("the connection is closed")) } else { Ok(()) }
    }
}

/// A connection outside of any pool, unchecked.
pub(crate) async fn connect(address: &PostgresAddress) -> Result<Client, OpenError> {
    let name = address.to_string();
    let connecting = address.config.connect(tls::connector(address)?);
    let Ok(made) = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await else {
        return Err(OpenError::no_answer(&name, CONNECT_TIMEOUT));
    };
    let (client, connection) = made.map_err(|error| OpenError::connect(&name, &error))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(error = describe(&error), "connection lost");
        }
    });
    Ok(client)
}

/// The error when no connection is available.
fn no_connection(error: &managed::PoolError<OpenError>) -> DbError {
    DbError::unavailable(describe(error))
}
