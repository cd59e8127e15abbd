//! The timeline that a device must have: what the pure function of `core` gives for the locations that are stored.

use anyhow::{Context, Result, bail};
use perigee_bench::http::Connection;
use perigee_core::locations::location::{Fix, Latitude, Location, Longitude, Milli, Readings, Trust};
use perigee_core::timeline::{Position, Segment, TimelinePoint, TimelineSettings, derive};
use serde_json::{Value, json};

/// Number of stored locations of a device, and the segments that follow from them.
pub(crate) struct Expected {
    pub(crate) locations: usize,
    pub(crate) segments: Vec<Value>,
}

/// Reads the history of a device, and derives its timeline.
pub(crate) async fn expect(connection: &mut Connection, token: &str, device: &str) -> Result<Expected> {
    let line = format!("GET /api/devices/{device}/locations?format=ndjson");
    let answer = connection.call(&line, token, b"").await?;
    if answer.status != 200 {
        bail!("{line}: {}", answer.text());
    }
    let content = answer.content();
    let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let locations = lines.map(|line| location(&serde_json::from_slice(line)?)).collect::<Result<Vec<_>>>()?;
    let counts = |location: &&Location| TimelinePoint::counts(&Fix::of(location, 0), Trust::default());
    let mut points: Vec<_> = locations.iter().filter(counts).map(TimelinePoint::of).collect();
    points.sort_by(TimelinePoint::order);
    points.dedup_by_key(|point| point.time);
    let segments = derive(points, TimelineSettings::default());
    let count = segments.len();
    let written = segments.iter().enumerate().map(|(index, segment)| written(segment, index + 1 == count));
    Ok(Expected { locations: locations.len(), segments: written.collect() })
}

fn location(value: &Value) -> Result<Location> {
    let number = |name: &str| value[name].as_f64();
    let reading = |name: &str| number(name).map(Milli::from_f64).transpose();
    Ok(Location {
        time: value["dateTime"].as_str().context("a location without a time")?.parse()?,
        latitude: Latitude::from_degrees(number("latitude").context("no latitude")?)?,
        longitude: Longitude::from_degrees(number("longitude").context("no longitude")?)?,
        readings: Readings {
            speed: reading("speed")?,
            accuracy: reading("accuracy")?,
            mileage: reading("mileage")?,
            ignition: value["ignition"].as_bool(),
            ..Readings::default()
        },
    })
}

/// A segment with the members of the API that are derived.
fn written(segment: &Segment, is_open: bool) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "distances and speeds are small")]
    let thousandth = |units: i64| units as f64 / 1_000.0;
    let decimal = |number: Milli| thousandth(number.as_thousandths());
    let end = |(latitude, longitude): Position| json!({"latitude": f64::from(latitude.as_e7()) / 1e7, "longitude": f64::from(longitude.as_e7()) / 1e7});
    json!({
        "kind": segment.kind.name(),
        "from": segment.from.to_string(),
        "to": segment.to.to_string(),
        "open": is_open,
        "start": end(segment.start),
        "end": end(segment.end),
        "distance": thousandth(i64::try_from(segment.distance_m).unwrap_or(i64::MAX)),
        "distanceSource": segment.distance_source.name(),
        "movingSeconds": segment.moving_s,
        "standingSeconds": segment.standing_s,
        "idlingSeconds": segment.idling_s,
        "engineSeconds": segment.engine_s,
        "maxSpeed": segment.max_speed.map(decimal),
        "averageSpeed": segment.average_speed().map(decimal),
        "inferred": segment.inferred,
    })
}

/// Whether an answer has every member of the expected value, with numbers that are equal to the last digit that the API
/// has.
pub(crate) fn agrees(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(members), _) => members.iter().all(|(name, value)| agrees(value, &found[name])),
        (Value::Number(one), Value::Number(other)) => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-8,
            _ => one == other,
        },
        _ => expected == found,
    }
}
