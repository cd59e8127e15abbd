//! SIGHUP: what is read again, and that the service continues.

use std::net::TcpStream;
use std::path::Path;

use crate::process::{Folder, Server, log_text, perigee};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/serve/fixtures");

/// Waits until the server has logged this, by talking to it meanwhile.
fn wait_for(server: &Server, data: &Path, line: &str) {
    let (_, address) = server.url.split_once("://").unwrap();
    for _ in 0..100_000 {
        TcpStream::connect(address).unwrap();
        if log_text(data).contains(line) {
            return;
        }
    }
    panic!("{line:?} is not in: {}", log_text(data));
}

#[test]
fn a_hangup_reloads_the_certificate_and_the_level_of_the_log() {
    let folder = Folder::new();
    let data = folder.data();
    let beside = |name: &str| data.with_file_name(name);
    let show = |pair: &str| {
        for kind in ["crt", "key"] {
            std::fs::copy(format!("{FIXTURES}/{pair}.{kind}"), beside(&format!("shown.{kind}"))).unwrap();
        }
    };
    let set_level = |level: &str| {
        let (certificate, key) = (beside("shown.crt"), beside("shown.key"));
        let text = format!(
            "[log]\nlevel = \"{level}\"\n[server]\ntls_certificate = {certificate:?}\ntls_key = {key:?}\n"
        );
        std::fs::write(beside("perigee.toml"), text).unwrap();
    };
    show("first");
    set_level("warn");
    let mut command = perigee(&data);
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(beside("perigee.toml"));
    let server = Server::spawn(&mut command, &data);
    assert!(!log_text(&data).contains("serving"), "{}", log_text(&data));

    show("second");
    set_level("info");
    server.signal("HUP");
    wait_for(&server, &data, "certificate reloaded");
    assert!(log_text(&data).contains("settings reloaded"), "{}", log_text(&data));

    std::fs::write(beside("perigee.toml"), "[log]\nlevel = \"=\"\n").unwrap();
    std::fs::write(beside("shown.key"), "nothing").unwrap();
    server.signal("HUP");
    wait_for(&server, &data, "keeping the old ones");
    assert!(log_text(&data).contains("settings were not reloaded"), "{}", log_text(&data));
    server.stop();
    assert!(log_text(&data).contains("stopped"), "the level is still the one before");
}
