//! Another tenant that uses the server during an attack and measures every answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use perigee_bench::http::Connection;
use serde_json::json;
use tokio::task::JoinSet;

use crate::stage::{OTHER_ADDRESS, Tenant};

/// Pause between two calls of the same kind.
const PAUSE: Duration = Duration::from_millis(20);
/// Signing in is expensive by design, so it is called less often.
const SIGN_IN_PAUSE: Duration = Duration::from_millis(400);
/// An answer that takes longer is counted as this long.
const GIVE_UP: Duration = Duration::from_mins(1);

/// Measurements of one kind of call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noticed {
    /// Every wait for an answer, in milliseconds.
    waits_ms: Vec<f64>,
    /// Answers other than a success.
    pub(crate) refused: usize,
}

impl Noticed {
    /// The longest wait in milliseconds.
    pub(crate) fn worst_ms(&self) -> f64 {
        self.waits_ms.iter().copied().fold(0.0, f64::max)
    }

    /// The 99th percentile of waits in milliseconds.
    pub(crate) fn p99_ms(&self) -> f64 {
        let mut sorted = self.waits_ms.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len().saturating_sub(1 + sorted.len() / 100)).copied().unwrap_or(0.0)
    }
}

/// The measurements of each kind of call, by its name.
pub(crate) type Report = BTreeMap<&'static str, Noticed>;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Health,
    Read,
    History,
    Submit,
    SignIn,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Health, Self::Read, Self::History, Self::Submit, Self::SignIn];

    const fn name(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::Read => "read",
            Self::History => "history",
            Self::Submit => "submit",
            Self::SignIn => "sign-in",
        }
    }

    const fn pause(self) -> Duration {
        match self {
            Self::SignIn => SIGN_IN_PAUSE,
            _ => PAUSE,
        }
    }
}

/// A tenant on a separate thread, so that the load generator does not delay measurements.
#[derive(Debug)]
pub(crate) struct Bystander {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Report>>,
}

impl Bystander {
    /// Starts using the server.
    pub(crate) fn start(tenant: Tenant, address: String) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut kinds = JoinSet::new();
                let sent = Arc::new(AtomicU64::new(0));
                for kind in Kind::ALL {
                    let (tenant, address) = (tenant.clone(), address.clone());
                    kinds.spawn(use_server(kind, tenant, address, Arc::clone(&stopped), Arc::clone(&sent)));
                }
                let mut report = Report::new();
                while let Some(done) = kinds.join_next().await {
                    let (kind, noticed) = done??;
                    report.insert(kind.name(), noticed);
                }
                Ok(report)
            })
        });
        Self { stop, thread }
    }

    /// Stops and returns the measurements.
    pub(crate) fn stop(self) -> Result<Report> {
        self.stop.store(true, Ordering::Release);
        self.thread
            .join()
            .map_err(|_panic| anyhow!("the bystander panicked"))?
            .context("the bystander failed")
    }
}

async fn use_server(
    kind: Kind,
    tenant: Tenant,
    address: String,
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
) -> Result<(Kind, Noticed)> {
    let mut noticed = Noticed::default();
    let mut connection = None;
    while !stop.load(Ordering::Acquire) {
        let began = Instant::now();
        let call = call(kind, &tenant, &address, &mut connection, &sent);
        let status = tokio::time::timeout(GIVE_UP, call).await;
        noticed.waits_ms.push(began.elapsed().as_secs_f64() * 1000.0);
        if !matches!(status, Ok(Ok(200..300))) {
            noticed.refused += 1;
            connection = None;
        }
        tokio::time::sleep(kind.pause()).await;
    }
    Ok((kind, noticed))
}

async fn call(
    kind: Kind,
    tenant: &Tenant,
    address: &str,
    connection: &mut Option<Connection>,
    sent: &AtomicU64,
) -> Result<u16> {
    let connection = match connection {
        Some(open) => open,
        None => connection.insert(Connection::open_from(OTHER_ADDRESS, address).await?),
    };
    let device = &tenant.device;
    let (line, token, body) = match kind {
        Kind::Health => ("GET /healthz".to_owned(), "", String::new()),
        Kind::Read => (format!("GET /api/devices/{device}"), tenant.token.as_str(), String::new()),
        Kind::History => {
            (format!("GET /api/devices/{device}/locations?limit=100"), tenant.token.as_str(), String::new())
        }
        Kind::Submit => {
            let second = sent.fetch_add(1, Ordering::Relaxed);
            let (minute, second) = (second / 60, second % 60);
            let time = format!("2026-01-01T{:02}:{:02}:{second:02}Z", minute / 60 % 24, minute % 60);
            let body = json!({"dateTime": time, "latitude": 42.24, "longitude": -8.72});
            (format!("POST /api/devices/{device}/locations"), tenant.token.as_str(), body.to_string())
        }
        Kind::SignIn => {
            let body = json!({"email": tenant.email, "password": tenant.password});
            ("POST /api/session".to_owned(), "", body.to_string())
        }
    };
    Ok(connection.call(&line, token, body.as_bytes()).await?.status)
}
