//! Reads from a large database, and start-up time on it.

use std::time::Instant;

use anyhow::{Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::server::Server;
use perigee_simulator::latency::Latencies;

use super::growth::millions;
use crate::bench::{Bench, Engine, settle};
use crate::body::{Body, INTERVAL_MS};
use crate::floor::{DAY_POINTS, day_ms};
use crate::load::{Work, run};
use crate::report::Topic;

/// A day that no filling reaches.
const DAY: &str = "2018-06-01";
const CONNECTIONS: usize = 64;

pub(super) async fn measure(
    bench: &mut Bench,
    engine: &Engine,
    server: &mut Server,
    points: f64,
) -> Result<()> {
    let name = engine.name();
    let mut connection = Connection::open(&server.address).await?;
    let device = store_day(&mut connection, server).await?;
    settle(server).await?;
    read_day(bench, name, &mut connection, server, &device).await?;
    first_bytes(bench, name, &mut connection, server, points).await?;
    last(bench, name, &mut connection, server).await?;
    start(bench, name, server, points)
}

async fn store_day(connection: &mut Connection, server: &Server) -> Result<String> {
    let device = server.devices[server.devices.len() / 2].clone();
    let mut body = Body::new(0, DAY_POINTS, INTERVAL_MS);
    body.set_text(DAY);
    let line = format!("POST /api/devices/{device}/locations");
    let answer = connection.call(&line, &server.token, &body.bytes).await?;
    if answer.status == 201 { Ok(device) } else { bail!("{line}: {}", answer.text()) }
}

fn day_line(device: &str, day: &str) -> String {
    format!("GET /api/devices/{device}/locations?from={day}T00:00:00Z&to={day}T23:59:59Z")
}

/// Reads one device-day repeatedly, as for a device that somebody watches.
async fn read_day(
    bench: &mut Bench,
    name: &'static str,
    connection: &mut Connection,
    server: &Server,
    device: &str,
) -> Result<()> {
    let line = day_line(device, DAY);
    let repeats = if bench.options.quick { 50 } else { 500 };
    let mut bytes = 0;
    for _ in 0..repeats / 10 {
        bytes = connection.call(&line, &server.token, b"").await?.body.len();
    }
    let (before, began) = (server.usage()?, Instant::now());
    for _ in 0..repeats {
        let answer = connection.call(&line, &server.token, b"").await?;
        if answer.status != 200 {
            bail!("{line}: {}", answer.text());
        }
    }
    let (elapsed, after) = (began.elapsed(), server.usage()?);
    let per_request = 1000.0 / f64::from(repeats);
    let cpu = (after.cpu_s - before.cpu_s) * per_request;
    let (unpacking, writing) = day_ms()?;
    let (topic, report) = (Topic::Read, &mut bench.report);
    report.add_with_target(
        topic,
        name,
        "a device-day (8,640 points) as JSON, server CPU",
        format!("{cpu:.2} ms"),
        ("at most 1 ms", cpu <= 1.0),
    );
    report.add(topic, name, "writing the same as JSON alone, one core", format!("{writing:.2} ms"));
    report.add(topic, name, "server CPU, of writing alone", format!("{:.2}", cpu / writing));
    report.add(topic, name, "unpacking the same alone, one core", format!("{unpacking:.2} ms"));
    let whole = elapsed.as_secs_f64() * per_request;
    report.add(topic, name, "request to last byte", format!("{whole:.2} ms ({bytes} bytes)"));
    Ok(())
}

/// Reads parts of many devices, each once.
async fn first_bytes(
    bench: &mut Bench,
    name: &'static str,
    connection: &mut Connection,
    server: &Server,
    points: f64,
) -> Result<()> {
    let mut latencies = Latencies::default();
    let step = (server.devices.len() / 500).max(1);
    for device in server.devices.iter().step_by(step) {
        let line = day_line(device, "2019-01-01");
        let began = Instant::now();
        let answer = connection.call(&line, &server.token, b"").await?;
        if answer.status != 200 {
            bail!("{line}: {}", answer.text());
        }
        latencies.add(answer.first_byte.duration_since(began));
    }
    let ms = |per_mille| latencies.per_mille(per_mille).as_secs_f64() * 1000.0;
    let p99 = ms(990);
    let what = format!(
        "time to first byte with {} points stored, p50 / p99 of devices asked once",
        millions(points)
    );
    let figure = format!("{:.2} / {p99:.2} ms", ms(500));
    bench.report.add_with_target(Topic::Read, name, &what, figure, ("p99 under 5 ms", p99 < 5.0));
    Ok(())
}

async fn last(
    bench: &mut Bench,
    name: &'static str,
    connection: &mut Connection,
    server: &Server,
) -> Result<()> {
    let repeats = 10;
    let (mut bytes, before, began) = (0, server.usage()?, Instant::now());
    for _ in 0..repeats {
        let answer = connection.call("GET /api/locations/last", &server.token, b"").await?;
        if answer.status != 200 {
            bail!("last locations: {}", answer.text());
        }
        bytes = answer.body.len();
    }
    let per_call = 1000.0 / f64::from(repeats);
    let (elapsed, cpu) = (began.elapsed().as_secs_f64() * per_call, server.usage()?.cpu_s - before.cpu_s);
    let what = format!("every last location in one call, {} devices", server.devices.len());
    let figure = format!("{elapsed:.1} ms, {:.1} ms CPU ({bytes} bytes)", cpu * per_call);
    bench.report.add(Topic::Last, name, &what, figure);

    let duration = bench.options.duration();
    let floor = run(&[server], CONNECTIONS, duration, &Work::get("/api/bench/noop")).await?;
    let work = Work::get("/api/devices/{device}/lastLocation");
    let last = run(&[server], CONNECTIONS, duration, &work).await?;
    let share = last.rate() / floor.rate();
    let report = &mut bench.report;
    report.add(Topic::Last, name, "floor, requests/s", format!("{:.0}", floor.rate()));
    let figure = format!("{:.0} (p99 {:.2} ms)", last.rate(), last.per_mille_ms(990));
    report.add(Topic::Last, name, "lastLocation, requests/s", figure);
    let figure = format!("{:.0} %", share * 100.0);
    report.add_with_target(
        Topic::Last,
        name,
        "lastLocation, of the floor",
        figure,
        ("at least 80 %", share >= 0.8),
    );
    report.note(Topic::Last, "The floor is a handler that only authenticates and answers. 64 connections.");
    Ok(())
}

/// Start-up time after a normal stop, and after a kill.
fn start(bench: &mut Bench, name: &'static str, server: &mut Server, points: f64) -> Result<()> {
    for (how, is_killed) in [("an end in good order", false), ("kill -9", true)] {
        if is_killed {
            server.kill()?;
        } else {
            server.end()?;
        }
        server.start_again()?;
        let seconds = server.ready_after.as_secs_f64();
        let what = format!("ready after {how}, {} points stored", millions(points));
        let figure = format!("{seconds:.2} s");
        bench.report.add_with_target(Topic::Start, name, &what, figure, ("under 2 s", seconds < 2.0));
        let resident = server.usage()?.resident / 1e6;
        bench.report.add(
            Topic::Start,
            name,
            &format!("memory right after {how}"),
            format!("{resident:.0} MB"),
        );
    }
    Ok(())
}
