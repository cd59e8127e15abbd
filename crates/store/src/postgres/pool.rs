//! Connections: made, checked before their first use, and shared.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    ConfigConnectImpl, Connect, Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod,
    Runtime,
};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config};

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
    let connect = OnRuntime {
        runtime: Handle::current(),
        connect: Arc::new(ConfigConnectImpl { tls: tls::connector(place)? }),
    };
    let manager = Manager::from_connect(place.config.clone(), connect, recycling);
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

/// Makes connections where the store was opened, whoever needs one first: what is read from them waits for nobody's
/// request there.
struct OnRuntime<C> {
    runtime: Handle,
    connect: Arc<C>,
}

type Made = Result<(Client, JoinHandle<()>), tokio_postgres::Error>;

impl<C: Connect + 'static> Connect for OnRuntime<C> {
    fn connect(&self, config: &Config) -> BoxFuture<'_, Made> {
        let (connect, config) = (Arc::clone(&self.connect), config.clone());
        let made = self.runtime.spawn(async move { connect.connect(&config).await });
        Box::pin(async move {
            match made.await {
                Ok(made) => made,
                Err(ended) => match ended.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The runtime ends, and everything with it.
                    Err(_) => std::future::pending().await,
                },
            }
        })
    }
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
