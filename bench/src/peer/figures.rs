//! Measures a plain database table, with one row per location, and adds the results to the report for comparison.

use std::time::Duration;

use anyhow::Result;

use super::{postgres, sqlite};
use crate::bench::{Bench, Engine};
use crate::report::{Bar, Topic};

/// Measurements of a plain table; a point is one location.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) name: String,
    /// Locations a second, each in a synced transaction of its own.
    pub(super) singles: f64,
    /// Locations a second in transactions of 1,000.
    pub(super) batches: f64,
    pub(super) bytes_a_point: f64,
    /// Milliseconds to read a device-day into memory.
    pub(super) day_ms: f64,
}

/// Measures the plain table of an engine.
pub(crate) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let run = if bench.options.quick { Duration::from_secs(1) } else { Duration::from_secs(8) };
    let peer = match engine {
        Engine::Sqlite => sqlite::measure(&bench.options.scratch, run)?,
        Engine::Postgres(url) => postgres::measure(url, run).await?,
    };
    let (name, report) = (engine.name(), &mut bench.report);
    for (what, figure) in [
        ("singles/s, a synced commit each", format!("{:.0}", peer.singles)),
        ("points/s in batches of 1,000", format!("{:.0}", peer.batches)),
        ("bytes a point", format!("{:.1}", peer.bytes_a_point)),
        ("device-day (8,640 points) into memory", format!("{:.2} ms", peer.day_ms)),
    ] {
        report.add(Topic::Peers, name, &format!("{}, {what}", peer.name), figure);
    }
    let bar = |value| Bar { label: format!("plain {}", peer.name), value, is_ours: false };
    report.single_bar(bar(peer.singles));
    report.batch_bar(bar(peer.batches));
    report.note(
        Topic::Peers,
        "Written from memory, without HTTP, JSON, authentication, feed or last locations, which favours them. A row holds \
         eleven integers, its key is device and time, commits are synced, statements are prepared. SQLite: WAL, rows \
         clustered by key, 64 MB of cache, one writer, which is all it can have. PostgreSQL: 32 connections for singles, \
         four for batches, which go in as arrays.",
    );
    Ok(())
}
