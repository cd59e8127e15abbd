//! Timelines of a fleet over a month: totals, a workbook of trips, and a week that arrives late.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use perigee_bench::http::Connection;
use perigee_bench::server::Server;
use perigee_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::bench::{Bench, Engine, settle};
use crate::load::number;
use crate::report::Topic;

const CONNECTIONS: usize = 8;
/// 2026-01-01, in milliseconds.
const START_MS: i64 = 1_767_225_600_000;
const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;
const DAYS: i64 = 31;
const PERIOD: &str = "from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z";
/// Interval of the fleet's locations, and of those of the device with a late week.
const FLEET_EVERY_MS: i64 = 10 * MINUTE_MS;
const LATE_EVERY_MS: i64 = MINUTE_MS;
/// Rows of the workbook.
const ROWS: u64 = 100_000;
const READS: usize = 5;
const LATE_DEVICES: usize = 5;
/// Days of the device with a late week, and the first day of that week.
const LATE_DAYS: i64 = 60;
const LATE_WEEK: i64 = 25;
/// Locations of one request.
const PART: usize = 5_000;
const DERIVED_WITHIN: Duration = Duration::from_mins(20);

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, bench.options.devices(1000)).await?;
    fill(bench, engine, &server).await?;
    totals(bench, engine, &server).await?;
    late_week(bench, engine, &mut server).await?;
    workbook(bench, engine, &mut server).await?;
    server.end()
}

/// Locations from one instant to another: the device stands for 40 minutes and moves for 30, in turn.
fn track(device: usize, (from_ms, to_ms): (i64, i64), every_ms: i64) -> Vec<Value> {
    let shift = i64::try_from(device).unwrap_or(0) * 10;
    let times = (0..).map(|index| from_ms + index * every_ms).take_while(|time_ms| *time_ms < to_ms);
    let one = |time_ms: i64| {
        let minute = (time_ms - START_MS) / MINUTE_MS + shift;
        let moved = minute / 70 * 30 + (minute % 70 - 40).max(0);
        let place = i32::try_from((moved % 2_000 - 1_000).abs()).unwrap_or(0);
        json!({
            "dateTime": Timestamp::from_millis(time_ms).to_string(),
            "latitude": 40.0 + f64::from(place) * 0.009, "longitude": -8.0,
            "speed": if minute % 70 > 40 { 60 } else { 0 }, "ignition": minute % 70 > 35,
        })
    };
    times.map(one).collect()
}

/// Sends locations in parts.
async fn send(connection: &mut Connection, token: &str, device: &str, locations: &[Value]) -> Result<()> {
    let line = format!("POST /api/devices/{device}/locations");
    for part in locations.chunks(PART) {
        let answer = connection.call(&line, token, json!(part).to_string().as_bytes()).await?;
        if !answer.is_success() {
            bail!("{line}: {}", answer.text());
        }
    }
    Ok(())
}

/// Waits until the timeline of a device considers every stored location.
async fn derived(connection: &mut Connection, token: &str, device: &str, pause: Duration) -> Result<()> {
    let (began, line) = (Instant::now(), format!("GET /api/devices/{device}/timeline?limit=1"));
    loop {
        let answer = connection.call(&line, token, b"").await?;
        ensure!(answer.status == 200, "{line}: {}", answer.text());
        if answer.json()?["pending"] == false {
            return Ok(());
        }
        ensure!(began.elapsed() < DERIVED_WITHIN, "the timeline of {device} stays pending");
        tokio::time::sleep(pause).await;
    }
}

/// Stores a month of the fleet, and waits until it is derived.
async fn fill(bench: &mut Bench, engine: &Engine, server: &Server) -> Result<()> {
    let mut senders = JoinSet::new();
    for first in 0..CONNECTIONS {
        let devices: Vec<(usize, String)> =
            server.devices.iter().cloned().enumerate().skip(first).step_by(CONNECTIONS).collect();
        let (address, token) = (server.address.clone(), server.token.clone());
        senders.spawn(async move {
            let mut connection = Connection::open(&address).await?;
            for (index, device) in devices {
                let month = (START_MS, START_MS + DAYS * DAY_MS);
                send(&mut connection, &token, &device, &track(index, month, FLEET_EVERY_MS)).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = senders.join_next().await {
        done??;
    }
    let (began, mut connection) = (Instant::now(), Connection::open(&server.address).await?);
    for device in &server.devices {
        derived(&mut connection, &server.token, device, Duration::from_millis(200)).await?;
    }
    let what =
        format!("{} devices over {DAYS} days, all derived after the last answer", server.devices.len());
    let figure = format!("{:.0} s", began.elapsed().as_secs_f64());
    bench.report.add(Topic::Trips, engine.name(), &what, figure);
    settle(server).await?;
    Ok(())
}

/// Milliseconds of the median of some reads of all pages.
async fn read_totals(server: &Server, query: &str) -> Result<(f64, usize)> {
    let mut connection = Connection::open(&server.address).await?;
    let (mut times, mut rows) = (Vec::new(), 0);
    for _ in 0..READS {
        let (began, mut cursor) = (Instant::now(), String::new());
        rows = 0;
        loop {
            let line = format!("GET /api/totals?{PERIOD}&{query}{cursor}");
            let answer = connection.call(&line, &server.token, b"").await?;
            ensure!(answer.status == 200, "{line}: {}", answer.text());
            let page = answer.json()?;
            rows += page["totals"].as_array().context("no totals")?.len();
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[READS / 2], rows))
}

async fn totals(bench: &mut Bench, engine: &Engine, server: &Server) -> Result<()> {
    let count = server.devices.len();
    for (query, what) in [
        ("interval=period&limit=1000", "one for each device"),
        ("interval=day&limit=1000", "one for each device and day"),
    ] {
        let (median_ms, rows) = read_totals(server, query).await?;
        let what = format!("totals of {count} devices over {DAYS} days, {what} ({rows})");
        let figure = format!("{median_ms:.0} ms");
        bench.report.add_with_target(
            Topic::Trips,
            engine.name(),
            &what,
            figure,
            ("under 1 s", median_ms < 1_000.0),
        );
    }
    Ok(())
}

/// A week in the middle of two months arrives after the rest.
async fn late_week(bench: &mut Bench, engine: &Engine, server: &mut Server) -> Result<()> {
    let before = server.devices.len();
    server.make_devices("late", LATE_DEVICES).await?;
    let late = server.devices.split_off(before);
    server.identifiers.truncate(before);
    let mut connection = Connection::open(&server.address).await?;
    let day = |day: i64| START_MS + day * DAY_MS;
    for device in &late {
        for span in [(day(0), day(LATE_WEEK)), (day(LATE_WEEK + 7), day(LATE_DAYS))] {
            send(&mut connection, &server.token, device, &track(0, span, LATE_EVERY_MS)).await?;
        }
        derived(&mut connection, &server.token, device, Duration::from_millis(100)).await?;
    }
    let (mut waited, mut used) = (Vec::new(), Vec::new());
    for device in &late {
        settle(server).await?;
        let week = track(0, (day(LATE_WEEK), day(LATE_WEEK + 7)), LATE_EVERY_MS);
        send(&mut connection, &server.token, device, &week).await?;
        let (began, cpu_s) = (Instant::now(), server.usage()?.cpu_s);
        derived(&mut connection, &server.token, device, Duration::from_millis(20)).await?;
        waited.push(began.elapsed().as_secs_f64());
        used.push(server.usage()?.cpu_s - cpu_s);
    }
    for times in [&mut waited, &mut used] {
        times.sort_by(f64::total_cmp);
    }
    let (wait_s, cost_s) = (waited[LATE_DEVICES / 2], used[LATE_DEVICES / 2]);
    let (report, name) = (&mut bench.report, engine.name());
    let what = format!("a late week of one device (10,080 locations of {LATE_DAYS} days)");
    report.add(Topic::Trips, name, &format!("{what}, derived after the answer"), format!("{wait_s:.2} s"));
    report.add_with_target(
        Topic::Trips,
        name,
        &format!("{what}, CPU of the server until then"),
        format!("{cost_s:.2} s"),
        ("under 1 s", cost_s < 1.0),
    );
    report.note(
        Topic::Trips,
        "The engine looks for new locations each second, so the time after the answer has a wait of up to 1 s (after other \
         work more) in which nothing is computed. The CPU time includes packing the locations.",
    );
    Ok(())
}

/// A workbook of trips, and the memory that it takes of a server that was started anew.
async fn workbook(bench: &mut Bench, engine: &Engine, server: &mut Server) -> Result<()> {
    let mut connection = Connection::open(&server.address).await?;
    let line = format!("GET /api/totals?{PERIOD}&interval=period&by=account");
    let answer = connection.call(&line, &server.token, b"").await?.json()?;
    let trips = answer["totals"][0]["trips"].as_u64().with_context(|| format!("no totals: {answer}"))?;
    let rows = if bench.options.quick { ROWS / 20 } else { ROWS };
    let all = u64::try_from(server.devices.len())?;
    let count = usize::try_from((rows * all).div_ceil(trips.max(1)))?.min(server.devices.len());
    let body = |devices: &[String]| {
        json!({"kind": "trips", "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z", "devices": devices})
            .to_string()
    };
    let chosen = body(&server.devices[..count]);
    let text =
        connection.call("POST /api/reports/run?format=ndjson", &server.token, chosen.as_bytes()).await?;
    ensure!(text.status == 200, "{}", text.text());
    let rows = text.content().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    server.end()?;
    server.start_again()?;
    let mut connection = Connection::open(&server.address).await?;
    // What the first request of a process takes is not the report's.
    let first = body(&server.devices[..1]);
    let line = "POST /api/reports/run?format=xlsx";
    connection.call(line, &server.token, first.as_bytes()).await?;
    settle(server).await?;
    let (before, began) = (server.usage()?, Instant::now());
    let answer = connection.call(line, &server.token, chosen.as_bytes()).await?;
    ensure!(answer.status == 200, "{line}: {}", answer.text());
    let (seconds, bytes) = (began.elapsed().as_secs_f64(), answer.content().len());
    let more_mb = (server.usage()?.peak - before.resident) / 1e6;
    let what = format!("XLSX of {rows} trips of {count} devices");
    let (report, name) = (&mut bench.report, engine.name());
    let size = format!("{seconds:.1} s ({:.1} MB)", number(u64::try_from(bytes)?) / 1e6);
    report.add_with_target(Topic::Trips, name, &what, size, ("at most 10 s", seconds <= 10.0));
    report.add_with_target(
        Topic::Trips,
        name,
        &format!("{what}, more memory of the server"),
        format!("{more_mb:.0} MB"),
        ("at most 100 MB", more_mb <= 100.0),
    );
    Ok(())
}
