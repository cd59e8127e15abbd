//! Connections: made, checked before their first use, and shared.

use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Manager, Metrics, RecycleError, RecycleResult};
use tokio::runtime::Handle;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::check::{check, set_limits};
use super::connection::Connection;
use super::tls;
use crate::error::{DbError, OpenError, describe};
use crate::url::PostgresAddress;

/// How long a job waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one attempt to reach the server may take when the store is opened.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Connections that are shared.
pub(crate) type Pool = managed::Pool<Connections>;
/// A connection in use; it goes back to the pool when it is dropped.
pub(crate) type Object = managed::Object<Connections>;

/// A pool of this many connections. Each is checked when it is made, since a server can be replaced by another or
/// its settings changed while we run.
pub(crate) fn build(
    address: &PostgresAddress,
    connections: usize,
    allowed: Vec<String>,
) -> Result<Pool, OpenError> {
    let manager = Connections {
        name: address.to_string(),
        config: address.config.clone(),
        tls: tls::connector(address)?,
        allowed,
        runtime: Handle::current(),
    };
    Pool::builder(manager)
        .max_size(connections.max(1))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .build()
        .map_err(OpenError::other)
}

/// Makes connections where the store was opened, whoever needs one first: what is read from them waits for nobody's
/// request there.
pub(crate) struct Connections {
    name: String,
    config: Config,
    tls: MakeRustlsConnect,
    /// Values of `synchronous_commit` that the operator allows although they can lose data.
    allowed: Vec<String>,
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
        check(&connection, &self.allowed).await?;
        set_limits(&connection).await.map_err(|error| OpenError::other(describe(&error)))?;
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
    let Ok(made) = tokio::time::timeout(CONNECT_LIMIT, connecting).await else {
        return Err(OpenError::no_answer(&name, CONNECT_LIMIT));
    };
    let (client, connection) = made.map_err(|error| OpenError::connect(&name, &error))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(error = describe(&error), "connection lost");
        }
    });
    Ok(client)
}

/// Why there is no connection; it may come back.
pub(crate) fn no_connection(error: &managed::PoolError<OpenError>) -> DbError {
    DbError::unavailable(describe(error))
}
