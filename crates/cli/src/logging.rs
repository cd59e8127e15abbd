//! The log: to standard error, for people or for machines.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use perigee_server::config::{Log, LogFormat};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, Registry, fmt, reload};

/// Changes the level of a running log.
pub(crate) struct Level(reload::Handle<EnvFilter, Registry>);

impl Level {
    /// Applies the level of these settings. The format does not change.
    pub(crate) fn set(&self, log: &Log) -> Result<()> {
        self.0.reload(filter(log)?).context("cannot set the log level")
    }
}

fn filter(log: &Log) -> Result<EnvFilter> {
    EnvFilter::try_new(&log.level).with_context(|| {
        format!("log.level: \"{}\" is no filter such as info or info,perigee_store=debug", log.level)
    })
}

/// Starts the log of the service.
pub(crate) fn start(log: &Log) -> Result<Level> {
    let (filter, handle) = reload::Layer::new(filter(log)?);
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = match log.format {
        LogFormat::Text => lines.with_target(false).with_ansi(io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines).init();
    Ok(Level(handle))
}

/// Starts the log of a command, which shows only errors and warnings.
pub(crate) fn start_quiet() {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("warn"))
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .init();
}
