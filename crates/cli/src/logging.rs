//! The log: to standard error, for people or for machines.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use perigee_server::config::{Log, LogFormat};
use tracing_subscriber::EnvFilter;

/// Starts the log of the service.
pub(crate) fn start(log: &Log) -> Result<()> {
    let filter = EnvFilter::try_new(&log.level).with_context(|| {
        format!("log.level: \"{}\" is no filter such as info or info,perigee_store=debug", log.level)
    })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match log.format {
        LogFormat::Text => lines.with_target(false).with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).init(),
    }
    Ok(())
}

/// Starts the log of a command, which says only what went wrong.
pub(crate) fn start_quiet() {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("warn"))
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .init();
}
