//! Prepares the demo: devices, groups, some days of history, rules, recipients and alerts.

use anyhow::{Context, Result};
use perigee_core::time::Timestamp;
use serde_json::{Value, json};

use super::fleet::{DemoDevice, DemoFleet};
use super::server::DemoServer;
use crate::fleet::{Fix, Kind};

/// How many locations one request carries.
const BATCH: usize = 5_000;
/// The device with a small daily limit.
const LIMITED: u32 = 0;
const DAILY_EMAILS: u32 = 2;
/// Its alerts of today, more than its limit.
const TODAY: [&str; 5] = ["LowBattery", "HarshBraking", "SpeedLimit", "GPSNoSignal", "Vibration"];
/// How long after the start a vehicle reaches the geofence drawn on its way.
const AHEAD_MS: i64 = 60_000;
const MINUTE_MS: i64 = 60_000;
/// Expected interval of a device that is silent, in seconds.
const MISSED_AFTER_S: u32 = 30;

/// Creates the devices, rules, recipients, history and alerts of the demo through the API. Calls `device_done` after
/// each device whose history is sent.
pub async fn create_content(
    server: &dyn DemoServer,
    fleet: DemoFleet,
    device_done: impl Fn() + Send,
) -> Result<()> {
    let mut ids = Vec::new();
    for device in fleet.devices() {
        ids.push(make_device(server, &device).await?);
    }
    set_rules(server, fleet, &ids).await?;
    set_recipients(server).await?;
    for device in fleet.devices() {
        send_history(server, &device).await?;
        device_done();
    }
    raise_alerts(server, fleet).await
}

async fn make_device(server: &dyn DemoServer, device: &DemoDevice) -> Result<(Kind, String)> {
    let (kind, model, interval) = match device.kind() {
        Kind::Vehicle => ("vehicle", "Road tracker", 300),
        Kind::Vessel => ("vessel", "Marine terminal", 600),
        Kind::Hiker => ("hiker", "Satellite messenger", 3_600),
    };
    let mut body = json!({
        "name": device.name(),
        "identifier": device.identifier(),
        "model": model,
        "icon": kind,
        "tags": {"kind": kind},
        "expectedIntervalSeconds": interval,
    });
    // Sending the history counts as a report of the present. A short interval makes silent devices late soon after.
    if device.silent_from_ms().is_some() {
        body["expectedIntervalSeconds"] = json!(MISSED_AFTER_S);
    }
    if device.index() == LIMITED {
        body["limits"] = json!({"expires": false, "dailyEmailLimit": DAILY_EMAILS, "dailySmsLimit": 1});
    }
    let made = server.post(&["api", "devices"], &body).await?;
    Ok((device.kind(), id(&made["device"]["id"])?))
}

/// Groups by kind, and rules for each of them.
async fn set_rules(server: &dyn DemoServer, fleet: DemoFleet, ids: &[(Kind, String)]) -> Result<()> {
    let mut groups = Vec::new();
    for (kind, name) in [(Kind::Vehicle, "Vehicles"), (Kind::Vessel, "Vessels"), (Kind::Hiker, "Hikers")] {
        let members: Vec<&String> = ids.iter().filter(|(of, _)| *of == kind).map(|(_, id)| id).collect();
        let made = server.post(&["api", "groups"], &json!({"name": name, "devices": members})).await?;
        groups.push(id(&made["id"])?);
    }
    let [vehicles, vessels, hikers] = groups.as_slice() else { return Ok(()) };
    let fences = draw_areas(server, fleet).await?;
    let rules = [
        json!({"name": "Faster than 90 km/h", "groups": [vehicles], "coolDownSeconds": 120,
               "conditions": [{"type": "speed", "above": 90, "clear": 85}]}),
        json!({"name": "Came to a depot", "groups": [vehicles],
               "conditions": [{"type": "geofence", "when": "enter", "geofences": fences}]}),
        json!({"name": "At anchor", "groups": [vessels], "coolDownSeconds": 600,
               "conditions": [{"type": "noMovement", "seconds": 1800, "radius": 300}]}),
        json!({"name": "Not heard for too long", "groups": [hikers, vehicles],
               "conditions": [{"type": "offline"}]}),
    ];
    for rule in rules {
        server.post(&["api", "rules"], &rule).await?;
    }
    let sea = json!([[[-11.0, 41.5], [-8.6, 41.5], [-8.6, 44.2], [-11.0, 44.2], [-11.0, 41.5]]]);
    draw(server, json!({"type": "Polygon", "coordinates": sea}), json!({"name": "Off Galicia"})).await?;
    Ok(())
}

/// Circles that some vehicles reach a minute or more after the start, so that alerts appear while somebody watches.
async fn draw_areas(server: &dyn DemoServer, fleet: DemoFleet) -> Result<Vec<String>> {
    let mut fences = Vec::new();
    for device in fleet.devices().filter(|device| device.kind() == Kind::Vehicle) {
        let after_ms = fleet.now_ms + AHEAD_MS * i64::try_from(fences.len() + 1)?;
        let Some(mut live) = device.live() else { continue };
        let Some(there) = live.find(|fix| fix.time_ms >= after_ms) else { continue };
        if there.speed_dkmh < 200 {
            continue;
        }
        let centre = json!({"type": "Point", "coordinates": [degrees(there.longitude_e7), degrees(there.latitude_e7)]});
        let name = format!("Depot {}", fences.len() + 1);
        fences.push(draw(server, centre, json!({"name": name, "radius": 400})).await?);
        if fences.len() == 6 {
            break;
        }
    }
    if fences.is_empty() {
        let centre = json!({"type": "Point", "coordinates": [-8.72, 42.24]});
        fences.push(draw(server, centre, json!({"name": "Depot", "radius": 400})).await?);
    }
    Ok(fences)
}

async fn draw(server: &dyn DemoServer, geometry: Value, properties: Value) -> Result<String> {
    let feature = json!({"type": "Feature", "geometry": geometry, "properties": properties});
    let made = server.post(&["api", "geofences"], &feature).await?;
    id(made.get("id").unwrap_or(&made["properties"]["id"]))
}

/// Addresses at domains and numbers reserved for examples.
async fn set_recipients(server: &dyn DemoServer) -> Result<()> {
    let recipients = json!({"recipients": [
        {"channel": "email", "address": "control@example.com", "name": "Control room"},
        {"channel": "sms", "address": "+447700900123", "minimumSeverity": "critical"},
    ]});
    server.put(&["api", "account", "alertRouting"], &recipients).await
}

async fn send_history(server: &dyn DemoServer, device: &DemoDevice) -> Result<()> {
    let mut fixes = device.history().peekable();
    while fixes.peek().is_some() {
        let (mut lines, mut count) = (Vec::new(), 0);
        for fix in fixes.by_ref().take(BATCH) {
            write_line(&mut lines, &fix);
            count += 1;
        }
        server.submit(&device.identifier(), lines, count).await?;
    }
    Ok(())
}

fn write_line(lines: &mut Vec<u8>, fix: &Fix) {
    fix.write_json(lines);
    lines.push(b'\n');
}

/// Alerts from before the start: a used-up daily limit, and some others.
async fn raise_alerts(server: &dyn DemoServer, fleet: DemoFleet) -> Result<()> {
    for device in fleet.devices().filter(|device| device.history().next().is_some()) {
        let names: &[&str] = if device.index() == LIMITED {
            &TODAY
        } else if device.index() % 4 == 1 {
            &TODAY[usize::try_from(device.index())? % TODAY.len()..][..1]
        } else {
            continue;
        };
        let alerts: Vec<Value> = names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let ago_ms =
                    MINUTE_MS * (5 + 7 * i64::try_from(index).unwrap_or(0) + i64::from(device.index()));
                let at = Timestamp::from_millis(fleet.now_ms - ago_ms).to_string();
                json!({"dateTime": at, "alertName": name})
            })
            .collect();
        server.post(&["api", "devices", &device.identifier(), "alerts"], &json!(alerts)).await?;
    }
    Ok(())
}

fn id(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).context("the answer has no id")
}

fn degrees(e7: i32) -> f64 {
    f64::from(e7) / 1e7
}
