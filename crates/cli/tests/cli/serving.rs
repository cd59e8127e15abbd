//! `perigee serve`: the first start, the second, and what it prints.

use std::io::{BufRead, BufReader, Read as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::client::send;
use crate::process::{Folder, Server, json as json_of, log_text, perigee, refusal};

/// The word after `label` in a text.
fn after<'t>(text: &'t str, label: &str) -> &'t str {
    text.split(label).nth(1).unwrap().split_whitespace().next().unwrap()
}

#[test]
fn the_first_start_leaves_the_password_in_a_private_file() {
    let folder = Folder::new();
    let data = folder.data();
    let server = Server::start(&data);
    let file = data.join("first-owner.txt");
    assert_eq!(server.said, [format!("the first owner's password is in {}", file.display())]);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let password = after(&text, "password  ");
    let credentials = json!({"email": after(&text, "e-mail    "), "password": password});
    send(&server.url, "POST /api/session", None, Some(&credentials)).expect(200);
    assert!(!log_text(&data).contains(password), "secrets never go to the log");
    let accounts = json_of(&data, "account list");
    assert_eq!(accounts["accounts"][0]["licenses"]["total"], 100);
    let key = json_of(&data, "key issue --email owner@localhost");
    server.stop();

    std::fs::remove_file(&file).unwrap();
    let again = Server::start(&data);
    assert!(again.said.is_empty() && !file.exists(), "a second start has no secret to print");
    crate::client::token(&again.url, "owner@localhost", &key["apiKey"]);
    assert_eq!(json_of(&data, "account list"), accounts);
    again.stop();
}

#[test]
fn the_first_start_follows_its_settings() {
    let folder = Folder::new();
    let data = folder.data();
    let mut command = perigee(&data);
    command
        .env("PERIGEE_FIRST_START__OWNER_EMAIL", "ana@acme.test")
        .env("PERIGEE_FIRST_START__LICENSES", "7");
    command.args(["serve", "--listen", "127.0.0.1:0", "--base-url", "https://example.com/track"]);
    let server = Server::spawn(&mut command, &data);
    let accounts = json_of(&data, "account list");
    assert_eq!(accounts["accounts"][0]["licenses"]["total"], 7);
    json_of(&data, "key issue --email ana@acme.test");
    let document = send(&server.url, "GET /track/api/openapi.json", None, None).expect(200);
    assert_eq!(document["servers"][0]["url"], "https://example.com/track");
    server.stop();
}

#[test]
fn on_a_terminal_the_password_is_shown_and_not_written() {
    let folder = Folder::new();
    let data = folder.data();
    let line =
        format!("'{}' serve --listen 127.0.0.1:0 --data '{}'", env!("CARGO_BIN_EXE_perigee"), data.display());
    let mut script = Command::new("script")
        .args(["-qfec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = String::new();
    for line in BufReader::new(script.stdout.take().unwrap()).lines() {
        said.push_str(&line.unwrap());
        said.push('\n');
        if said.contains("listening on ") {
            break;
        }
    }
    assert_eq!(after(&said, "e-mail    "), "owner@localhost");
    assert_eq!(after(&said, "password  ").len(), 23);
    assert!(said.contains("perigee key issue") && !data.join("first-owner.txt").exists(), "{said}");
    let address = after(&said, "listening on http://");
    let mut connection = TcpStream::connect(address).unwrap();
    // The terminal goes with it, which ends the server.
    script.kill().unwrap();
    script.wait().unwrap();
    let _end = connection.read_to_end(&mut Vec::new());
    assert!(TcpStream::connect(address).is_err(), "the server has stopped");
}

#[test]
fn one_server_owns_a_store() {
    let folder = Folder::new();
    let data = folder.data();
    let server = Server::start(&data);
    let refused = refusal(&data, "serve --listen 127.0.0.1:0");
    assert!(refused.contains("in use"), "{refused}");
    let elsewhere = Folder::new();
    let address = server.url.strip_prefix("http://").unwrap();
    let refused = refusal(&elsewhere.data(), &format!("serve --listen {address}"));
    assert!(refused.contains("--listen") && refused.matches("already in use").count() == 1, "{refused}");
    assert!(!elsewhere.data().exists(), "what cannot be listened on makes no store");
    server.stop();
}

#[test]
fn logs_are_json_when_asked_for_and_name_the_request() {
    let folder = Folder::new();
    let data = folder.data();
    let mut command = perigee(&data);
    let server = Server::spawn(
        command.env("PERIGEE_LOG__FORMAT", "json").args(["serve", "--listen", "127.0.0.1:0"]),
        &data,
    );
    let answer = send(&server.url, "GET /api/devices", None, None);
    let request = after(&answer.head, "x-request-id: ").to_owned();
    send(&server.url, &format!("GET /api/shared/{}", "S".repeat(32)), None, None).expect(404);
    server.stop();
    let log = log_text(&data);
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = lines.iter().find(|line| line["request"] == request.as_str()).unwrap();
    assert_eq!(
        (&line["message"], &line["status"], &line["path"]),
        (&json!("refused"), &json!(401), &json!("/api/devices"))
    );
    assert!(!log.contains("SSSS"), "the address of a share link is a secret");
}

#[test]
fn certificates_are_read_before_the_store() {
    let folder = Folder::new();
    let data = folder.data();
    let mut command = perigee(&data);
    command
        .env("PERIGEE_SERVER__TLS_CERTIFICATE", "missing.pem")
        .env("PERIGEE_SERVER__TLS_KEY", "missing.key");
    let output = command.args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(crate::process::failure(&output, 1).contains("missing.pem"));
    assert!(!data.exists());

    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/serve/fixtures");
    let mut command = perigee(&data);
    command.env("PERIGEE_SERVER__TLS_CERTIFICATE", format!("{fixtures}/first.crt"));
    command.env("PERIGEE_SERVER__TLS_KEY", format!("{fixtures}/first.key"));
    let server = Server::spawn(command.args(["serve", "--listen", "127.0.0.1:0"]), &data);
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    server.stop();
}

#[test]
fn with_json_the_start_is_one_object() {
    let folder = Folder::new();
    let data = folder.data();
    let mut command = perigee(&data);
    let mut child = command
        .args(["serve", "--listen", "127.0.0.1:0", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let started: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(started["listening"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{started}");
    assert_eq!(started["ownerFile"], data.join("first-owner.txt").to_str().unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
}
