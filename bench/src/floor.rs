//! Measures one core without a server: parsing, unpacking, writing JSON.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use perigee_core::locations::location::{
    self, Latitude, Location, Longitude, Milli, Readings, StoredLocation, TimeRange, judge,
};
use perigee_core::time::Timestamp;
use perigee_server::http::format::{Selection, json};
use perigee_simulator::fleet::Fix;
use perigee_store::codec::{ChunkReader, pack_chunk};
use serde::Deserialize;

use crate::body::{Body, INTERVAL_MS, fixes};
use crate::load::number;

/// Locations of a day, one every ten seconds.
pub(crate) const DAY_POINTS: usize = 8640;
pub(crate) const CHUNK_POINTS: usize = 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is parsed is not used")]
struct Parsed<'b> {
    #[serde(borrow)]
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

/// Locations a second that `serde_json` reads into a struct.
pub(crate) fn parser_rate(points: usize) -> f64 {
    let body = Body::new(0, points, INTERVAL_MS).bytes;
    let seconds = best_s(|| {
        black_box(serde_json::from_slice::<Vec<Parsed<'_>>>(black_box(&body)).map_or(0, |all| all.len()));
    });
    number(points as u64) / seconds
}

/// Milliseconds to unpack a day of a device, and to write it as JSON.
pub(crate) fn day_ms() -> Result<(f64, f64)> {
    let day = fixes(0, DAY_POINTS, INTERVAL_MS).iter().map(stored).collect::<Result<Vec<_>>>()?;
    let chunks: Vec<Vec<u8>> = day.chunks(CHUNK_POINTS).map(pack_chunk).collect();
    let unpacked = best_s(|| {
        for chunk in &chunks {
            let rows = ChunkReader::open(black_box(chunk)).and_then(|chunk| chunk.rows(TimeRange::ALL));
            let Ok(mut rows) = rows else { return };
            while let Ok(Some(row)) = rows.next() {
                black_box(row);
            }
        }
    });
    let mut out = Vec::new();
    let written = best_s(|| {
        out.clear();
        for location in &day {
            json::write_location(&mut out, None, black_box(location), Selection::ALL);
        }
        black_box(&out);
    });
    Ok((unpacked * 1000.0, written * 1000.0))
}

/// A fix as the service stores it.
pub(crate) fn stored(fix: &Fix) -> Result<StoredLocation> {
    let tenths = |value: i32| Milli::from_f64(f64::from(value) / 10.0);
    let location = Location {
        time: Timestamp::from_millis(fix.time_ms),
        latitude: Latitude::from_degrees(f64::from(fix.latitude_e7) / 1e7)?,
        longitude: Longitude::from_degrees(f64::from(fix.longitude_e7) / 1e7)?,
        readings: Readings {
            altitude: Some(tenths(fix.altitude_dm)?),
            speed: Some(tenths(fix.speed_dkmh)?),
            course: Some(tenths(fix.course_ddeg)?),
            accuracy: Some(tenths(fix.accuracy_dm)?),
            satellites: Some(fix.satellites),
            ignition: fix.ignition,
            mileage: fix.mileage_m.map(Milli::from_thousandths),
            ..Readings::default()
        },
    };
    let received_at = location.time.plus_millis(1500);
    let trust = judge(&location::Fix::of(&location, 0), received_at);
    Ok(StoredLocation { location, received_at, trust, number: fix.time_ms / INTERVAL_MS })
}

/// The best of many runs in seconds, to exclude other load on the machine.
fn best_s(mut work: impl FnMut()) -> f64 {
    let (began, mut best) = (Instant::now(), f64::MAX);
    while began.elapsed() < Duration::from_millis(700) {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
