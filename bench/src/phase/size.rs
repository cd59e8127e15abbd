//! Bytes per location at rest: after compaction, and after the log has been trimmed days later.

use anyhow::{Context, Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::postgres::connect;
use perigee_bench::server::Server;
use perigee_simulator::fleet::SimulatedDevice;
use rusqlite::OpenFlags;

use crate::bench::{Bench, Engine, settle};
use crate::load::number;
use crate::report::Topic;
use crate::track::{Tracks, read_all};

/// Locations of each simulated device; as many as the compactor takes at once.
const POINTS: usize = 8192;
/// Devices that send the same real track, so that the size is that of tracks and not of an empty store.
const COPIES: usize = 40;
/// 2025-06-01T00:00:00Z.
const START_MS: i64 = 1_748_736_000_000;
const SEED: u64 = 3;
/// Four days: the log is kept for three.
const LATER_S: u32 = 345_600;
const BATCH_MAX: usize = 10_000;

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let fleet = simulated(bench.options.devices(100));
    measure_tracks(bench, engine, &fleet, "simulated fleet of vehicles, vessels and hikers").await?;
    let Some(folder) = bench.options.tracks.clone() else {
        bench.report.note(Topic::Size, "No folder of real tracks was given (`--tracks`).");
        return Ok(());
    };
    for tracks in read_all(&folder)? {
        let what = format!("real track {}", tracks.name);
        let devices = tracks.devices.iter().cycle().take(tracks.devices.len() * COPIES).cloned().collect();
        measure_tracks(bench, engine, &Tracks { devices, ..tracks }, &what).await?;
    }
    bench.report.note(Topic::Size, format!("Each real track is stored by {COPIES} devices."));
    Ok(())
}

/// A fleet as its locations arrive: some late, some twice.
fn simulated(devices: usize) -> Tracks {
    let devices = (0..u32::try_from(devices).unwrap_or(0)).map(|index| {
        let deliveries = SimulatedDevice::new(SEED, index).deliveries(START_MS).take(POINTS);
        let object = |fix: perigee_simulator::fleet::Fix| {
            let mut out = Vec::new();
            fix.write_json(&mut out);
            String::from_utf8(out).unwrap_or_default()
        };
        deliveries.map(|delivery| object(delivery.fix)).collect()
    });
    Tracks { name: "simulated".to_owned(), devices: devices.collect() }
}

async fn measure_tracks(bench: &mut Bench, engine: &Engine, tracks: &Tracks, what: &str) -> Result<()> {
    let mut server = bench.start(engine, tracks.devices.len()).await?;
    let empty = at_rest(bench, engine, &mut server).await?;
    let points = store(&server, tracks).await?;
    let full = at_rest(bench, engine, &mut server).await?;
    let bytes = (full - empty) / number(points);
    let figure = format!("{bytes:.2} ({points} points)");
    let what = format!("bytes a point at rest, {what}");
    bench.report.add_with_target(Topic::Size, engine.name(), &what, figure, ("at most 10", bytes <= 10.0));
    server.end()
}

/// Stores the tracks and returns how many of their locations were new.
async fn store(server: &Server, tracks: &Tracks) -> Result<u64> {
    let mut connection = Connection::open(&server.address).await?;
    let mut new = 0;
    for (device, track) in server.devices.iter().zip(&tracks.devices) {
        for part in track.chunks(BATCH_MAX) {
            let line = format!("POST /api/devices/{device}/locations");
            let body = format!("[{}]", part.join(","));
            let answer = connection.call(&line, &server.token, body.as_bytes()).await?;
            if !answer.is_success() {
                bail!("{line}: {}", answer.text());
            }
            new += answer.json()?["accepted"].as_u64().unwrap_or(0);
        }
    }
    Ok(new)
}

/// The bytes in use once the store has come to rest.
async fn at_rest(bench: &mut Bench, engine: &Engine, server: &mut Server) -> Result<f64> {
    settle(server).await?;
    let Some(url) = engine.url() else { return sqlite_at_rest(bench, server).await };
    bench.report.note(
        Topic::Size,
        "PostgreSQL: the tables of chunks with their indexes, after `VACUUM FULL`; the log beside them is trimmed after \
         three days, and its clock is that of the database, which was not set ahead.",
    );
    let (base, _) = url.rsplit_once('/').context("the URL names no database")?;
    let client = connect(&format!("{base}/perigee_bench")).await?;
    client.batch_execute("VACUUM FULL").await?;
    let sql = "SELECT CAST(COALESCE(SUM(pg_total_relation_size(oid)), 0) AS BIGINT) FROM pg_class \
               WHERE relkind = 'r' AND relname LIKE '%chunk%'";
    let bytes: i64 = client.query_one(sql, &[]).await?.get(0);
    Ok(number(u64::try_from(bytes).unwrap_or(0)))
}

/// Sets the time that the server has saved ahead too, because it deletes nothing after a jump of its clock.
fn set_saved_clock_ahead(server: &Server) -> Result<()> {
    let database = rusqlite::Connection::open(server.folder().join("data/perigee.db"))?;
    let by_ms = i64::from(LATER_S) * 1000;
    database.execute("UPDATE store_clock SET seen = seen + ?1, believed = believed + ?1", [by_ms])?;
    Ok(())
}

/// Runs the server with its clock four days ahead until it has nothing more to do, then counts the pages in use.
async fn sqlite_at_rest(bench: &mut Bench, server: &mut Server) -> Result<f64> {
    if let Some(shim) = &bench.options.shim {
        let later = vec![
            ("LD_PRELOAD".to_owned(), shim.display().to_string()),
            ("BENCH_CLOCK_AHEAD_S".to_owned(), LATER_S.to_string()),
        ];
        server.set_environment(later);
        server.end()?;
        set_saved_clock_ahead(server)?;
        server.start_again()?;
        // The first run packs the remaining locations. The second trims the packed ones from the log at its start.
        for _ in 0..2 {
            server.end()?;
            server.start_again()?;
            settle(server).await?;
        }
        server.set_environment(Vec::new());
        bench.report.note(
            Topic::Size,
            "SQLite: the pages in use, with every index and the state of the devices, of a server whose clock was set four \
             days ahead, with the time that it had saved, so that the log for the feed (three days) is trimmed.",
        );
    } else {
        bench
            .report
            .note(Topic::Size, "No shim was given to set the clock ahead: the log for the feed is counted.");
    }
    server.end()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let used = {
        let database = rusqlite::Connection::open_with_flags(server.folder().join("data/perigee.db"), flags)?;
        let pragma =
            |name: &str| database.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u32>(0));
        f64::from(pragma("page_count")? - pragma("freelist_count")?) * f64::from(pragma("page_size")?)
    };
    server.start_again()?;
    Ok(used)
}
