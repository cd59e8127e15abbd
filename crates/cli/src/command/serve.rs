//! `perigee serve`: runs the service.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use perigee_core::time::SystemClock;
use perigee_server::run::{FirstOwner, Service};
use secrecy::ExposeSecret;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use super::reload;
use crate::args::{Common, Serve};
use crate::output::{Answer, print, print_text};
use crate::{logging, settings};

/// File for the first owner's password if standard output is not a terminal.
const OWNER_FILE: &str = "first-owner.txt";

/// Runs the service until it is stopped.
pub(crate) async fn serve(common: &Common, options: Serve) -> Result<ExitCode> {
    let load = || {
        let listen = options.listen.map(|address| ("server", "listen", address.to_string()));
        let base_url = options.base_url.clone().map(|url| ("server", "base_url", url));
        settings::load(common, listen.into_iter().chain(base_url).collect())
    };
    let config = load()?;
    let level = logging::start(&config.log)?;
    #[cfg(feature = "unsafe-early-ack")]
    if std::env::var_os("PERIGEE_UNSAFE_EARLY_ACK").is_some() {
        tracing::error!("PERIGEE_UNSAFE_EARLY_ACK: locations are acknowledged before they are stored");
        perigee_store::acknowledge_before_commit();
    }
    #[cfg(feature = "unsafe-late-alerts")]
    if std::env::var_os("PERIGEE_UNSAFE_LATE_ALERTS").is_some() {
        tracing::error!("PERIGEE_UNSAFE_LATE_ALERTS: alerts are stored after the messages they came in");
        perigee_store::store_alerts_late();
    }
    #[cfg(feature = "unsafe-late-limit")]
    if std::env::var_os("PERIGEE_UNSAFE_LATE_LIMIT").is_some() {
        tracing::error!("PERIGEE_UNSAFE_LATE_LIMIT: messages are counted after they were sent");
        perigee_store::count_after_sending();
    }
    #[cfg(feature = "unsafe-early-timelines")]
    if std::env::var_os("PERIGEE_UNSAFE_EARLY_TIMELINES").is_some() {
        tracing::error!(
            "PERIGEE_UNSAFE_EARLY_TIMELINES: devices are marked as derived before their segments are stored"
        );
        perigee_store::mark_derived_early();
    }
    #[cfg(feature = "unsafe-resend")]
    if std::env::var_os("PERIGEE_UNSAFE_RESEND").is_some() {
        tracing::error!("PERIGEE_UNSAFE_RESEND: messages are handed over again that a provider may have");
        perigee_store::resend_interrupted();
    }
    #[cfg(feature = "bench")]
    if std::env::var_os("PERIGEE_BENCH_NO_TIMELINES").is_some() {
        tracing::error!("PERIGEE_BENCH_NO_TIMELINES: timelines are not derived");
        perigee_server::background::TimelineEngine::switch_off();
    }
    // Registered before the start, so that an early signal is not missed.
    let (asked, closed, hangup) = (stop_signal()?, reload::terminal_closed()?, reload::listen()?);
    let mut stop = Box::pin(async {
        tokio::select! {
            () = asked => {}
            () = closed => {}
        }
    });
    let data = config.store.data.clone();

    let service = tokio::select! {
        service = Service::open(config, Arc::new(SystemClock)) => service?,
        // The start may be waiting for the database.
        () = &mut stop => return Ok(ExitCode::SUCCESS),
    };
    let owner_file = match service.first_owner().await? {
        Some(owner) => hand_over(&service, &owner, &data, common.json)?,
        None => None,
    };
    let scheme = if service.is_encrypted() { "https" } else { "http" };
    let started = Started {
        listening: format!("{scheme}://{}", service.address()),
        base_url: service.base_url().to_string(),
        owner_file,
    };
    print(&started, common.json)?;
    tracing::info!(address = %service.address(), base_url = started.base_url, version = env!("CARGO_PKG_VERSION"), "serving");

    let tls = service.tls();
    let report = tokio::select! {
        report = service.run(stop) => report,
        never = reload::on_hangup(hangup, load, &level, tls) => match never {},
    };
    tracing::info!(connections = report.accepted, cut = report.cut, "stopped");
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    listening: String,
    base_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_file: Option<PathBuf>,
}

impl Answer for Started {
    fn in_words(&self) -> String {
        let mut lines = Vec::new();
        if let Some(path) = &self.owner_file {
            lines.push(format!("the first owner's password is in {}", path.display()));
        }
        let known_as =
            if self.base_url == self.listening { String::new() } else { format!(" as {}", self.base_url) };
        lines.push(format!("listening on {}{known_as}", self.listening));
        lines.join("\n")
    }
}

/// Shows the first owner's password: on a terminal at once, otherwise in a file that only its owner can read. It is
/// never logged.
fn hand_over(service: &Service, owner: &FirstOwner, data: &Path, json: bool) -> Result<Option<PathBuf>> {
    let text = welcome(service, owner);
    if io::stdout().is_terminal() && !json {
        print_text(&text)?;
        print_text("")?;
        return Ok(None);
    }
    let path = data.join(OWNER_FILE);
    write_private(&path, &text).with_context(|| {
        format!(
            "the first owner was created, but its password cannot be written to {}; run perigee user reset-password --email {}",
            path.display(),
            owner.email.as_str()
        )
    })?;
    Ok(Some(path))
}

fn welcome(service: &Service, owner: &FirstOwner) -> String {
    let (address, email) = (service.base_url(), owner.email.as_str());
    format!(
        "Perigee created its first account.

  address   {address}
  e-mail    {email}
  password  {password}

The password is shown only now. If it is lost: perigee user reset-password --email {email}
Next: open {address} in a browser and sign in.
For programs: perigee key issue --email {email} gives an API key for {address}/api/Auth/Token,
and {address}/api/docs shows every call. Use the same --config, --data and --database as here.
",
        password = owner.password.expose_secret()
    )
}

/// Writes a new file that only its owner can read.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;

    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Resolves on SIGINT or SIGTERM.
pub(super) fn stop_signal() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping: accepted work is finished, new connections are refused");
    })
}
