//! The bytes of each version never change: they are stored with their content, one location per line.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use perigee_core::locations::location::{
    Attribute, FixSource, Latitude, Location, Longitude, Milli, Readings, StoredLocation, Trust,
};
use perigee_core::time::Timestamp;
use serde_json::{Value, json};

use super::super::{pack_chunk, pack_points, unpack_chunk};
use crate::codec::Point;

const START: Timestamp = Timestamp::from_millis(1_780_000_000_000);

#[test]
fn version_1_stays_as_it_is() {
    for (name, locations) in cases() {
        let bytes = fs::read(path(name, "bin")).unwrap();
        let expected = fs::read_to_string(path(name, "ndjson")).unwrap();
        let unpacked = unpack_chunk(&bytes).unwrap();
        assert_eq!(lines(&unpacked), expected, "{name}");
        assert_eq!(unpacked, locations, "{name}");
        assert!(pack_chunk(&unpacked) == bytes, "{name} is packed into other bytes than it was");
        let points: Vec<Point> = unpacked.iter().map(Point::pack).collect();
        assert!(pack_points(&points) == Ok(bytes), "{name} is packed into other bytes from packed readings");
    }
}

#[test]
#[ignore = "writes the files of a version that is new"]
fn write_files() {
    for (name, locations) in cases() {
        fs::write(path(name, "bin"), pack_chunk(&locations)).unwrap();
        fs::write(path(name, "ndjson"), lines(&locations)).unwrap();
    }
}

fn path(name: &str, kind: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/codec/chunk/golden");
    folder.join(format!("v1-{name}.{kind}"))
}

fn cases() -> Vec<(&'static str, Vec<StoredLocation>)> {
    vec![
        ("empty", Vec::new()),
        ("one", track(1)),
        ("track", track(300)),
        ("rare", rare()),
        ("extremes", extremes()),
    ]
}

/// Typical data of a tracker: even steps, a rest, a gap, a leap, something late, a reading that comes and goes.
fn track(count: i64) -> Vec<StoredLocation> {
    let one = |step: i64| {
        let wave = (step * 7_919 % 1_009) - 500;
        let moved = if step < 150 { step } else { 150 + (step - 150) / 3 };
        let gap_s = if step > 200 { 3_600 } else { 0 };
        let time = START.plus_seconds(step * 10 + gap_s);
        let leap = if step == 40 { 9_000_000 } else { 0 };
        let degree = |start: i64, pace: i64| i32::try_from(start + moved * pace + wave / 20).unwrap();
        let late = step % 97 == 5;
        StoredLocation {
            location: Location {
                time,
                latitude: Latitude::from_e7(degree(525_200_000 + leap, 1_200)),
                longitude: Longitude::from_e7(degree(134_050_000, -830)),
                readings: Readings {
                    speed: Some(Milli::from_thousandths((500 + wave) / 10 * 100)),
                    course: (step % 11 != 3).then(|| Milli::from_thousandths((step * 3 % 360) * 1_000)),
                    valid: Some(true),
                    satellites: (step < 100).then(|| u32::try_from(8 + step % 4).unwrap()),
                    attributes: BTreeMap::from([("odometer".to_owned(), Attribute::Integer(70_000 + moved))]),
                    ..Readings::default()
                },
            },
            received_at: time.plus_millis(if late { 900_000 } else { 300 + wave / 4 }),
            trust: Trust { late, suspect: step == 40 },
            number: 5_000 + step * 100 + wave / 50,
        }
    };
    (0..count).map(one).collect()
}

/// Every field there is, in some of the locations.
fn rare() -> Vec<StoredLocation> {
    let texts = |text: &str| Some(vec![text.to_owned(), "ä".to_owned()]);
    let milli = |number: i64| Some(Milli::from_thousandths(number));
    let full = |step: i64| Readings {
        altitude: milli(-3_000 + step),
        speed: milli(12_500),
        course: milli(359_999),
        accuracy: milli(3_200),
        valid: Some(step % 2 == 0),
        satellites: Some(u32::MAX),
        hdop: milli(700),
        battery: milli(99_000 - step),
        fuel: milli(50_500),
        fuel2: milli(0),
        temperature: milli(-21_300),
        temperature2: milli(4_100),
        sensor_time1_s: milli(1),
        sensor_time2_s: None,
        sensor_time3_s: milli(3),
        sensor_time4_s: milli(step),
        inactive_s: milli(60_000),
        rpm: milli(2_100_000),
        mileage: milli(123_456_789),
        ignition: Some(true),
        inputs: Some(vec![true, false, step % 2 == 1]),
        outputs: Some(Vec::new()),
        warnings: texts("LowBattery"),
        warning_texts: texts("The battery is low."),
        alerts: texts("SOSButton"),
        alert_texts: texts("Help!"),
        has_critical_alert: Some(true),
        source: FixSource::ALL.get(usize::try_from(step % 4).unwrap()).copied(),
        attributes: BTreeMap::from([
            ("event".to_owned(), Attribute::Text(if step < 3 { "start" } else { "periodic" }.to_owned())),
            ("power".to_owned(), Attribute::Real(if step == 1 { 12.0 } else { 12.7 })),
            ("third".to_owned(), Attribute::Real(1.0 / 3.0)),
            ("armed".to_owned(), Attribute::Flag(step > 2)),
            ("mixed".to_owned(), if step == 2 { Attribute::Integer(-1) } else { Attribute::Flag(false) }),
        ]),
        accessories: Some(vec![BTreeMap::from([("tag".to_owned(), "T1".to_owned())]), BTreeMap::new()]),
    };
    let one = |step: i64| StoredLocation {
        location: Location {
            time: START.plus_seconds(step / 2 * 60),
            latitude: Latitude::from_e7(0),
            longitude: Longitude::from_e7(0),
            readings: if step % 5 == 4 { Readings::default() } else { full(step) },
        },
        received_at: START.plus_seconds(86_400),
        trust: Trust { late: true, suspect: false },
        number: 10 + step,
    };
    (0..9).map(one).collect()
}

/// The ends of every range.
fn extremes() -> Vec<StoredLocation> {
    let one = |time: Timestamp, latitude: i32, longitude: i32, number: i64, reading: i64| StoredLocation {
        location: Location {
            time,
            latitude: Latitude::from_e7(latitude),
            longitude: Longitude::from_e7(longitude),
            readings: Readings { altitude: Some(Milli::from_thousandths(reading)), ..Readings::default() },
        },
        received_at: if number < 0 { Timestamp::MAX } else { Timestamp::MIN },
        trust: Trust::default(),
        number,
    };
    vec![
        one(Timestamp::MIN, -900_000_000, -1_800_000_000, i64::MIN, i64::MAX),
        one(START, i32::MIN, i32::MAX, 0, i64::MIN),
        one(Timestamp::MAX, 900_000_000, 1_799_999_999, i64::MAX, 0),
    ]
}

fn lines(locations: &[StoredLocation]) -> String {
    locations.iter().map(line).collect()
}

fn line(stored: &StoredLocation) -> String {
    let mut line = json!({
        "number": stored.number,
        "received_at": stored.received_at,
        "late": stored.trust.late,
        "suspect": stored.trust.suspect,
        "location": stored.location,
    });
    // Absent values would be most of the line.
    if let Some(readings) = line.pointer_mut("/location/readings").and_then(Value::as_object_mut) {
        readings.retain(|_, value| !value.is_null());
    }
    format!("{line}\n")
}
