//! Locations to write: one without readings, one with all of them, and random ones.

use std::collections::BTreeMap;

use perigee_core::locations::location::{
    Attribute, FixSource, Latitude, Location, Longitude, Milli, Readings, StoredLocation, Trust,
};
use perigee_core::time::Timestamp;
use proptest::option;
use proptest::prelude::*;

const NOON: &str = "2026-05-01T12:00:00Z";

pub(super) fn bare() -> StoredLocation {
    StoredLocation {
        location: Location {
            time: NOON.parse().unwrap(),
            latitude: Latitude::from_e7(1),
            longitude: Longitude::from_e7(-1_800_000_000),
            readings: Readings::default(),
        },
        received_at: NOON.parse().unwrap(),
        trust: Trust::default(),
        number: 1,
    }
}

pub(super) fn full() -> StoredLocation {
    let milli = |number: f64| Milli::from_f64(number).ok();
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    let attributes = [
        ("=cmd", Attribute::Text("tab\t, line\r\nfeed \u{1}\u{ffff} ]]> ⛵".to_owned())),
        ("count", Attribute::Integer(-9_007_199_254_740_993)),
        ("ratio", Attribute::Real(0.1)),
        ("tenth", Attribute::Real(5.0)),
        ("door", Attribute::Flag(false)),
    ];
    let readings = Readings {
        altitude: milli(-12.5),
        speed: milli(18.52),
        course: milli(271.125),
        accuracy: milli(5.0),
        valid: Some(true),
        satellites: Some(9),
        hdop: milli(0.9),
        battery: milli(87.0),
        fuel: milli(64.5),
        fuel2: milli(0.0),
        temperature: milli(-18.2),
        temperature2: milli(4.0),
        sensor_time1_s: milli(1.0),
        sensor_time2_s: milli(2.5),
        sensor_time3_s: milli(3.0),
        sensor_time4_s: milli(4.0),
        inactive_s: milli(600.0),
        rpm: milli(1500.0),
        mileage: milli(120_345.678),
        ignition: Some(false),
        inputs: Some(vec![true, false]),
        outputs: Some(Vec::new()),
        warnings: texts(&["=1+1", "\"a\",b"]),
        warning_texts: texts(&["Supply below 11 V"]),
        alerts: texts(&["SpeedLimit", ""]),
        alert_texts: texts(&["<b>&amp;</b>"]),
        has_critical_alert: Some(true),
        source: Some(FixSource::Doppler),
        attributes: attributes.map(|(name, value)| (name.to_owned(), value)).into(),
        accessories: Some(vec![BTreeMap::from([("name".to_owned(), "Hook".to_owned())]), BTreeMap::new()]),
    };
    StoredLocation {
        location: Location {
            time: NOON.parse::<Timestamp>().unwrap().plus_millis(125),
            latitude: Latitude::from_e7(421_234_567),
            longitude: Longitude::from_e7(-87_207_654),
            readings,
        },
        received_at: NOON.parse::<Timestamp>().unwrap().plus_seconds(3_600),
        trust: Trust { late: true, suspect: true },
        number: 2,
    }
}

fn milli(least: i64, most: i64) -> impl Strategy<Value = Option<Milli>> {
    option::of((least..=most).prop_map(Milli::from_thousandths))
}

/// Any character but NUL, which the API refuses.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![any::<char>(), prop::sample::select(&['"', ',', '<', '\u{ffff}', '\r'][..])],
        0..6,
    )
    .prop_map(|characters| characters.into_iter().filter(|character| *character != '\0').collect())
}

fn name() -> impl Strategy<Value = String> {
    text().prop_map(|text| format!("x{}", text.replace(char::is_control, "")))
}

fn texts() -> impl Strategy<Value = Option<Vec<String>>> {
    // The API accepts no control characters in lists.
    option::of(prop::collection::vec(text().prop_map(|text| text.replace(char::is_control, "")), 0..3))
}

fn attribute() -> impl Strategy<Value = Attribute> {
    prop_oneof![
        text().prop_map(Attribute::Text),
        any::<i64>().prop_map(Attribute::Integer),
        any::<f64>().prop_filter("finite", |real| real.is_finite()).prop_map(Attribute::Real),
        any::<bool>().prop_map(Attribute::Flag),
    ]
}

fn instant() -> impl Strategy<Value = Timestamp> {
    (Timestamp::MIN.as_millis()..=Timestamp::MAX.as_millis()).prop_map(Timestamp::from_millis)
}

fn any_readings() -> impl Strategy<Value = Readings> {
    const MOST: i64 = 1_000_000_000_000;
    let numbers = (
        milli(-MOST, MOST),
        milli(0, MOST),
        milli(0, 359_999),
        (milli(0, MOST), milli(0, MOST), milli(0, 100_000), milli(0, 100_000), milli(0, 100_000)),
        (milli(-273_150, MOST), milli(-273_150, MOST)),
        (milli(0, MOST), milli(0, MOST), milli(0, MOST), milli(0, MOST)),
        (milli(0, MOST), milli(0, MOST), milli(0, MOST)),
    );
    let flags = any::<(Option<bool>, Option<bool>, Option<bool>, Option<Vec<bool>>, Option<Vec<bool>>)>();
    let rest = (
        option::of(0..=1_000_u32),
        option::of(prop::sample::select(&FixSource::ALL[..])),
        prop::collection::btree_map(name(), attribute(), 0..4),
        option::of(prop::collection::vec(prop::collection::btree_map(name(), text(), 0..3), 0..3)),
    );
    (numbers, flags, (texts(), texts(), texts(), texts()), rest).prop_map(|(numbers, flags, texts, rest)| {
        let (altitude, speed, course, (accuracy, hdop, battery, fuel, fuel2), temperatures, sensors, others) =
            numbers;
        let short = |flags: Option<Vec<bool>>| flags.map(|flags| flags.into_iter().take(64).collect());
        Readings {
            altitude,
            speed,
            course,
            accuracy,
            hdop,
            battery,
            fuel,
            fuel2,
            temperature: temperatures.0,
            temperature2: temperatures.1,
            sensor_time1_s: sensors.0,
            sensor_time2_s: sensors.1,
            sensor_time3_s: sensors.2,
            sensor_time4_s: sensors.3,
            inactive_s: others.0,
            rpm: others.1,
            mileage: others.2,
            valid: flags.0,
            ignition: flags.1,
            has_critical_alert: flags.2,
            inputs: short(flags.3),
            outputs: short(flags.4),
            warnings: texts.0,
            warning_texts: texts.1,
            alerts: texts.2,
            alert_texts: texts.3,
            satellites: rest.0,
            source: rest.1,
            attributes: rest.2,
            accessories: rest.3,
        }
    })
}

pub(super) fn any_stored() -> impl Strategy<Value = StoredLocation> {
    let position = (-900_000_000..=900_000_000_i32, -1_800_000_000..1_800_000_000_i32);
    (instant(), position, any_readings(), instant(), any::<(bool, bool)>()).prop_map(
        |(time, (latitude, longitude), readings, received_at, (late, suspect))| StoredLocation {
            location: Location {
                time,
                latitude: Latitude::from_e7(latitude),
                longitude: Longitude::from_e7(longitude),
                readings,
            },
            received_at,
            trust: Trust { late, suspect },
            number: 1,
        },
    )
}
