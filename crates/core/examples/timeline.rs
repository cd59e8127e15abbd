//! Prints the timeline of histories: each argument is a file with one location of the API per line. With `--time`, it
//! prints how many points per second were derived instead.

use std::fmt::Display;
use std::io;
use std::time::Instant;

use perigee_core::locations::location::{Fix, Latitude, Location, Longitude, Milli, Readings, Trust};
use perigee_core::timeline::{Segment, TimelinePoint, TimelineSettings, derive};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_timed = arguments.first().is_some_and(|first| first == "--time");
    if is_timed {
        arguments.remove(0);
    }
    for path in arguments {
        let mut points = read(&path)?;
        if is_timed {
            measure(&path, &points);
            continue;
        }
        points.sort_by(TimelinePoint::order);
        let segments = derive(points, TimelineSettings::default());
        println!("{}", json!({"file": path, "segments": segments.iter().map(written).collect::<Vec<_>>()}));
    }
    Ok(())
}

fn read(path: &str) -> io::Result<Vec<TimelinePoint>> {
    let text = std::fs::read_to_string(path)?;
    let locations = text.lines().map(location).collect::<Result<Vec<_>, _>>()?;
    Ok(locations
        .iter()
        .filter(|location| TimelinePoint::counts(&Fix::of(location, 0), Trust::default()))
        .map(TimelinePoint::of)
        .collect())
}

fn location(line: &str) -> io::Result<Location> {
    let value: Value = serde_json::from_str(line)?;
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    let reading = |name: &str| number(name).map(Milli::from_f64).transpose().map_err(invalid);
    let time = value.get("dateTime").and_then(Value::as_str).unwrap_or_default();
    Ok(Location {
        time: time.parse().map_err(invalid)?,
        latitude: Latitude::from_degrees(number("latitude").unwrap_or(f64::NAN)).map_err(invalid)?,
        longitude: Longitude::from_degrees(number("longitude").unwrap_or(f64::NAN)).map_err(invalid)?,
        readings: Readings {
            speed: reading("speed")?,
            accuracy: reading("accuracy")?,
            mileage: reading("mileage")?,
            ignition: value.get("ignition").and_then(Value::as_bool),
            ..Readings::default()
        },
    })
}

fn invalid(error: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn written(segment: &Segment) -> Value {
    json!({
        "kind": segment.kind.name(),
        "from": segment.from.to_string(),
        "to": segment.to.to_string(),
        "distance": segment.distance_m as f64 / 1_000.0,
        "distanceSource": segment.distance_source.name(),
        "movingSeconds": segment.moving_s,
        "standingSeconds": segment.standing_s,
        "idlingSeconds": segment.idling_s,
        "inferred": segment.inferred,
    })
}

/// Derives the same history, moved in time, until a million points were read.
#[expect(clippy::cast_precision_loss, reason = "for display")]
fn measure(path: &str, points: &[TimelinePoint]) {
    let mut points = points.to_vec();
    points.sort_by(TimelinePoint::order);
    points.dedup_by_key(|point| point.time);
    let rounds = (1_000_000 / points.len().max(1)).max(1);
    let (begin, mut segments) = (Instant::now(), 0);
    for _ in 0..rounds {
        segments += derive(points.iter().cloned(), TimelineSettings::default()).len();
    }
    let pace = (rounds * points.len()) as f64 / begin.elapsed().as_secs_f64() / 1e6;
    println!("{path}: {pace:.2} million points a second, {} segments", segments / rounds);
}
