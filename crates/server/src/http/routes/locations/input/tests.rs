//! Tests of locations that are accepted, and of the problems of others.

use perigee_core::locations::location::Attribute;
use serde_json::json;

use super::*;

fn with(members: &Value) -> Value {
    let mut item = json!({"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.1, "longitude": -8.7});
    for (name, value) in members.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

fn read(members: &Value) -> Location {
    let item = with(members);
    read_location(&item, Pointer::root(), &Zone::utc()).unwrap_or_else(|error| panic!("{item}: {error:?}"))
}

fn refuses(item: &Value, code: &str, pointer: &str, detail: &str) {
    let error = read_location(item, Pointer::root().item(7), &Zone::utc()).unwrap_err();
    let found: Vec<_> = error.problems.iter().map(|p| (p.pointer.as_str(), p.detail.as_str())).collect();
    assert_eq!((error.code, found), (code, vec![(pointer, detail)]), "{item}");
}

#[test]
fn normalises_position_and_time() {
    let location = read(&json!({
        "dateTime": "2026-05-01T14:00:00.1239+02:00", "latitude": -41.122_061_23, "longitude": 180
    }));
    assert_eq!(location.time.to_string(), "2026-05-01T12:00:00.123Z");
    assert_eq!(location.latitude.as_e7(), -411_220_612);
    assert_eq!(location.longitude.as_e7(), -1_800_000_000);
    assert_eq!(location.readings, Readings::default());
}

#[test]
fn null_is_absent_and_what_answers_add_is_ignored() {
    let bare = read(&json!({}));
    for name in
        ["altitude", "inputs", "alerts", "source", "attributes", "accessoriesAttributes", "valid", "x"]
    {
        assert_eq!(read(&json!({ name: null })), bare, "{name}");
    }
    assert_eq!(read(&json!({"receivedAt": "2026-05-01T12:00:01Z", "late": true, "suspect": true})), bare);
    assert_eq!(read(&json!({"attributes": {}})), bare);
}

#[test]
fn accepts_the_limits_of_every_range() {
    let milli = |number: f64| Some(Milli::from_f64(number).unwrap());
    assert_eq!(read(&json!({"course": 0})).readings.course, milli(0.0));
    assert_eq!(read(&json!({"course": 359.999})).readings.course, milli(359.999));
    assert_eq!(read(&json!({"course": 359.9996})).readings.course, milli(0.0));
    assert_eq!(read(&json!({"course": 360})).readings.course, milli(0.0));
    assert_eq!(read(&json!({"battery": 100})).readings.battery, milli(100.0));
    assert_eq!(read(&json!({"temperature": -273.15})).readings.temperature, milli(-273.15));
    assert_eq!(read(&json!({"altitude": -430.5})).readings.altitude, milli(-430.5));
    assert_eq!(read(&json!({"mileage": 1e9})).readings.mileage, milli(1e9));
    assert_eq!(read(&json!({"milleage": 12.5})).readings.mileage, milli(12.5));
    assert_eq!(read(&json!({"milleage": 12.5, "mileage": 12.5})).readings.mileage, milli(12.5));
    assert_eq!(read(&json!({"satellites": 0})).readings.satellites, Some(0));
    assert_eq!(read(&json!({"satellites": 9.0})).readings.satellites, Some(9));
    assert_eq!(read(&json!({"inputs": []})).readings.inputs, Some(vec![]));
}

#[test]
fn unknown_members_become_attributes() {
    let location = read(&json!({
        "operator": "Ana", "gear": 3, "load": 0.5, "towing": false, "huge": u64::MAX,
        "attributes": {"gear": 4, "x": "y"}
    }));
    let expect = [
        ("gear", Attribute::Integer(4)),
        ("huge", Attribute::Real(18_446_744_073_709_551_615.0)),
        ("load", Attribute::Real(0.5)),
        ("operator", Attribute::Text("Ana".to_owned())),
        ("towing", Attribute::Flag(false)),
        ("x", Attribute::Text("y".to_owned())),
    ];
    let expect: BTreeMap<_, _> = expect.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(location.readings.attributes, expect);
}

#[test]
fn refuses_with_a_pointer() {
    let bad = |members: &Value, member: &str, rest: &str| {
        let pointer = format!("/7/{member}");
        let name = member.split('/').next().unwrap();
        refuses(&with(members), "invalid-location", &pointer, &format!("\"{name}\" {rest}"));
    };
    bad(&json!({"latitude": 90.000_000_1}), "latitude", "must be between -90 and 90, not 90.0000001.");
    bad(&json!({"latitude": null}), "latitude", "is required and must not be null.");
    bad(&json!({"longitude": -180.1}), "longitude", "must be between -180 and 180, not -180.1.");
    bad(&json!({"longitude": "8"}), "longitude", "must be a number, not a string.");
    let time = "must be a date and time such as \"2026-05-01T12:00:00Z\".";
    for text in ["2026-05", "2026-02-30T00:00:00Z", "2026-05-01T12", "", "now"] {
        bad(&json!({"dateTime": text}), "dateTime", time);
    }
    bad(&json!({"dateTime": 1_777_636_800}), "dateTime", "must be a string, not a number.");
    bad(&json!({"course": 360.1}), "course", "must be between 0 and 360, not 360.1.");
    bad(&json!({"course": -0.1}), "course", "must be between 0 and 360, not -0.1.");
    for name in ["battery", "fuel", "fuel2"] {
        bad(&json!({ name: 100.5 }), name, "must be between 0 and 100, not 100.5.");
        bad(&json!({ name: -1 }), name, "must be between 0 and 100, not -1.");
    }
    for name in
        ["speed", "accuracy", "hdop", "sensorTime1", "sensorTime4", "inactiveSeconds", "rpm", "mileage"]
    {
        bad(&json!({ name: -1 }), name, "must be between 0 and 1000000000, not -1.");
        bad(&json!({ name: 1.1e9 }), name, "must be between 0 and 1000000000, not 1100000000.");
    }
    bad(&json!({"temperature2": -274}), "temperature2", "must be between -273.15 and 1000000000, not -274.");
    bad(&json!({"satellites": 1.5}), "satellites", "must be a whole number, not 1.5.");
    bad(&json!({"satellites": 1001}), "satellites", "must be a whole number between 0 and 1000, not 1001.");
    bad(&json!({"valid": 1}), "valid", "must be true or false, not a number.");
    bad(&json!({"inputs": true}), "inputs", "must be an array, not a boolean.");
    bad(&json!({"outputs": vec![true; 65]}), "outputs", "must have 0 to 64 items; it has 65.");
    bad(
        &json!({"milleage": 1, "mileage": 2}),
        "milleage",
        "is another spelling of \"mileage\" and must have the same value; send only one of them.",
    );
    bad(&json!({"attributes": []}), "attributes", "must be an object, not an array.");
    bad(
        &json!({"source": "gps"}),
        "source",
        "must be one of \"gnss\", \"network\", \"doppler\", \"manual\", not \"gps\".",
    );
}

#[test]
fn refuses_inner_items_with_their_pointer() {
    let bad = |members: &Value, pointer: &str, detail: &str| {
        refuses(&with(members), "invalid-location", &format!("/7/{pointer}"), detail);
    };
    bad(
        &json!({"inputs": [true, 0]}),
        "inputs/1",
        "Item 1 of \"inputs\" must be true or false, not a number.",
    );
    bad(&json!({"alerts": [5]}), "alerts/0", "Item 0 of \"alerts\" must be a string, not a number.");
    let long = "x".repeat(1_001);
    bad(
        &json!({"warningTexts": [long.clone()]}),
        "warningTexts/0",
        "Item 0 of \"warningTexts\" must have at most 1000 characters; it has 1001.",
    );
    bad(
        &json!({"attributes": {"a": null}}),
        "attributes/a",
        "\"a\" must be a string, a number or a boolean.",
    );
    bad(
        &json!({"attributes": {"a": long}}),
        "attributes/a",
        "\"a\" must have at most 1000 characters; it has 1001.",
    );
    bad(
        &json!({"accessoriesAttributes": [{}, {"a": 1}]}),
        "accessoriesAttributes/1/a",
        "\"a\" must be a string.",
    );
    bad(
        &json!({"accessoriesAttributes": ["a"]}),
        "accessoriesAttributes/0",
        "Item 0 of \"accessoriesAttributes\" must be an object, not a string.",
    );
    let many: serde_json::Map<_, _> = (0..201).map(|n| (format!("a{n}"), json!(n))).collect();
    bad(
        &Value::Object(many),
        "attributes",
        "\"attributes\" must have at most 200 members, unknown ones included.",
    );
}

#[test]
fn unknown_arrays_and_objects_have_a_code_of_their_own() {
    for value in [json!({"a": 1}), json!([1])] {
        refuses(
            &with(&json!({ "extra": value })),
            "unknown-member",
            "/7/extra",
            "\"extra\" is not a known member. As an attribute, it must be a string, a number or a boolean.",
        );
    }
    refuses(
        &json!(5),
        "invalid-location",
        "/7",
        "A location must be a JSON object with \"dateTime\", \"latitude\" and \"longitude\".",
    );
}
