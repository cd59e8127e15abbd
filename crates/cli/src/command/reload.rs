//! SIGHUP: reloads the certificate and the log level while the service runs, or ends it with its terminal.

use std::convert::Infallible;
use std::io::{self, IsTerminal as _};

use anyhow::{Context, Result};
use perigee_server::config::Config;
use perigee_server::serve::Tls;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::logging::Level;

/// Registers a handler for SIGHUP, which would otherwise end the process.
pub(super) fn listen() -> Result<Signal> {
    signal(SignalKind::hangup()).context("cannot listen for SIGHUP")
}

/// Resolves when the terminal on which the service was started is closed; never if there is none. Without its terminal
/// the service could not be stopped with Ctrl-C any more.
pub(super) fn terminal_closed() -> Result<impl Future<Output = ()>> {
    let mut hangup = listen()?;
    let has_terminal = io::stdout().is_terminal();
    Ok(async move {
        if !has_terminal || hangup.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        tracing::info!("stopping: the terminal was closed");
    })
}

/// Reloads on every SIGHUP. A value that cannot be used is logged, and the old one stays.
pub(super) async fn on_hangup(
    mut hangup: Signal,
    settings: impl Fn() -> Result<Config>,
    level: &Level,
    tls: Option<Tls>,
) -> Infallible {
    loop {
        if hangup.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        match settings().and_then(|config| level.set(&config.log)) {
            Ok(()) => {
                tracing::info!("settings reloaded: log.level; every other setting needs a restart");
            }
            Err(error) => tracing::error!("settings were not reloaded: {error:#}"),
        }
        match tls.as_ref().map(Tls::reload) {
            None => {}
            Some(Ok(true)) => tracing::info!("certificate reloaded"),
            Some(Ok(false)) => tracing::info!("the certificate has not changed"),
            Some(Err(error)) => {
                let error = &error as &(dyn std::error::Error + 'static);
                tracing::error!(error, "changed certificate files cannot be used, keeping the old ones");
            }
        }
    }
}
