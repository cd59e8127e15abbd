//! The log: to standard error, for people or for machines.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use perigee_server::config::{Log, LogFormat};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry, fmt, reload};

/// Changes the level of a running log.
pub(crate) struct Level(reload::Handle<Targets, Registry>);

impl Level {
    /// Applies the level of these settings. The format does not change.
    pub(crate) fn set(&self, log: &Log) -> Result<()> {
        self.0.reload(filter(log)?).context("cannot set the log level")
    }
}

fn filter(log: &Log) -> Result<Targets> {
    read_filter(&log.level).with_context(|| {
        format!(
            "log.level: \"{}\" is not a filter; give one such as info or info,perigee_store=debug",
            log.level
        )
    })
}

/// Reads a filter of levels and modules. The parser of `Targets` is not used, because it accepts `=` as a module
/// without a name and a missing level as `error`: a mistake would silence the log.
fn read_filter(text: &str) -> Option<Targets> {
    let mut parts = text.split(',').map(str::trim).filter(|part| !part.is_empty()).peekable();
    if parts.peek().is_none() {
        return Some(Targets::new().with_default(LevelFilter::ERROR));
    }
    parts.try_fold(Targets::new(), |filter, part| match (part.split_once('='), read_level(part)) {
        (Some((module, level)), _) => {
            is_module(module).then_some(filter.with_target(module, read_level(level)?))
        }
        (None, Some(level)) => Some(filter.with_default(level)),
        (None, None) => is_module(part).then(|| filter.with_target(part, LevelFilter::TRACE)),
    })
}

fn read_level(text: &str) -> Option<LevelFilter> {
    text.parse().ok().filter(|_| !text.is_empty())
}

fn is_module(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':'))
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
        .with_max_level(LevelFilter::WARN)
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .init();
}

#[cfg(test)]
mod tests {
    use tracing::Level as Severity;

    use super::*;

    fn read(level: &str) -> Result<Targets> {
        filter(&Log { level: level.to_owned(), format: LogFormat::Text })
    }

    #[test]
    fn a_filter_has_a_level_for_all_and_for_modules() {
        let filter = read("info, perigee_store=DEBUG,hyper").unwrap();
        assert!(filter.would_enable("perigee_store::sql", &Severity::DEBUG));
        assert!(!filter.would_enable("perigee_store", &Severity::TRACE));
        assert!(filter.would_enable("hyper", &Severity::TRACE));
        assert!(filter.would_enable("h2", &Severity::INFO) && !filter.would_enable("h2", &Severity::DEBUG));
        let only = read("perigee_store=debug").unwrap();
        assert!(!only.would_enable("hyper", &Severity::ERROR));
        let unset = read("").unwrap();
        assert!(
            unset.would_enable("hyper", &Severity::ERROR) && !unset.would_enable("hyper", &Severity::WARN)
        );
    }

    #[test]
    fn a_filter_that_would_silence_the_log_by_mistake_is_refused() {
        for level in ["=", "=info", "perigee_store=", "perigee_store=loud", "[request]=info", "info debug"] {
            let refused = read(level).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("log.level: \"{level}\" is not a filter")), "{refused}");
        }
    }
}
