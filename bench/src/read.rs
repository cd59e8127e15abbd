//! Locations read: a device's day, last locations, and how fast a server is back.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::Options;
use crate::body::Body;
use crate::http::Connection;
use crate::load::{Load, Work, number, run};
use crate::server::Server;

/// Ten seconds between two of them.
pub(crate) const DAY_POINTS: u32 = 8640;
/// A day no load uses.
const DAY: &str = "2018-06-01";

/// What reading costs.
pub(crate) struct Reads {
    /// Milliseconds of the server's processor time for a device-day as JSON.
    pub(crate) day_cpu_ms: f64,
    /// Milliseconds until the whole of it is there.
    pub(crate) day_ms: f64,
    /// Its bytes.
    pub(crate) day_bytes: u64,
    /// Milliseconds in which `serde_json` writes the same.
    pub(crate) serialise_ms: f64,
    pub(crate) floor: Load,
    pub(crate) last: Load,
    /// Milliseconds for every device's last location in one call, where the server has it.
    pub(crate) all_last_ms: Option<f64>,
    pub(crate) devices: u32,
    pub(crate) ready_after: Duration,
    pub(crate) resident_at_start: f64,
    pub(crate) store_bytes: Option<u64>,
}

/// Measures reading on a store that loads have filled.
pub(crate) async fn measure(options: &Options, server: &mut Server) -> Result<Reads> {
    eprintln!("  reading");
    let mut connection = Connection::open(&server.address).await?;
    let device = server.devices[0].clone();
    store_day(&mut connection, server, &device).await?;
    let line = format!("GET /api/devices/{device}/locations?from={DAY}T00:00:00Z&to={DAY}T23:59:59Z");
    let answer = connection.call(&line, &server.token, b"").await?;
    let day_bytes = answer.body.len() as u64;
    // Warm, as a day that somebody looks at is.
    let repeats = 200;
    let (before, began) = (server.usage()?, Instant::now());
    for _ in 0..repeats {
        let answer = connection.call(&line, &server.token, b"").await?;
        if answer.status != 200 {
            bail!("{line}: {}", String::from_utf8_lossy(answer.body));
        }
    }
    let (elapsed, after) = (began.elapsed(), server.usage()?);
    let per_request = 1000.0 / f64::from(repeats);
    let floor = run(server, 64, options.duration(), Work::Get("/api/bench/noop"), 0).await?;
    let last =
        run(server, 64, options.duration(), Work::Get("/api/devices/{device}/lastLocation"), 0).await?;
    let all_last_ms = all_last(&mut connection, server).await?;
    let ready_after = server.restart()?;
    Ok(Reads {
        day_cpu_ms: (after.cpu_s - before.cpu_s) * per_request,
        day_ms: elapsed.as_secs_f64() * per_request,
        day_bytes,
        serialise_ms: serialise_ms(),
        floor,
        last,
        all_last_ms,
        devices: options.devices,
        ready_after,
        resident_at_start: server.usage()?.resident,
        store_bytes: server.store_bytes(),
    })
}

async fn store_day(connection: &mut Connection, server: &Server, device: &str) -> Result<()> {
    let mut body = Body::new(0, DAY_POINTS as usize);
    body.set_text(DAY);
    let line = format!("POST /api/devices/{device}/locations");
    let answer = connection.call(&line, &server.token, &body.bytes).await?;
    if answer.status == 201 { Ok(()) } else { bail!("{line}: {}", String::from_utf8_lossy(answer.body)) }
}

async fn all_last(connection: &mut Connection, server: &Server) -> Result<Option<f64>> {
    let began = Instant::now();
    let repeats = 10;
    for _ in 0..repeats {
        if connection.call("GET /api/locations/last", &server.token, b"").await?.status != 200 {
            return Ok(None);
        }
    }
    Ok(Some(began.elapsed().as_secs_f64() * 1000.0 / f64::from(repeats)))
}

/// Writing alone, by the usual library.
fn serialise_ms() -> f64 {
    let day: Value = serde_json::from_slice(&Body::new(0, DAY_POINTS as usize).bytes).unwrap_or_default();
    let (mut repeats, began) = (0, Instant::now());
    while began.elapsed() < Duration::from_millis(500) {
        std::hint::black_box(serde_json::to_vec(&day).unwrap_or_default());
        repeats += 1;
    }
    began.elapsed().as_secs_f64() * 1000.0 / number(repeats)
}
