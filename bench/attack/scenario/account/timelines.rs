//! One account makes timelines expensive: a device that never stands still, late locations at its beginning, merges that
//! leave no place to begin from, and settings that change all the time. Meanwhile another account waits for its timeline.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use perigee_core::time::{Clock as _, SystemClock, Timestamp};
use serde_json::{Value, json};

use crate::stage::Stage;

/// Locations of the device that never stands still, and of one body.
const LOCATIONS: i64 = 60_000;
const BODY: i64 = 5_000;
/// Rounds of late locations, merges and changed settings.
const ROUNDS: i64 = 40;
/// Pages of trips and timelines that are read in each round.
const READS: usize = 10;
/// How long another account may wait for its timeline.
const WITHIN: Duration = Duration::from_secs(20);
/// Times that the other account waits, before the attack and during it.
const WAITS: i64 = 3;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let start = SystemClock.now().plus_seconds(-30 * 86_400);
    let quiet = longest_wait(stage, start, 0).await?;
    let made = stage.call("POST /api/devices", &json!({"name": "restless"})).await?;
    let device = made["device"]["id"].as_str().context("a device without an id")?.to_owned();
    let submit = format!("POST /api/devices/{device}/locations");
    for first in (0..LOCATIONS).step_by(usize::try_from(BODY)?) {
        let body: Value = (first..first + BODY).map(|number| moving(start, number * 10)).collect();
        stage.call(&submit, &body).await?;
    }
    let mut during = Duration::ZERO;
    let settings = format!("PATCH /api/devices/{device}/timelineSettings");
    for round in 0..ROUNDS {
        // A second that has no location yet.
        stage.call(&submit, &json!([moving(start, round * 10 + 3)])).await?;
        stage.call(&settings, &json!({"leastStopSeconds": 60 + round})).await?;
        let trips = stage.call(&format!("GET /api/trips?device={device}&limit=1000"), &Value::Null).await?;
        let ids: Vec<&Value> =
            trips["trips"].as_array().into_iter().flatten().map(|trip| &trip["id"]).collect();
        if let [first, .., last] = ids[..] {
            // Refused if the trips are too far apart, or were merged meanwhile.
            let merge = json!({"segments": [first, last]}).to_string();
            let mut connection = stage.connect().await?;
            connection.call("POST /api/segments/merge", &stage.server.token, merge.as_bytes()).await?;
        }
        for _ in 0..READS {
            stage.call(&format!("GET /api/devices/{device}/timeline?place=true"), &Value::Null).await?;
        }
        if round % (ROUNDS / WAITS) == 0 {
            during = during.max(longest_wait(stage, start, 1 + round).await?);
        }
    }
    ensure!(during < WITHIN, "the timeline of another account took {} ms", during.as_millis());
    let (quiet, during) = (quiet.as_millis(), during.as_millis());
    Ok(format!(
        "{LOCATIONS} locations without a stop, {ROUNDS} late ones and changed settings: timeline of another account after {quiet} ms, during the attack {during} ms"
    ))
}

/// A location of a device that is under way for ever.
fn moving(start: Timestamp, second: i64) -> Value {
    let degrees = f64::from(i32::try_from(second % 1_000_000).unwrap_or(0)) * 0.000_1;
    json!({
        "dateTime": start.plus_seconds(second).to_string(),
        "latitude": 10.0 + degrees % 60.0, "longitude": -8.0, "speed": 40,
    })
}

/// The time from the answer to a submission of the other account until its timeline considers it.
async fn longest_wait(stage: &Stage, start: Timestamp, number: i64) -> Result<Duration> {
    let (token, device) = (&stage.other.token, &stage.other.device);
    let body = moving(start, number);
    stage.call_as(token, &format!("POST /api/devices/{device}/locations"), &body).await?;
    let (began, line) = (Instant::now(), format!("GET /api/devices/{device}/timeline?limit=1"));
    while stage.call_as(token, &line, &Value::Null).await?["pending"] == true {
        ensure!(began.elapsed() < Duration::from_mins(2), "no timeline within two minutes");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(began.elapsed())
}
