//! Tests that the scanner accepts ordinary locations and gives exactly the same result as the slow path.

use proptest::prelude::*;

use super::*;
use crate::http::json::{Scanner, parse_strict};

/// The zone of times without an offset.
fn zone() -> Zone {
    "Europe/Madrid".parse().unwrap()
}

/// The result of the scanner for a whole text.
fn scanned(text: &str) -> Option<Location> {
    let mut scanner = Scanner::new(text);
    let location = scan_location(&mut scanner, &zone())?;
    scanner.is_at_end().then_some(location)
}

fn by_slow_path(text: &str) -> Option<Location> {
    read_location(&parse_strict(text.as_bytes()).ok()?, Pointer::root(), &zone()).ok()
}

/// The location as text: floats are compared as they are written, so that minus zero differs from zero.
fn shown(location: &Location) -> String {
    format!("{location:?}")
}

fn with(members: &str) -> String {
    format!(r#"{{"dateTime":"2026-05-01T12:00:00Z","latitude":42.1,"longitude":-8.7{members}}}"#)
}

#[test]
fn ordinary_locations_are_scanned() {
    for members in [
        "",
        r#","altitude":-12.5,"speed":18.52,"course":271.125,"accuracy":5,"valid":true,"satellites":9,"hdop":0.9"#,
        r#","battery":87,"fuel":64.5,"fuel2":0,"temperature":-18.2,"temperature2":-273.15,"sensorTime1":1"#,
        r#","sensorTime2":2.5,"sensorTime3":3,"sensorTime4":4,"inactiveSeconds":600,"rpm":1500,"mileage":120345.678"#,
        r#","ignition":false,"inputs":[true, false],"outputs":[],"warnings":["LowVoltage"],"warningTexts":["⛵"]"#,
        r#","alerts":["SpeedLimit", ""],"alertTexts":null,"hasCriticalAlert":true,"source":"doppler","milleage":3"#,
        r#","attributes":{"a":"text","b":5,"c":0.1,"d":false},"a":"other","gear":-2,"load":0.50"#,
        r#","course":360"#,
        r#","course":360.000"#,
        r#" , "speed" : 0.30000000000000004 , "course" : 359.9996 , "accuracy" : 1.123456789012345678901 "#,
    ] {
        let text = with(members);
        let location = scanned(&text).unwrap_or_else(|| panic!("{text} is ordinary"));
        assert_eq!(Some(shown(&location)), by_slow_path(&text).as_ref().map(shown), "{text}");
    }
}

#[test]
fn times_without_an_offset_are_scanned() {
    for time in ["2026-05-01T12:00:00", "2026-05-01T12:00", "2026-05-01", "2026-05-01T12:00Z"] {
        let text = format!(r#"{{"dateTime":"{time}","latitude":42.1,"longitude":-8.7}}"#);
        let location = scanned(&text).unwrap_or_else(|| panic!("{text} is ordinary"));
        assert_eq!(Some(location), by_slow_path(&text), "{text}");
    }
}

#[test]
fn other_locations_are_left_to_the_slow_path() {
    let many = (0..201).map(|number| format!(",\"a{number}\":1")).collect::<Vec<_>>().concat();
    for members in [
        r#","speed":-1"#,
        r#","speed":1e1"#,
        r#","speed":"1""#,
        r#","speed":1,"speed":1"#,
        r#","course":360.001"#,
        r#","satellites":9.0"#,
        r#","satellites":1001"#,
        r#","valid":1"#,
        r#","source":"gps""#,
        r#","battery":100.001"#,
        r#","temperature":-273.151"#,
        r#","x":{}"#,
        r#","x":null"#,
        r#","x":1,"x":1"#,
        r#","x":-0"#,
        r#","":1"#,
        r#","mileage":1,"milleage":2"#,
        r#","accessoriesAttributes":[{}]"#,
        r#","late":true"#,
        r#","alerts":[5]"#,
        r#","attributes":{"a":null}"#,
        r#","attributes":{"a":1,"a":1}"#,
        r#","x":"\u0041""#,
        r#","dateTime":null"#,
        "x",
        ",",
        r#","altitude":1000000000.001"#,
        &many,
    ] {
        assert_eq!(scanned(&with(members)), None, "{members}");
    }
    for text in ["", "{}", "[]", "5", r#"{"dateTime":"2026-05-01T12:00:00Z","latitude":1}"#] {
        assert_eq!(scanned(text), None, "{text}");
    }
}

fn names() -> Vec<&'static str> {
    let unusual = ["x", "gear", "Speed", "é", "", "a b", "x\u{7f}", "\\u0078", "lattitude"];
    Field::ALL.iter().map(|field| field.name()).chain([MILEAGE_ALIAS]).chain(unusual).collect()
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,4})?",
        2 => "-?(0|[1-9][0-9]{0,2})\\.[0-9]{5,20}",
        1 => "-?[0-9]{1,21}(\\.[0-9]{0,21})?([eE][+-]?[0-9]{1,3})?",
        1 => prop::sample::select(vec![
            "90", "-90", "180", "-180", "180.0000000", "89.99999995", "90.00000005", "179.99999995", "179.999999949",
            "-180.00000005", "0.00000005", "0.0005", "359.9995", "359.9994999", "360", "100", "100.0005", "-273.15",
            "-273.1504", "-0", "-0.0", "1000000000", "1000000000.0004", "9007199254740993", "1e2", "5.0",
        ]).prop_map(str::to_owned),
        1 => (-180.0..180.0_f64).prop_map(|degrees| degrees.to_string()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        6 => number(),
        2 => prop::sample::select(vec!["true", "false", "null", "\"gnss\"", "\"gps\"", "\"\"", "\"⛵\"", "\"a\\nb\"", "\"\u{85}\""])
            .prop_map(str::to_owned),
        1 => "\"[ -~é]{0,12}\"",
        2 => "\"20[0-9]{2}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,10})?(Z|[+-]0[0-9]:[0-5][0-9])?\"",
    ];
    let lists =
        prop::collection::vec(scalar.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(",")));
    let member = (prop::sample::select(names()), scalar.clone())
        .prop_map(|(name, value)| format!("\"{name}\":{value}"));
    let objects =
        prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(",")));
    prop_oneof![8 => scalar, 1 => lists, 1 => objects]
}

/// A member, mostly with a value of its type.
fn member() -> impl Strategy<Value = String> {
    let name = prop::sample::select(names());
    let fitting = (name.clone(), number(), any::<bool>()).prop_map(|(name, number, flag)| match name {
        "dateTime" | "x" => format!("\"{name}\":\"2026-05-01T12:00:00.25+02:00\""),
        "valid" | "ignition" | "hasCriticalAlert" => format!("\"{name}\":{flag}"),
        "inputs" | "outputs" => format!("\"{name}\":[{flag},true]"),
        "warnings" | "warningTexts" | "alerts" | "alertTexts" => format!("\"{name}\":[\"a\"]"),
        "attributes" => format!("\"{name}\":{{\"x\":{number},\"gear\":{flag}}}"),
        name => format!("\"{name}\":{number}"),
    });
    prop_oneof![3 => fitting, 1 => (name, value()).prop_map(|(name, value)| format!("\"{name}\":{value}"))]
}

fn any_item() -> impl Strategy<Value = String> {
    let position = (number(), number()).prop_map(|(latitude, longitude)| {
        format!(r#""dateTime":"2026-05-01T12:00:00Z","latitude":{latitude},"longitude":{longitude}"#)
    });
    let members = prop::collection::vec(member(), 0..6);
    let change = prop::option::weighted(0.3, (any::<prop::sample::Index>(), any::<char>()));
    (prop::option::weighted(0.9, position), members, change).prop_map(|(position, members, change)| {
        let members: Vec<String> = position.into_iter().chain(members).collect();
        let mut text = format!("{{{}}}", members.join(","));
        if let Some((index, letter)) = change {
            let mut letters: Vec<char> = text.chars().collect();
            let index = index.index(letters.len());
            letters[index] = letter;
            text = letters.into_iter().collect();
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn both_paths_agree(text in any_item()) {
        if let Some(location) = scanned(&text) {
            prop_assert_eq!(Some(shown(&location)), by_slow_path(&text).as_ref().map(shown), "{}", text);
        }
    }

    #[test]
    fn degrees_are_rounded_alike(latitude in number(), longitude in number()) {
        let text = format!(r#"{{"dateTime":"2026-05-01T12:00:00Z","latitude":{latitude},"longitude":{longitude}}}"#);
        if let Some(location) = scanned(&text) {
            prop_assert_eq!(Some(location), by_slow_path(&text), "{}", text);
        }
    }
}
