//! Locations sent in batches: compared with the JSON parser alone, with readers, and during compaction.

use std::time::Duration;

use anyhow::{Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::postgres;
use perigee_bench::server::Server;

use crate::bench::{Bench, Engine, settle};
use crate::body::{Body, INTERVAL_MS};
use crate::floor::{DAY_POINTS, parser_rate};
use crate::load::{Work, number, prepare, run};
use crate::report::{Bar, Topic};

const CONNECTIONS: usize = 8;
/// Rounds of one load, which no other uses.
const ROUNDS: usize = 300;
/// A round of singles on a day that no batch reaches.
const PROBE_ROUND: usize = 2200 * 8640;
const READERS: usize = 10;
/// Devices whose day the readers read, three each.
const READ_DEVICES: usize = 3 * READERS;
const READ_EVERY: Duration = Duration::from_millis(100);
/// A day that no load uses.
const DAY: &str = "2018-06-01";
const WRITTEN_NOTE: &str = "What is written to disk is what the kernel counts for the processes of the store, from the \
    first location until the compactor has nothing more to do; the payload is the JSON sent.";
const CHECKPOINT_NOTE: &str = "PostgreSQL makes a checkpoint before the single locations beside batches, so that it writes to \
    files of the WAL that exist, as a server does that has run for a while.";

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, bench.options.devices(1000)).await?;
    let postmaster = match engine.url() {
        Some(url) => postgres::postmaster(url).await?,
        None => None,
    };
    let mut alone = 0.0;
    for (index, (points, connections)) in [(100, 64), (1000, 32)].into_iter().enumerate() {
        alone = throughput(bench, engine, &server, postmaster, points, connections, index * ROUNDS).await?;
    }
    with_readers(bench, engine, &server, alone).await?;
    stalls(bench, engine, &server, alone).await?;
    server.end()
}

fn written(server: &Server, postmaster: Option<u32>) -> Result<f64> {
    Ok(server.usage()?.written + postmaster.map_or(0.0, |process| postgres::usage(process).written))
}

/// Measures batches alone, and their cost. Returns the points a second.
async fn throughput(
    bench: &mut Bench,
    engine: &Engine,
    server: &Server,
    postmaster: Option<u32>,
    points: usize,
    connections: usize,
    first_round: usize,
) -> Result<f64> {
    let duration = bench.options.duration();
    let parser = parser_rate(points);
    let floor = run(&[server], connections, duration, &Work::PostFloor { points }).await?;
    let before = written(server, postmaster)?;
    let load = run(&[server], connections, duration, &Work::post(points, first_round)).await?;
    let caught_up = settle(server).await?;
    let disk = written(server, postmaster)? - before;
    let each = number(points as u64);
    let (name, rate, stored) = (engine.name(), load.rate() * each, number(load.requests) * each);
    let what = |what: &str| format!("batches of {points}, {what}");
    let report = &mut bench.report;
    let topic = Topic::Batches;
    report.add(topic, name, &what("durable, points/s"), format!("{rate:.0}"));
    report.add(topic, name, &what("`serde_json` alone on one core, points/s"), format!("{parser:.0}"));
    let share = rate / parser;
    let (label, figure) = (what("of the parser"), format!("{share:.2}"));
    report.add_with_target(topic, name, &label, figure, ("at least 0.45", share >= 0.45));
    let of_floor = format!("{:.0} %", load.rate() / floor.rate() * 100.0);
    report.add(topic, name, &what("of the floor, which stores nothing"), of_floor);
    let cpu = format!("{:.2} us", load.cpu_s * 1e6 / stored.max(1.0));
    report.add(topic, name, &what("server CPU a point"), cpu);
    let latencies = format!("{:.1} / {:.1} ms", load.per_mille_ms(500), load.per_mille_ms(990));
    report.add(topic, name, &what("p50 / p99"), latencies);
    let longest = format!("{:.1} / {:.1} ms", load.per_mille_ms(999), load.longest_ms());
    report.add(topic, name, &what("p99.9 / longest"), longest);
    report.add(topic, name, &what("at rest after"), format!("{:.1} s", caught_up.as_secs_f64()));
    if engine.url().is_none() || postmaster.is_some() {
        let ratio = disk / number(load.sent).max(1.0);
        let figure = format!("{ratio:.2} ({:.0} bytes a point)", disk / stored.max(1.0));
        let label = what("written to disk, of the payload");
        report.add_with_target(topic, name, &label, figure, ("at most 4", ratio <= 4.0));
    }
    report.note(topic, WRITTEN_NOTE);
    for (label, value, is_ours) in [("floor", floor.rate() * each, false), ("durable", rate, true)] {
        report.batch_bar(Bar { label: format!("{name}, batches of {points}, {label}"), value, is_ours });
    }
    Ok(rate)
}

/// The same with ten readers of device-days.
async fn with_readers(bench: &mut Bench, engine: &Engine, server: &Server, alone: f64) -> Result<()> {
    store_days(server).await?;
    let duration = bench.options.duration();
    let path = format!("/api/devices/{{device}}/locations?from={DAY}T00:00:00Z&to={DAY}T23:59:59Z");
    for (index, (what, pause)) in
        [("each asking every 100 ms", READ_EVERY), ("without pause", Duration::ZERO)].into_iter().enumerate()
    {
        let post = Work::post(1000, (2 + index) * ROUNDS);
        let get = Work::Get { path: path.clone(), devices: READ_DEVICES, pause };
        let servers = [server];
        let writers = prepare(&servers, CONNECTIONS, &post).await?;
        let readers = prepare(&servers, READERS, &get).await?;
        let (writing, reading) = tokio::join!(writers.run(duration), readers.run(duration));
        let (writing, reading) = (writing?, reading?);
        let share = writing.rate() * 1000.0 / alone;
        let what = format!("batches of 1,000 beside ten readers of device-days {what}, of ingest alone");
        let figure = format!("{share:.2} ({:.0} days/s read)", reading.rate());
        let (topic, name) = (Topic::Batches, engine.name());
        if pause.is_zero() {
            bench.report.add(topic, name, &what, figure);
        } else {
            bench.report.add_with_target(topic, name, &what, figure, ("at least 0.7", share >= 0.7));
        }
    }
    Ok(())
}

/// Stores the day that the readers read.
async fn store_days(server: &Server) -> Result<()> {
    let mut connection = Connection::open(&server.address).await?;
    let mut body = Body::new(0, DAY_POINTS, INTERVAL_MS);
    body.set_text(DAY);
    for device in server.devices.iter().take(READ_DEVICES) {
        let line = format!("POST /api/devices/{device}/locations");
        let answer = connection.call(&line, &server.token, &body.bytes).await?;
        if !answer.is_success() {
            bail!("{line}: {}", answer.text());
        }
    }
    settle(server).await?;
    Ok(())
}

/// Latency of occasional single locations during batches and compaction.
async fn stalls(bench: &mut Bench, engine: &Engine, server: &Server, alone: f64) -> Result<()> {
    if let Some(url) = engine.url() {
        // A server that has run for a while writes to existing WAL files. Before the first checkpoint, it creates one
        // for every 16 MB, which delays all commits.
        postgres::connect(url).await?.batch_execute("CHECKPOINT").await?;
        bench.report.note(Topic::Batches, CHECKPOINT_NOTE);
    }
    let duration = bench.options.duration() * 3;
    // Half of what the server can do.
    let pause = Duration::from_secs_f64(number(CONNECTIONS as u64) * 1000.0 / (alone / 2.0));
    let batches = Work::Post { points: 1000, first_round: 4 * ROUNDS, pause };
    let probe = Work::Post { points: 1, first_round: PROBE_ROUND, pause: Duration::from_millis(2) };
    let servers = [server];
    let batches = prepare(&servers, CONNECTIONS, &batches).await?;
    let probe = prepare(&servers, 4, &probe).await?;
    let (batches, probe) = tokio::join!(batches.run(duration), probe.run(duration));
    let (batches, probe) = (batches?, probe?);
    let (topic, name) = (Topic::Batches, engine.name());
    let pace = batches.rate() * 1000.0;
    let what = format!("a single location beside {pace:.0} points/s in batches and their compaction");
    let usual = format!("{:.2} / {:.2} ms", probe.per_mille_ms(500), probe.per_mille_ms(999));
    bench.report.add(topic, name, &format!("{what}, p50 / p99.9"), usual);
    let (longest, what) = (probe.longest_ms(), format!("{what}, longest of {}", probe.requests));
    bench.report.add_with_target(
        topic,
        name,
        &what,
        format!("{longest:.1} ms"),
        ("at most 50 ms", longest <= 50.0),
    );
    Ok(())
}
