//! The listener that serves only `/metrics`, so that no proxy in front of the main one can forward requests for it.

use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::app::App;
use crate::http::router::metrics_router;
use crate::serve::{Listener, OpenConnections, ServeConfig, ShutdownReport, TrustedProxies, serve};

/// Maximum number of connections of scrapers at the same time; more are refused.
const CONNECTIONS_MAX: usize = 64;

/// The listener of `/metrics`, if one is configured. Dropping it stops it.
pub(crate) struct MetricsServer {
    stop: DropGuard,
    task: Option<JoinHandle<ShutdownReport>>,
}

impl MetricsServer {
    /// Starts the listener, if there is one.
    pub(crate) fn start(listener: Option<Listener>, app: &App, limits: &ServeConfig) -> Self {
        let stop = CancellationToken::new();
        let task = listener.map(|listener| {
            tracing::info!(address = %listener.local_addr(), "answering /metrics");
            let limits = ServeConfig {
                max_connections: CONNECTIONS_MAX,
                trusted_proxies: TrustedProxies::default(),
                open_connections: OpenConnections::default(),
                ..limits.clone()
            };
            let stop = stop.clone();
            let routes = metrics_router(app.clone());
            tokio::spawn(serve(listener, None, routes, limits, async move { stop.cancelled().await }))
        });
        Self { stop: stop.drop_guard(), task }
    }

    /// Stops and waits until running requests are answered.
    pub(crate) async fn end(self) {
        drop(self.stop);
        if let Some(task) = self.task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the listener of /metrics failed");
        }
    }
}
