//! Positions tested against many geofences, and single locations with rules for every device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::server::Server;
use perigee_core::id::GeofenceId;
use perigee_core::locations::geofence::{Area, FenceIndex, Position, Shape};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::time::{Clock as _, SystemClock, Timestamp};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::bench::{Bench, Engine};
use crate::load::{Load, Work, number, run};
use crate::report::Topic;

const CONNECTIONS: usize = 64;
const LAG: &str = "perigee_rules_lag_seconds";
const EVALUATED: &str = "perigee_rules_locations_total";
/// Interval between two samples of the lag.
const SAMPLE_EVERY: Duration = Duration::from_millis(250);
/// How long the rule engine has to catch up.
const CATCH_UP_WITHIN: Duration = Duration::from_mins(2);
/// Corners of a geofence.
const CORNERS: u32 = 24;

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    if matches!(engine, Engine::Sqlite) {
        look_up(bench)?;
    }
    let mut server = bench.start(engine, bench.options.devices(1000)).await?;
    let (name, rules) = (engine.name(), bench.options.rules());
    // An hour ago, so that the load with rules sends none of these locations again.
    let (without_rules, _) = load(bench, &server, SystemClock.now().plus_seconds(-3600)).await?;
    make_rules(&server, rules).await?;
    let before = server.figure(EVALUATED).await?;
    let (with_rules, lag_s) = load(bench, &server, SystemClock.now().plus_seconds(1)).await?;
    let caught_up = catch_up(&server, before + number(with_rules.requests)).await?;
    let share = with_rules.rate() / without_rules.rate();
    let report = &mut bench.report;
    report.add(
        Topic::Rules,
        name,
        "singles without rules, requests/s",
        format!("{:.0}", without_rules.rate()),
    );
    let what = format!("singles with {rules} rules a device, requests/s");
    report.add(Topic::Rules, name, &what, format!("{:.0}", with_rules.rate()));
    let figure = format!("{:.0} %", share * 100.0);
    report.add_with_target(Topic::Rules, name, "kept with rules", figure, ("at least 70 %", share >= 0.7));
    let cpu = |load: &Load| format!("{:.1} us", load.cpu_s * 1e6 / number(load.requests));
    report.add(Topic::Rules, name, "singles without rules, server CPU a request", cpu(&without_rules));
    let what = format!("singles with {rules} rules a device, server CPU a request");
    report.add(Topic::Rules, name, &what, cpu(&with_rules));
    report.add(Topic::Rules, name, "longest lag while they arrive", format!("{lag_s:.1} s"));
    report.add(Topic::Rules, name, "caught up after the load", format!("{:.1} s", caught_up.as_secs_f64()));
    report.note(Topic::Rules, "Rules are judged from the log, after the answer; the lag is the age of the oldest location of a round.");
    server.end()
}

/// Posts locations dated from this instant on, and returns the longest lag meanwhile.
async fn load(bench: &Bench, server: &Server, from: Timestamp) -> Result<(Load, f64)> {
    let work = Work::PostLive { from };
    let servers = [server];
    let done = Arc::new(AtomicBool::new(false));
    let watch = async {
        let mut longest: f64 = 0.0;
        while !done.load(Ordering::Relaxed) {
            tokio::time::sleep(SAMPLE_EVERY).await;
            longest = longest.max(server.figure(LAG).await?);
        }
        anyhow::Ok(longest)
    };
    let load = async {
        let load = run(&servers, CONNECTIONS, bench.options.duration(), &work).await;
        done.store(true, Ordering::Relaxed);
        load
    };
    let (load, lag_s) = tokio::join!(load, watch);
    Ok((load?, lag_s?))
}

/// Waits until this many locations were evaluated.
async fn catch_up(server: &Server, wanted: f64) -> Result<Duration> {
    let began = Instant::now();
    while server.figure(EVALUATED).await? < wanted {
        if began.elapsed() > CATCH_UP_WITHIN {
            bail!("rules did not catch up within two minutes");
        }
        tokio::time::sleep(SAMPLE_EVERY).await;
    }
    Ok(began.elapsed())
}

/// Creates rules of several kinds for every device.
async fn make_rules(server: &Server, count: usize) -> Result<()> {
    let mut connection = Connection::open(&server.address).await?;
    let mut post = async |path: &str, body: Value| -> Result<String> {
        let answer =
            connection.call(&format!("POST {path}"), &server.token, body.to_string().as_bytes()).await?;
        if answer.status != 201 {
            bail!("{path}: {}", answer.text());
        }
        Ok(answer.json()?["id"].as_str().context("no id")?.to_owned())
    };
    for index in 0..count {
        let east = f64::from(u32::try_from(index)?) / 10.0;
        let condition = match index % 4 {
            0 => json!({"type": "speed", "above": 100 + index}),
            1 => {
                let fence = json!({"type": "Feature", "geometry": {"type": "Point", "coordinates": [east, 40]},
                    "properties": {"name": "fence", "radius": 5_000}});
                json!({"type": "geofence", "when": "enter", "geofences": [post("/api/geofences", fence).await?]})
            }
            2 => json!({"type": "idle", "seconds": 600 + index}),
            _ => json!({"type": "battery", "below": index % 20}),
        };
        let body = json!({"name": format!("rule {index}"), "allDevices": true, "conditions": [condition]});
        post("/api/rules", body).await?;
    }
    Ok(())
}

/// Positions per second that one core tests.
fn look_up(bench: &mut Bench) -> Result<()> {
    let mut random = SmallRng::seed_from_u64(1);
    let count = bench.options.geofences();
    let fences = (0..count).map(|_| polygon(&mut random)).collect::<Result<Vec<Shape>>>()?;
    let built = Instant::now();
    let index = FenceIndex::new((0..).map(GeofenceId::from_i64).zip(&fences));
    let built = built.elapsed();
    let positions = (0..10_000).map(|_| {
        let (latitude, longitude) = (random.random_range(36.0..44.0), random.random_range(-10.0..4.0));
        position(longitude, latitude)
    });
    let positions = positions.collect::<Result<Vec<Position>>>()?;
    let (began, mut looked, mut inside) = (Instant::now(), 0_u64, 0_u64);
    while began.elapsed() < bench.options.duration() {
        for position in &positions {
            inside += u64::try_from(index.containing(*position).len())?;
        }
        looked += u64::try_from(positions.len())?;
    }
    let rate = number(looked) / began.elapsed().as_secs_f64();
    let what = format!("positions looked up in {count} geofences, each second on one core");
    bench.report.add(Topic::Rules, "no store", &what, format!("{rate:.0}"));
    let figure = format!("{:.2}", number(inside) / number(looked));
    bench.report.add(Topic::Rules, "no store", "geofences a position lies in, on average", figure);
    let figure = format!("{:.0} ms", built.as_secs_f64() * 1000.0);
    bench.report.add(Topic::Rules, "no store", "making the index", figure);
    Ok(())
}

fn position(longitude: f64, latitude: f64) -> Result<Position> {
    Ok(Position {
        latitude: Latitude::from_degrees(latitude)?,
        longitude: Longitude::from_degrees(longitude)?,
    })
}

/// A polygon of some kilometres, somewhere in Spain.
fn polygon(random: &mut SmallRng) -> Result<Shape> {
    let (latitude, longitude) = (random.random_range(36.0..44.0), random.random_range(-10.0..4.0));
    let size: f64 = random.random_range(0.01..0.1);
    let corner = |step: u32| {
        let angle = std::f64::consts::TAU * f64::from(step % CORNERS) / f64::from(CORNERS);
        position(longitude + size * angle.cos(), latitude + size * angle.sin())
    };
    let outline = (0..=CORNERS).map(corner).collect::<Result<Vec<Position>>>()?;
    Ok(Shape::Areas(vec![Area { outline, holes: Vec::new() }]))
}
