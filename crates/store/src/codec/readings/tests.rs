//! Tests that every field is read back, that the bytes of version 1 never change, and that any bytes are refused
//! without a panic.

use std::collections::BTreeMap;

use perigee_core::locations::location::{Attribute, FixSource, Milli};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use super::*;

fn milli() -> impl Strategy<Value = Option<Milli>> {
    option::of(any::<i64>().prop_map(Milli::from_thousandths))
}

fn texts() -> impl Strategy<Value = Option<Vec<String>>> {
    option::of(vec(".{0,12}", 0..4))
}

fn bits() -> impl Strategy<Value = Option<Vec<bool>>> {
    option::of(vec(any::<bool>(), 0..20))
}

fn attribute_value() -> impl Strategy<Value = Attribute> {
    prop_oneof![
        ".{0,12}".prop_map(Attribute::Text),
        any::<i64>().prop_map(Attribute::Integer),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Attribute::Real),
        any::<bool>().prop_map(Attribute::Flag),
    ]
}

prop_compose! {
    fn measures()(
        altitude in milli(), speed in milli(), course in milli(), accuracy in milli(), hdop in milli(),
        battery in milli(), fuel in milli(), fuel2 in milli(), temperature in milli(), temperature2 in milli(),
        first in milli(), second in milli(),
    ) -> Readings {
        Readings {
            altitude, speed, course, accuracy, hdop, battery, fuel, fuel2, temperature, temperature2,
            sensor_time1_s: first, sensor_time3_s: second, sensor_time4_s: first,
            ..Readings::default()
        }
    }
}

prop_compose! {
    pub(in crate::codec) fn readings()(
        measures in measures(),
        (inactive_s, rpm, mileage) in (milli(), milli(), milli()),
        (valid, ignition, has_critical_alert) in any::<(Option<bool>, Option<bool>, Option<bool>)>(),
        satellites in any::<Option<u32>>(),
        (inputs, outputs) in (bits(), bits()),
        (warnings, warning_texts, alerts, alert_texts) in (texts(), texts(), texts(), texts()),
        source in option::of(prop::sample::select(FixSource::ALL.to_vec())),
        attributes in btree_map(".{0,6}", attribute_value(), 0..5),
        accessories in option::of(vec(btree_map(".{0,6}", ".{0,6}", 0..3), 0..3)),
    ) -> Readings {
        Readings {
            inactive_s, rpm, mileage, valid, ignition, has_critical_alert, satellites, inputs, outputs,
            warnings, warning_texts, alerts, alert_texts, source, attributes, accessories,
            ..measures
        }
    }
}

proptest! {
    #[test]
    fn every_field_comes_back(readings in readings()) {
        let packed = pack_readings(&readings);
        prop_assert_eq!(unpack_readings(&packed), Ok(readings));
    }

    #[test]
    fn any_bytes_are_refused_or_canonical(bytes in vec(any::<u8>(), 0..64)) {
        if let Ok(readings) = unpack_readings(&bytes) {
            prop_assert_eq!(pack_readings(&readings), bytes);
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_canonical(readings in readings(), offset: prop::sample::Index, flip: u8) {
        let mut bytes = pack_readings(&readings);
        let offset = offset.index(bytes.len());
        bytes[offset] ^= flip;
        if let Ok(readings) = unpack_readings(&bytes) {
            prop_assert_eq!(pack_readings(&readings), bytes);
        }
    }

    #[test]
    fn cut_bytes_are_refused(readings in readings(), offset: prop::sample::Index) {
        let bytes = pack_readings(&readings);
        let cut = offset.index(bytes.len());
        prop_assert!(unpack_readings(&bytes[..cut]).is_err());
    }
}

#[test]
fn version_1_stays_as_it_is() {
    let check = |readings: Readings, golden: &[u8]| {
        assert_eq!(pack_readings(&readings), golden);
        assert_eq!(unpack_readings(golden), Ok(readings));
    };
    check(Readings::default(), &[1, 0]);
    let ordinary = Readings {
        speed: Some(Milli::from_thousandths(12_500)),
        course: Some(Milli::from_thousandths(0)),
        altitude: Some(Milli::from_thousandths(-3_000)),
        valid: Some(true),
        satellites: Some(9),
        ..Readings::default()
    };
    check(ordinary, &[1, 0x3f, 0xa8, 0xc3, 0x01, 0, 0xef, 0x2e, 9]);
    let rare = Readings {
        source: Some(FixSource::Doppler),
        attributes: BTreeMap::from([
            ("a".to_owned(), Attribute::Text("é".to_owned())),
            ("b".to_owned(), Attribute::Integer(-1)),
            ("c".to_owned(), Attribute::Real(0.5)),
            ("d".to_owned(), Attribute::Flag(true)),
        ]),
        inputs: Some(vec![true, false, true, false, false, false, false, false, true]),
        alerts: Some(vec!["SOSButton".to_owned()]),
        has_critical_alert: Some(false),
        accessories: Some(vec![BTreeMap::from([("k".to_owned(), "v".to_owned())])]),
        ..Readings::default()
    };
    let golden = [
        &[1, 0x80, 0xe0, 0x81, 0x80, 0x15, 2][..],
        &[4, 1, b'a', 0, 2, 0xc3, 0xa9, 1, b'b', 1, 1, 1, b'c', 2, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 1, b'd', 4],
        &[9, 0b101, 1],
        &[1, 9],
        b"SOSButton",
        &[1, 1, 1, b'k', 1, b'v'],
    ]
    .concat();
    check(rare, &golden);
}

#[test]
fn equal_readings_have_equal_bytes() {
    let with = |number: f64| Readings {
        attributes: BTreeMap::from([("x".to_owned(), Attribute::Real(number))]),
        ..Readings::default()
    };
    assert_eq!(pack_readings(&with(0.0)), pack_readings(&with(-0.0)));
    assert_eq!(pack_readings(&with(f64::NAN)), pack_readings(&Readings::default()));
}

#[test]
fn says_which_version_it_does_not_know() {
    assert_eq!(unpack_readings(&[2, 0]), Err(CodecError::Version(2)));
    assert_eq!(unpack_readings(&[]), Err(CodecError::Short));
    assert_eq!(unpack_readings(&[1, 0, 0]), Err(CodecError::Long));
    assert_eq!(unpack_readings(&[1, 0x10]), Err(CodecError::Malformed));
}
