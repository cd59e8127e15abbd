//! Templates decode as described, and invalid ones are refused.

use serde_json::{Value as Json, json};

use super::Template;
use crate::decoded::DecodeError;
use crate::value::Value;

fn apply(setting: &Json, payload: &[u8]) -> (Vec<crate::Report>, Option<DecodeError>) {
    Template::parse(setting).unwrap().apply(payload)
}

#[test]
fn fields_are_read() {
    let setting = json!({"name": "collar", "endian": "little", "fields": [
        {"field": "time", "offset": 0, "width": 4, "endian": "big"},
        {"field": "latitude", "offset": 4, "width": 4, "signed": true, "scale": 1e-7},
        {"field": "longitude", "offset": 8, "width": 4, "signed": true, "scale": 1e-7},
        {"field": "batteryLevel", "offset": 12, "mask": "0x7f"},
        {"field": "alarm", "value": "sos", "when": {"offset": 12, "bit": 7, "equals": 1}},
        {"field": "temp1", "offset": 13, "signed": true, "scale": 0.5, "add": -10, "none": -128},
        {"field": "in1", "offset": 14, "bit": 0, "type": "flag"},
        {"field": "depth", "offset": 15, "width": 4, "type": "float", "optional": true},
        {"field": "rest", "offset": -1, "type": "hex"},
    ]});
    let mut payload = 1_700_000_000_u32.to_be_bytes().to_vec();
    payload.extend((-411_220_600_i32).to_le_bytes());
    payload.extend(1_714_159_200_i32.to_le_bytes());
    payload.extend([0x80 + 55, 0xf0, 1]);
    let (reports, error) = apply(&setting, &payload);
    assert_eq!((reports.len(), error), (1, None));
    let report = &reports[0];
    assert_eq!(report.time.unwrap().as_seconds(), 1_700_000_000);
    let position = report.position.unwrap();
    assert!((position.latitude + 41.12206).abs() < 1e-9 && (position.longitude - 171.41592).abs() < 1e-9);
    assert_eq!(report.get("batteryLevel"), Some(&Value::Integer(55)));
    assert_eq!(report.get("temp1"), Some(&Value::Real(-18.0)));
    assert_eq!(report.alarms, ["sos"]);
    assert_eq!(report.inputs.get(1), Some(true));
    assert_eq!(report.get("rest"), Some(&Value::text("01")));
    payload[12] = 55;
    payload[13] = 0x80;
    payload.extend(1.5_f32.to_le_bytes());
    let report = &apply(&setting, &payload).0[0];
    assert_eq!(
        (report.alarms.len(), report.get("temp1"), report.get("depth")),
        (0, None, Some(&Value::Real(1.5)))
    );
}

#[test]
fn records_repeat() {
    let setting = json!({"start": 1, "record": 2, "fields": [{"field": "level", "offset": 0, "width": 2}]});
    let (reports, error) = apply(&setting, &[9, 0, 1, 0, 2, 3]);
    assert_eq!(
        reports.iter().map(|report| report.get("level").cloned()).collect::<Vec<_>>(),
        [Some(Value::Integer(1)), Some(Value::Integer(2))]
    );
    assert_eq!(error, Some(DecodeError::Short));
    assert_eq!(apply(&setting, &[9]).1, Some(DecodeError::Short));
}

#[test]
fn a_short_payload_keeps_what_it_has() {
    let setting = json!({"fields": [{"field": "a", "offset": 0}, {"field": "b", "offset": 5}]});
    let (reports, error) = apply(&setting, &[7]);
    assert_eq!((reports[0].get("a"), error), (Some(&Value::Integer(7)), Some(DecodeError::Short)));
}

#[test]
fn wrong_settings_are_reported() {
    let check = |setting: Json, expect: &str| {
        assert_eq!(Template::parse(&setting).unwrap_err().to_string(), expect);
    };
    check(json!([]), "it must be an object");
    check(json!({}), "/fields must have at least one field");
    check(json!({"fields": [{"offset": 1}]}), "/fields/0/field is missing");
    check(json!({"fields": [{"field": "a"}]}), "/fields/0/offset is missing");
    check(
        json!({"fields": [{"field": "a", "offset": 0, "width": 9}]}),
        "/fields/0/width must be a whole number from 1 to 8",
    );
    check(json!({"endian": "middle", "fields": []}), "/endian must be one of big, little");
    check(
        json!({"fields": [{"field": "a", "offset": 0, "when": {"offset": 0}}]}),
        "/fields/0/when/equals is required: give exactly one of \"equals\", \"notEquals\", \"atLeast\" and \"atMost\"",
    );
    check(
        json!({"fields": [{"field": "a", "offset": 0, "mask": 0}]}),
        "/fields/0/mask must have at least one bit",
    );
    let unknown = Template::parse(&json!({"fields": [{"field": "a", "offset": 0, "sclae": 2}]})).unwrap_err();
    assert!(
        unknown.to_string().starts_with("/fields/0/sclae is not known; the known members are "),
        "{unknown}"
    );
}
