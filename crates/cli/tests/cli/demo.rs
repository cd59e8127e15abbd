//! `perigee demo`: everything is there, nothing is left behind.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::{send, token};
use crate::process::{Folder, perigee};

#[test]
fn a_demonstration_shows_a_fleet_and_leaves_nothing() {
    let folder = Folder::new();
    let data = folder.data();
    std::fs::create_dir(&data).unwrap();
    let mut child = perigee(&data)
        .args(["demo", "--devices", "6", "--days", "1", "--json"])
        .env("TMPDIR", &data)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let scene: Value = serde_json::from_str(&line).unwrap();
    let address = scene["address"].as_str().unwrap();
    let sign_in = json!({"email": scene["email"], "password": scene["password"]});
    let session = send(address, "POST /api/session", None, Some(&sign_in)).expect(200);
    assert_eq!((&session["operator"], &session["account"]["licenses"]["used"]), (&json!(true), &json!(6)));

    let kept: Vec<_> = std::fs::read_dir(&data).unwrap().collect();
    assert_eq!(kept.len(), 1, "its store lies in one folder");
    let terminated = std::process::Command::new("sh")
        .args(["-c", &format!("kill -TERM {}", child.id())])
        .status()
        .unwrap();
    assert!(terminated.success());
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn one_device_is_simulated_for_a_newcomer() {
    let folder = Folder::new();
    let data = folder.data();
    let server = crate::process::Server::start(&data);
    let key = crate::process::json(&data, "key issue --email owner@localhost");
    let bearer = token(&server.url, "owner@localhost", &key["apiKey"]);
    let made =
        send(&server.url, "POST /api/devices", Some(&bearer), Some(&json!({"name": "First"}))).expect(201);
    let id = made["device"]["id"].as_str().unwrap();
    let line = format!("simulate --device {id} --seconds 1 --url {} --token {bearer}", server.url);
    let answer = crate::process::json(&data, &line);
    assert_eq!((&answer["sent"], &answer["device"]), (&json!(1), &json!(id)));
    let last = send(&server.url, &format!("GET /api/devices/{id}/lastLocation"), Some(&bearer), None);
    assert!(last.expect(200)["lastLocation"]["speed"].as_f64().unwrap() > 20.0, "it moves at once");
    server.stop();
}
