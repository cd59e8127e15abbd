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
    let done = json_of(&data, &format!("backup {}", copy.display()));
    assert_eq!(done["bytes"].as_u64().unwrap(), std::fs::metadata(&copy).unwrap().len());
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let twice = refusal(&data, &format!("backup {}", copy.display()));
    assert!(twice.contains("is there already"), "{twice}");

    world.device("later");
    let running = refusal(&data, &format!("restore {}", copy.display()));
    assert!(running.contains("in use") || running.contains("another"), "{running}");
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
    // What was there is a store as well.
    json_of(&data, &format!("restore {}", kept.display()));
    let server = Server::start(&data);
    let key = json_of(&data, "key issue --email owner@localhost")["apiKey"].clone();
    let bearer = crate::client::token(&server.url, "owner@localhost", &key);
    crate::client::send(&server.url, "GET /api/devices/later", Some(&bearer), None).expect(200);
    server.stop();
    drop(folder);
}

#[test]
fn what_is_no_sound_copy_is_refused() {
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
        let told = refusal(&data, &format!("restore {}", beside(name).display()));
        assert!(told.contains(name), "{told}");
    }
    let parts = std::fs::read_dir(&data)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0);
    json_of(&data, "account list");
    drop(folder);
}

#[test]
fn on_postgres_the_right_tool_is_named() {
    let folder = crate::process::Folder::new();
    for (line, tool) in [("backup x.db", "pg_dump"), ("restore x.db", "pg_restore")] {
        let told = refusal(&folder.data(), &format!("{line} --database postgres://localhost/x"));
        assert!(told.contains(tool), "{told}");
    }
    assert_eq!(json!(folder.data().exists()), json!(false));
}
