//! Simulated fleets, imports and exports against a running server.

use serde_json::{Value, json};

use crate::client::send;
use crate::fleet::{World, written};

const LINES: &str = r#"{"dateTime":"2026-05-01T12:00:00Z","latitude":42.2406,"longitude":-8.7207,"speed":18.5}
{"dateTime":"2026-05-01T12:10:00Z","latitude":95,"longitude":-8.7533}
nonsense

{"dateTime":"2026-05-01T12:20:00Z","latitude":42.2391,"longitude":-8.7533}
"#;

#[test]
fn a_fleet_reports_and_repeats_itself() {
    let world = World::start();
    let line = "simulate --devices 6 --seconds 7200 --speedup max --seed 9 --start 2026-05-01T00:00:00Z";
    let refused = world.command(line).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("404"), "{refused:?}");
    let line = format!("{line} --create-devices");
    let first = world.answer(&line, 0);
    let (sent, accepted) = (first["sent"].as_u64().unwrap(), first["accepted"].as_u64().unwrap());
    assert!(accepted > 500 && first["rejected"] == 0, "{first}");
    assert_eq!(accepted + first["duplicates"].as_u64().unwrap(), sent);
    let again = world.answer(&line, 0);
    assert_eq!((&again["accepted"], &again["duplicates"]), (&json!(0), &json!(sent)));
    let stored: usize = (0..6).map(|index| world.count(&format!("sim-9-{index:05}"))).sum();
    assert_eq!(stored as u64, accepted);
}

#[test]
fn a_fleet_can_be_looked_at_without_a_server() {
    let world = World::start();
    let look = |seed| {
        let line = format!(
            "simulate --dry-run --devices 3 --seconds 600 --start 2026-05-01T00:00:00Z --seed {seed}"
        );
        world.command(&line).output().unwrap().stdout
    };
    assert_eq!(look(1), look(1));
    assert_ne!(look(1), look(2));
    let text = String::from_utf8(look(1)).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(first["location"]["latitude"].is_number() && first["device"].is_string(), "{first}");
}

#[test]
fn imports_report_what_was_taken_and_refused() {
    let world = World::start();
    world.device("star");
    let file = written(&world.path("track.ndjson"), LINES);
    let line = format!("import {file} --device star");
    let first = world.answer(&line, 1);
    assert_eq!(
        (&first["accepted"], &first["duplicates"], &first["refused"]),
        (&json!(2), &json!(0), &json!(2))
    );
    let lines: Vec<&Value> =
        first["reasons"].as_array().unwrap().iter().map(|reason| &reason["line"]).collect();
    assert_eq!(lines, [&json!(2), &json!(3)]);
    let again = world.answer(&line, 1);
    assert_eq!((&again["accepted"], &again["duplicates"]), (&json!(0), &json!(2)));
    let words = String::from_utf8(world.command(&line).output().unwrap().stdout).unwrap();
    assert!(words.contains("rejected    2") && words.contains("track.ndjson, line 2: "), "{words}");
    assert_eq!(world.count("star"), 2);
    assert!(!world.path("track.ndjson.perigee-import").exists());
}

#[test]
fn every_format_is_imported() {
    let world = World::start();
    let at = "2026-05-01T12:00:00Z";
    for (name, text) in [
        ("a.csv", format!("time,lat,lon\n{at},42.2406,-8.7207\n")),
        ("a.gpx", format!("<gpx><trk><trkseg><trkpt lat=\"42.2406\" lon=\"-8.7207\"><time>{at}</time></trkpt></trkseg></trk></gpx>")),
        ("a.kml", format!("<kml><Placemark><TimeStamp><when>{at}</when></TimeStamp><Point><coordinates>-8.7207,42.2406</coordinates></Point></Placemark></kml>")),
        ("a.geojson", json!({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"time": at}, "geometry": {"type": "Point", "coordinates": [-8.7207, 42.2406]}}]}).to_string()),
        ("a.json", json!([{"dateTime": at, "latitude": 42.2406, "longitude": -8.7207}]).to_string()),
    ] {
        let device = name.replace('.', "-");
        world.device(&device);
        let file = written(&world.path(name), &text);
        let done = world.answer(&format!("import {file} --device {device}"), 0);
        assert_eq!(done["accepted"], 1, "{name}: {done}");
        let last = world.call(&format!("GET /api/devices/{device}/lastLocation"), None, 200);
        assert_eq!(last["lastLocation"]["latitude"], 42.2406, "{name}");
        assert_eq!(last["lastLocation"]["dateTime"], at, "{name}");
    }
}

#[test]
fn an_export_is_imported_unchanged() {
    let world = World::start();
    world.device("star");
    world.device("twin");
    let file = written(&world.path("track.ndjson"), LINES);
    world.answer(&format!("import {file} --device star"), 1);
    let out = world.path("out.ndjson");
    let done = world.answer(&format!("export --device star -o {}", out.display()), 0);
    assert_eq!(done["bytes"].as_u64().unwrap(), std::fs::metadata(&out).unwrap().len());
    let done = world.answer(&format!("import {} --device twin", out.display()), 0);
    assert_eq!(done["accepted"], 2);
    let again = world.answer(&format!("import {} --device star", out.display()), 0);
    assert_eq!((&again["accepted"], &again["duplicates"]), (&json!(0), &json!(2)));
    let part =
        world.command("export --device star --from 2026-05-01T12:15:00Z --format ndjson").output().unwrap();
    assert_eq!(String::from_utf8(part.stdout).unwrap().lines().count(), 1);
    let missing = world.command("export --device nobody -o absent.json").output().unwrap();
    assert!(
        !missing.status.success() && String::from_utf8_lossy(&missing.stderr).contains("404"),
        "{missing:?}"
    );
}

#[test]
fn every_format_carries_every_field_there_and_back() {
    let world = World::start();
    world.device("star");
    let whole = json!({"dateTime": "2026-05-01T12:00:00.250Z", "latitude": 42.2406, "longitude": -8.7207,
        "altitude": -3.5, "speed": 18.52, "course": 271.5, "accuracy": 4.2, "valid": true, "satellites": 9,
        "hdop": 0.9, "battery": 87, "fuel": 64.5, "temperature": -18.2, "sensorTime1": 30, "inactiveSeconds": 5,
        "rpm": 1500, "mileage": 120_345.6, "ignition": false, "inputs": [true, false], "alerts": ["SOS"],
        "alertTexts": ["<Help> & \"soon\""], "hasCriticalAlert": true, "source": "gnss",
        "attributes": {"cargo": "fish", "hatch": 3, "sealed": true, "code": "007"},
        "accessoriesAttributes": [{"probe": "a;b"}]});
    world.call("POST /api/devices/star/locations", Some(&whole), 201);
    let read = |device: &str| {
        let mut answer = world.call(&format!("GET /api/devices/{device}/lastLocation"), None, 200);
        let mut location = answer["lastLocation"].take();
        location.as_object_mut().unwrap().remove("receivedAt");
        location
    };
    for format in ["json", "ndjson", "geojson", "csv", "gpx", "kml"] {
        let file = world.path(&format!("whole.{format}"));
        world.answer(&format!("export --device star -o {}", file.display()), 0);
        world.device(format);
        let done = world.answer(&format!("import {} --device {format}", file.display()), 0);
        assert_eq!(done["accepted"], 1, "{format}: {done}");
        assert_eq!(read(format), read("star"), "{format}");
    }
}

#[test]
fn stored_messages_are_decoded_again() {
    let world = World::start();
    let made = world.call("POST /api/gateways", Some(&json!({"feed": "osmand"})), 201);
    let address = made["url"].as_str().unwrap().strip_prefix(&world.server.url).unwrap();
    for second in 0..3 {
        let query = format!("id=boat&lat=42.5&lon=-8.25&timestamp={}", 1_767_225_600 + second);
        assert_eq!(send(&world.server.url, &format!("POST {address}?{query}"), None, None).status, 200);
    }
    let none = world.answer("reprocess --source osmand --result unparsable", 0);
    assert_eq!((&none["messages"], &none["results"]), (&json!(0), &json!({})));
    let still = world.answer("reprocess --source osmand", 0);
    assert_eq!(still["results"], json!({"unknownDevice": 3}));
    let refused = world.command("reprocess").output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("select messages by"), "{refused:?}");
    let late = world.answer("reprocess --all", 0);
    assert_eq!(late["messages"], 3);
    world.device("boat");
    let again = world.answer("reprocess --from 2020-01-01T00:00:00Z", 0);
    assert!(
        again["messages"].as_u64().unwrap() >= 3 && again["results"]["unknownDevice"].is_null(),
        "{again}"
    );
    assert_eq!(world.count("boat"), 3);
    let future = world.answer("reprocess --from 2999-01-01T00:00:00Z", 0);
    assert_eq!(future["messages"], 0);
}

#[test]
fn devices_are_imported_from_files() {
    let world = World::start();
    let table = written(&world.path("fleet.csv"), "identifier,name,tags.colour\nf1,One,red\nf2,Two,\n");
    let lines = written(&world.path("more.json"), r#"[{"identifier": "f3", "name": "Three"}]"#);
    let dry = world.answer(&format!("import-devices {table} {lines} --dry-run"), 0);
    assert_eq!((&dry["created"], &dry["new"]), (&json!(0), &json!(3)), "{dry}");
    let made = world.answer(&format!("import-devices {table} {lines}"), 0);
    assert_eq!((&made["created"], &made["invalid"]), (&json!(3), &json!(0)), "{made}");
    let again = world.answer(&format!("import-devices {table} {lines}"), 0);
    assert_eq!((&again["created"], &again["existing"]), (&json!(0), &json!(3)), "{again}");
    assert_eq!(world.count("f2"), 0, "the device is there");
    let wrong = written(&world.path("wrong.csv"), "identifier,name\nf4,Four\nf5,\n");
    let refused = world.answer(&format!("import-devices {wrong}"), 1);
    assert_eq!((&refused["created"], &refused["invalid"]), (&json!(0), &json!(1)), "{refused}");
    assert_eq!(refused["reasons"][0]["row"], 3);
    let words = String::from_utf8(world.command(&format!("import-devices {wrong}")).output().unwrap().stdout)
        .unwrap();
    assert!(words.contains("wrong.csv, row 3: ") && words.contains("nothing was created"), "{words}");
}
