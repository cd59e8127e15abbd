//! Trackers of every protocol while the server is killed: acknowledged records are stored, once.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use perigee_core::time::Timestamp;
use perigee_simulator::tracker::{PROTOCOLS, Plan, Step, Summary, protocol_client, run};
use serde_json::{Value, json};

use crate::client::{send, token};
use crate::process::{Folder, Server, perigee};

/// Kills unless `PERIGEE_TRACKER_KILLS` says otherwise; scripts/faults-trackers sets it.
const KILLS: u32 = 3;
/// Records that a tracker makes for each kill.
const RECORDS_A_KILL: u32 = 20;
/// The server is killed whenever this many more records were acknowledged.
const FORGOTTEN_A_KILL: usize = 120;
/// 2026-01-01.
const START_S: i64 = 1_767_225_600;
/// How long nothing may happen before the test gives up.
const PATIENCE: Duration = Duration::from_mins(2);

/// A port that was free a moment ago, the same for TCP and UDP and after each start.
fn free_port() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

/// The name of the tracker of a protocol; two of them have names of twelve digits.
fn name_of(protocol: &str, index: usize) -> String {
    if matches!(protocol, "jt808" | "tk103") {
        format!("3569380{index:05}")
    } else {
        format!("3569380356{index:05}")
    }
}

/// The program, on the database that `PERIGEE_TRACKER_DATABASE` names or else on SQLite.
fn program(data: &Path) -> Command {
    let mut command = perigee(data);
    if let Some(database) = std::env::var_os("PERIGEE_TRACKER_DATABASE") {
        command.env("PERIGEE_STORE__DATABASE", database);
    }
    command
}

fn issue_key(data: &Path) -> Value {
    let output =
        program(data).args(["key", "issue", "--email", "owner@localhost", "--json"]).output().unwrap();
    let issued: Value = serde_json::from_slice(&output.stdout).unwrap();
    issued["apiKey"].clone()
}

fn start(data: &Path, config: &Path) -> Server {
    let mut command = program(data);
    command.arg("--config").arg(config).args(["serve", "--listen", "127.0.0.1:0"]);
    Server::spawn(&mut command, data)
}

#[test]
fn acknowledged_records_are_stored_once() {
    let kills =
        std::env::var("PERIGEE_TRACKER_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let (folder, port) = (Folder::new(), free_port());
    let data = folder.data();
    let config = data.with_extension("toml");
    std::fs::write(&config, format!("[gateways.listen]\nany = \"{port}\"\n")).unwrap();
    let mut server = start(&data, &config);
    let key = issue_key(&data);
    let bearer = token(&server.url, "owner@localhost", &key);
    for (index, (protocol, _)) in PROTOCOLS.iter().enumerate() {
        let body = json!({"name": protocol, "identifier": name_of(protocol, index)});
        send(&server.url, "POST /api/devices", Some(&bearer), Some(&body)).expect(201);
    }

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (forgotten, receiver) = mpsc::channel::<(usize, i64)>();
    let plan = Plan {
        server: port,
        start_s: START_S,
        records: RECORDS_A_KILL * kills,
        every: Duration::from_millis(5),
        ack_timeout: Duration::from_secs(5),
        pause: Duration::from_millis(20),
        outage: Duration::ZERO,
    };
    let trackers: Vec<_> = PROTOCOLS
        .iter()
        .enumerate()
        .map(|(index, (protocol, _))| {
            let (mut client, forgotten) =
                (protocol_client(protocol, &name_of(protocol, index)).unwrap(), forgotten.clone());
            runtime.spawn(async move {
                let mut watch = |step: Step<'_>| {
                    let Step::Acknowledged(records) = step else { return };
                    for record in records {
                        forgotten.send((index, record.time_s)).unwrap();
                    }
                };
                run(plan, &mut *client, &mut watch).await
            })
        })
        .collect();
    drop(forgotten);

    let mut allowed: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    let (mut count, mut killed) = (0, 0);
    while let Ok((index, time_s)) = receiver.recv_timeout(PATIENCE) {
        assert!(allowed.entry(index).or_default().insert(time_s), "a tracker forgets a record once");
        count += 1;
        if killed < kills && count >= FORGOTTEN_A_KILL * (usize::try_from(killed).unwrap() + 1) {
            server.signal("KILL");
            drop(server);
            server = start(&data, &config);
            killed += 1;
        }
    }
    assert_eq!(killed, kills, "of {count} records");
    let summaries: Vec<Summary> =
        trackers.into_iter().map(|tracker| runtime.block_on(tracker).unwrap()).collect();
    assert!(summaries.iter().any(|summary| summary.resent > 0), "some were sent again: {summaries:?}");

    let bearer = token(&server.url, "owner@localhost", &key);
    for (index, (protocol, _)) in PROTOCOLS.iter().enumerate() {
        let path = format!("GET /api/devices/{}/locations", name_of(protocol, index));
        let answer = send(&server.url, &path, Some(&bearer), None).expect(200);
        let stored: Vec<i64> = answer["locations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|location| {
                let time: Timestamp = location["dateTime"].as_str().unwrap().parse().unwrap();
                time.as_millis() / 1000
            })
            .collect();
        let distinct: BTreeSet<i64> = stored.iter().copied().collect();
        let twice: Vec<_> = stored
            .iter()
            .zip(answer["locations"].as_array().unwrap())
            .filter(|(time, _)| stored.iter().filter(|each| each == time).count() > 1)
            .collect();
        assert!(twice.is_empty(), "{protocol}: stored once, not {twice:?}");
        let may_forget = allowed.remove(&index).unwrap_or_default();
        let lost: Vec<&i64> = may_forget.difference(&distinct).collect();
        assert!(lost.is_empty(), "{protocol} lost {lost:?}");
        if *protocol == "suntech" {
            assert!(may_forget.is_empty(), "it acknowledges nothing");
        } else {
            assert_eq!(may_forget.len(), usize::try_from(plan.records).unwrap(), "{protocol}");
        }
    }
    println!("{killed} kills, {count} records acknowledged, {summaries:?}");
    server.stop();
}
