//! Measures how fast locations are read, compared with the JSON parser alone. Run it when you change how they are read:
//! `cargo test --release -p perigee-server --lib -- --ignored --nocapture how_fast`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::*;
use crate::http::submission::{ItemKind, Layout, ignore_range};

static KIND: ItemKind<Location> = ItemKind {
    one: "location",
    many: "locations",
    most: Location::BATCH_MAX,
    beside: ignore_range,
    validate: read_location,
    scan: scan_location,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is parsed is not used")]
struct Parsed<'b> {
    date_time: &'b str,
    latitude: f64,
    longitude: f64,
    altitude: f64,
    speed: f64,
    course: f64,
    accuracy: f64,
    satellites: u32,
    ignition: bool,
    mileage: f64,
}

fn body(count: usize) -> String {
    let item = |index: usize| {
        let (minute, second) = (index / 60 % 60, index % 60);
        format!(
            "{{\"dateTime\":\"2026-05-01T12:{minute:02}:{second:02}Z\",\"latitude\":42.24{index:05},\
             \"longitude\":-8.72{index:05},\"altitude\":12.3,\"speed\":18.5,\"course\":271.1,\"accuracy\":4.5,\
             \"satellites\":9,\"ignition\":true,\"mileage\":120345.678}}"
        )
    };
    format!("[{}]", (0..count).map(item).collect::<Vec<_>>().join(","))
}

/// Prints the nanoseconds per location and the microseconds for all of them.
fn measure(name: &str, count: u32, read: impl Fn() -> usize) {
    let (mut rounds, began) = (0, Instant::now());
    while began.elapsed() < Duration::from_millis(500) {
        assert_eq!(black_box(read()), count as usize);
        rounds += 1;
    }
    let each = began.elapsed() / rounds;
    println!("{count:>6} {name:<10} {:>6} ns each, {:>6} us", (each / count).as_nanos(), each.as_micros());
}

#[test]
#[ignore = "a measurement: it cannot fail"]
fn how_fast() {
    for count in [1, 100, 1_000, 10_000] {
        let body = body(count as usize);
        let bytes = body.as_bytes();
        measure("serde_json", count, || serde_json::from_slice::<Vec<Parsed<'_>>>(bytes).unwrap().len());
        measure("fast path", count, || match KIND.read(bytes, Layout::Document, &Zone::utc()) {
            Ok(crate::http::submission::BodyContent::Store(Ok(batch))) => batch.good.len(),
            _ => 0,
        });
        measure("slow path", count, || match KIND.read_document(bytes, &Zone::utc()) {
            Ok(crate::http::submission::BodyContent::Store(Ok(batch))) => batch.good.len(),
            _ => 0,
        });
    }
}
