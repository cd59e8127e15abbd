//! Connections: made, checked before their first use, and shared.

use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use tokio_postgres::Client;

use super::check::{check, set_limits};
use super::tls;
use crate::error::{DbError, OpenError, describe};
use crate::url::PostgresPlace;

/// How long a job waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// A pool of this many connections. Each is checked when it is made, since a server can be replaced by another or
/// its settings changed while we run.
pub(crate) fn build(place: &PostgresPlace, connections: usize) -> Result<Pool, OpenError> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(place.config.clone(), tls::connector(place)?, recycling);
    Pool::builder(manager)
        .max_size(connections.max(1))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .post_create(Hook::async_fn(|client, _metrics| {
            Box::pin(async move {
                check(client).await.map_err(|refused| HookError::message(refused.to_string()))?;
                set_limits(client).await.map_err(HookError::Backend)
            })
        }))
        .build()
        .map_err(OpenError::other)
}

/// A connection outside of any pool, unchecked.
pub(crate) async fn connect(place: &PostgresPlace) -> Result<Client, OpenError> {
    let failure = |error: tokio_postgres::Error| OpenError::Connect {
        url: place.to_string(),
        source: describe(&error).into(),
    };
    let (client, connection) = place.config.connect(tls::connector(place)?).await.map_err(failure)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(error = describe(&error), "connection lost");
        }
    });
    Ok(client)
}

/// Why there is no connection; it may come back.
pub(crate) fn no_connection(error: &PoolError) -> DbError {
    DbError::unavailable(describe(error))
}
