//! Devices created in bulk and one by one, in an empty account and in one that has many already.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use perigee_bench::http::Connection;
use serde_json::{Value, json};

use crate::bench::{Bench, Engine};
use crate::report::Topic;

/// Devices of one request.
const AT_ONCE: usize = 5_000;
/// Devices that the account has when the second figures are taken.
const GROWN: usize = 100_000;
/// Devices created one by one for a figure.
const SINGLES: usize = 100;

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, 1).await?;
    let mut connection = Connection::open(&server.address).await?;
    let mut count = 0;
    let mut many = async |connection: &mut Connection| -> Result<f64> {
        let rows: Vec<Value> = (count..count + AT_ONCE)
            .map(|number| json!({"name": format!("Vessel {number}"), "identifier": format!("bulk-{number}")}))
            .collect();
        count += AT_ONCE;
        let body = json!(rows).to_string();
        let begun = Instant::now();
        let answer = connection.call("POST /api/bulk/devices", &server.token, body.as_bytes()).await?;
        let took = begun.elapsed();
        ensure!(answer.status == 201, "{} {}", answer.status, answer.text());
        Ok(rate(AT_ONCE, took))
    };
    let first = many(&mut connection).await?;
    let single_before = singles(&mut connection, &server.token, "first").await?;
    let mut last = first;
    for _ in 1..GROWN / AT_ONCE {
        last = many(&mut connection).await?;
    }
    let single_after = singles(&mut connection, &server.token, "last").await?;
    let name = engine.name();
    for (what, devices_per_s) in [("in an empty account", first), ("in an account of 100,000", last)] {
        bench.report.add_with_target(
            Topic::Devices,
            name,
            &format!("devices created by calls of 5,000, {what}"),
            format!("{devices_per_s:.0} devices/s"),
            ("at least 5,000", devices_per_s >= 5_000.0),
        );
    }
    let ratio = single_after.as_secs_f64() / single_before.as_secs_f64().max(f64::EPSILON);
    bench.report.add_with_target(
        Topic::Devices,
        name,
        "a device created by itself, in an account of 5,000 and of 100,000",
        format!("{:.1} ms and {:.1} ms", 1e3 * single_before.as_secs_f64(), 1e3 * single_after.as_secs_f64()),
        ("at most 1.5 times", ratio <= 1.5),
    );
    server.end()
}

fn rate(devices: usize, took: Duration) -> f64 {
    crate::load::number(u64::try_from(devices).unwrap_or(u64::MAX)) / took.as_secs_f64().max(f64::EPSILON)
}

/// The mean time of a call that creates one device.
async fn singles(connection: &mut Connection, token: &str, prefix: &str) -> Result<Duration> {
    let begun = Instant::now();
    for number in 0..SINGLES {
        let body = json!({"name": "Single", "identifier": format!("{prefix}-{number}")}).to_string();
        let answer = connection.call("POST /api/devices", token, body.as_bytes()).await?;
        ensure!(answer.status == 201, "{} {}", answer.status, answer.text());
    }
    Ok(begun.elapsed() / u32::try_from(SINGLES)?)
}
