//! One account stores 50,000 locations that are tested by 300 rules against 50 circles and 99 polygons of 2,000
//! positions, while another account waits for an alert.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use perigee_core::time::{Clock as _, SystemClock, Timestamp};
use serde_json::{Value, json};

use super::geofences::{feature, ring};
use crate::stage::Stage;

const CIRCLES: usize = 50;
/// Polygons around every location; with the circles, about all positions that an account may have.
const POLYGONS: usize = 99;
/// Positions of a polygon, without the first one that is repeated at its end.
const POSITIONS: u32 = 1_999;
const RULES: usize = 300;
const DEVICES: usize = 50;
/// Locations of each device.
const LOCATIONS: usize = 1_000;
/// The longest that another account may wait for an alert.
const ALERT_WITHIN: Duration = Duration::from_secs(1);
/// Alerts of the other account that are timed, before the attack and during it.
const ALERTS: usize = 20;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let other = &stage.other;
    let rule =
        json!({"name": "Fast", "devices": [other.device], "conditions": [{"type": "speed", "above": 90}]});
    stage.call_as(&other.token, "POST /api/rules", &rule).await?;
    // A rule only evaluates locations dated after its creation. Times up to ten minutes ahead are not suspect.
    let start = SystemClock.now();
    let quiet = longest_alert_delay(stage, start, 0).await?;
    let devices = prepare(stage).await?;
    let mut bodies = Vec::new();
    for number in 0..LOCATIONS {
        bodies.push(json!({
            "dateTime": start.plus_millis(i64::try_from(number)? * 500).to_string(),
            "latitude": 42.0 + f64::from(u32::try_from(number % 2)?) * 3.0, "longitude": -8.0,
        }));
    }
    let body = Value::Array(bodies);
    for device in &devices {
        stage.call(&format!("POST /api/devices/{device}/locations"), &body).await?;
    }
    let during = longest_alert_delay(stage, start, ALERTS).await?;
    ensure!(during < ALERT_WITHIN, "the alert of another account took {} ms", during.as_millis());
    let (quiet, during) = (quiet.as_millis(), during.as_millis());
    Ok(format!(
        "{RULES} rules, {CIRCLES} circles, {POLYGONS} polygons, 50,000 locations: alert of another account after {quiet} ms, during the attack {during} ms"
    ))
}

/// Geofences, rules and devices of the attacker.
async fn prepare(stage: &Stage) -> Result<Vec<String>> {
    let mut fences = Vec::new();
    for number in 0..CIRCLES {
        let fence = json!({
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [-8.0, 42.0]},
            "properties": {"name": format!("fence {number}"), "radius": 50_000},
        });
        let made = stage.call("POST /api/geofences", &fence).await?;
        fences.push(made["id"].as_str().context("a geofence without an id")?.to_owned());
    }
    let ring = ring(POSITIONS, 5.0, 4.0);
    for number in 0..POLYGONS {
        let made = stage.call("POST /api/geofences", &feature(number, &ring)).await?;
        fences.push(made["id"].as_str().context("a geofence without an id")?.to_owned());
    }
    for number in 0..RULES {
        let condition = json!({"type": "geofence", "when": "outside", "geofences": fences});
        let rule = json!({
            "name": format!("rule {number}"), "allDevices": true, "conditions": [condition], "forSeconds": 86_400,
        });
        stage.call("POST /api/rules", &rule).await?;
    }
    let mut devices = Vec::new();
    for number in 0..DEVICES {
        let made = stage.call("POST /api/devices", &json!({"name": format!("device {number}")})).await?;
        devices.push(made["device"]["id"].as_str().context("a device without an id")?.to_owned());
    }
    Ok(devices)
}

/// The longest time from the answer to a submission of the other account until its alert is listed. `from` is the
/// number of alerts that it has already.
async fn longest_alert_delay(stage: &Stage, start: Timestamp, from: usize) -> Result<Duration> {
    let (token, device) = (&stage.other.token, &stage.other.device);
    let mut longest = Duration::ZERO;
    for number in from..from + ALERTS {
        for (second, speed) in [(0, 120), (6, 10)] {
            let after = i64::try_from(number)? * 12 + second;
            let body = json!({
                "dateTime": start.plus_seconds(after).to_string(),
                "latitude": 42.24, "longitude": -8.72, "speed": speed,
            });
            stage.call_as(token, &format!("POST /api/devices/{device}/locations"), &body).await?;
            let began = Instant::now();
            while speed > 100 && alerts(stage).await? <= number {
                ensure!(began.elapsed() < Duration::from_mins(1), "no alert within a minute");
            }
            longest = longest.max(began.elapsed());
        }
    }
    Ok(longest)
}

/// The number of alerts of the other account.
async fn alerts(stage: &Stage) -> Result<usize> {
    let line = format!("GET /api/devices/{}/alerts?limit=100", stage.other.device);
    let listed = stage.call_as(&stage.other.token, &line, &Value::Null).await?;
    Ok(listed["alerts"].as_array().map_or(0, Vec::len))
}
