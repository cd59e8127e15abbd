//! Backups of a store in use, and their return.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::fleet::{World, written};
use crate::process::{Server, json as json_of, refusal};

#[test]
fn a_copy_of_a_running_store_comes_back() {
    let world = World::start();
    let data = world.folder.data();
    world.device("star");
    let track = "{\"dateTime\":\"2026-05-01T12:00:00Z\",\"latitude\":42.2406,\"longitude\":-8.7207}\n";
    let file = written(&world.path("track.ndjson"), track);
    world.answer(&format!("import {file} --device star"), 0);
    let copy = world.path("copy.db");
    // As left by an earlier backup that was killed.
    let leftover = world.path("earlier.db.4194304.part");
    std::fs::write(&leftover, b"SQLite format 3\0 and some pages").unwrap();
    let done = json_of(&data, &format!("backup {}", copy.display()));
    assert!(!leftover.exists(), "what a killed backup left is removed by the next");
    assert_eq!(done["bytes"].as_u64().unwrap(), std::fs::metadata(&copy).unwrap().len());
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let twice = refusal(&data, &format!("backup {}", copy.display()));
    assert!(twice.contains("already exists"), "{twice}");

    world.device("later");
    let running = refusal(&data, &format!("restore {}", copy.display()));
    assert!(running.contains("in use by another perigee serve (process "), "{running}");
    let World { folder, server, .. } = world;
    server.stop();
    let done = json_of(&data, &format!("restore {}", copy.display()));
    assert_eq!(done["pendingMigrations"], 0);
    let kept = std::path::PathBuf::from(done["kept"].as_str().unwrap());
    assert!(kept.is_file());

    let server = Server::start(&data);
    let key = json_of(&data, "key issue --email owner@localhost")["apiKey"].clone();
    let bearer = crate::client::token(&server.url, "owner@localhost", &key);
    let call = |path: &str| crate::client::send(&server.url, &format!("GET {path}"), Some(&bearer), None);
    assert_eq!(call("/api/devices/star/lastLocation").expect(200)["lastLocation"]["latitude"], 42.2406);
    assert_eq!(call("/api/devices/later").status, 404);
    server.stop();
    // The previous file is a store as well.
    json_of(&data, &format!("restore {}", kept.display()));
    let server = Server::start(&data);
    let key = json_of(&data, "key issue --email owner@localhost")["apiKey"].clone();
    let bearer = crate::client::token(&server.url, "owner@localhost", &key);
    crate::client::send(&server.url, "GET /api/devices/later", Some(&bearer), None).expect(200);
    server.stop();
    drop(folder);
}

#[test]
fn a_damaged_copy_is_refused() {
    let world = World::start();
    let data = world.folder.data();
    let copy = world.path("copy.db");
    json_of(&data, &format!("backup {}", copy.display()));
    let World { folder, server, .. } = world;
    server.stop();
    let beside = |name: &str| data.with_file_name(name);
    written(&beside("text.db"), "not a store at all, but a text that is long enough to be looked at");
    let mut torn = std::fs::read(&copy).unwrap();
    torn.truncate(torn.len() / 2);
    std::fs::write(beside("torn.db"), torn).unwrap();
    for name in ["text.db", "torn.db", "missing.db"] {
        let refused = refusal(&data, &format!("restore {}", beside(name).display()));
        assert!(refused.contains(name), "{refused}");
    }
    let parts = std::fs::read_dir(&data)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0);
    json_of(&data, "account list");
    drop(folder);
}

/// Flips a bit of a text in a file, as a bad disk would.
fn flip(path: &std::path::Path, text: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let offset =
        bytes.windows(text.len()).position(|part| part == text.as_bytes()).expect("the text is there");
    bytes[offset] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_bit_is_found_set_aside_and_reported() {
    const NOTE: &str = "in-a-packed-row-of-the-log";
    let world = World::start();
    let data = world.folder.data();
    let location = |second: u32, note: &str| {
        json!({"dateTime": format!("2026-05-01T12:00:{second:02}Z"), "latitude": 42.2, "longitude": -8.7,
               "attributes": {"note": note}})
    };
    world.device("star");
    world.call("POST /api/devices/star/locations", Some(&location(1, "whole")), 201);
    world.call("POST /api/devices/star/locations", Some(&location(2, NOTE)), 201);
    assert_eq!(json_of(&data, "verify")["damaged"], json!([]), "beside a running server");
    let copy = world.path("copy.db");
    json_of(&data, &format!("backup {}", copy.display()));
    flip(&copy, NOTE);
    let World { folder, server, .. } = world;
    let refused = refusal(&data, "repair");
    assert!(refused.contains("in use by another perigee serve"), "{refused}");
    server.stop();

    let refused = refusal(&data, &format!("restore {}", copy.display()));
    assert!(refused.contains("1 damaged rows") && refused.contains("location_log"), "{refused}");
    let done = json_of(&data, &format!("restore {} --allow-damaged", copy.display()));
    assert_eq!(done["damaged"][0]["table"], "location_log", "{done}");
    let again = data.with_file_name("again.db");
    let refused = refusal(&data, &format!("backup {}", again.display()));
    assert!(refused.contains("location_log") && refused.contains("perigee repair"), "{refused}");
    assert!(!again.exists(), "a damaged copy is not kept unless it is asked for");
    let output = crate::process::run(&data, "verify --json");
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let account = json_of(&data, "account list")["accounts"][0]["accountId"].clone();
    let damaged = &report["damaged"][0];
    assert_eq!((&damaged["account"], &damaged["count"]), (&account, &json!(1)), "{report}");

    // The service starts without the one row and says so.
    let server = Server::start(&data);
    let key = json_of(&data, "key issue --email owner@localhost")["apiKey"].clone();
    let bearer = crate::client::token(&server.url, "owner@localhost", &key);
    let call = |path: &str| crate::client::send(&server.url, &format!("GET {path}"), Some(&bearer), None);
    let kept = call("/api/devices/star/locations").expect(200);
    assert_eq!(kept["locations"].as_array().unwrap().len(), 1, "{kept}");
    call("/api/events?cursor=start").expect(200);
    let ready = call("/readyz").expect(200);
    assert_eq!((&ready["damagedRows"], &ready["quarantinedRows"]), (&json!(1), &json!(1)), "{ready}");
    let log = crate::process::log_text(&data);
    assert!(log.contains("damaged row of the store") && log.contains(account.as_str().unwrap()), "{log}");
    server.stop();
    assert_eq!(json_of(&data, "verify")["quarantined"], 1);
    assert_eq!(json_of(&data, "repair")["after"]["damaged"], json!([]));
    json_of(&data, &format!("backup {}", again.display()));

    // And once more where no server has looked before.
    json_of(&data, &format!("restore {} --allow-damaged", copy.display()));
    let repaired = json_of(&data, "repair");
    assert_eq!(repaired["setAside"][0]["account"], account, "{repaired}");
    assert_eq!(json_of(&data, "verify")["damaged"], json!([]));
    drop(folder);
}

#[test]
fn on_postgres_the_right_tool_is_named() {
    let folder = crate::process::Folder::new();
    for (line, tool) in [("backup x.db", "pg_dump"), ("restore x.db", "pg_restore")] {
        let refused = refusal(&folder.data(), &format!("{line} --database postgres://localhost/x"));
        assert!(refused.contains(tool), "{refused}");
    }
    assert_eq!(json!(folder.data().exists()), json!(false));
}
