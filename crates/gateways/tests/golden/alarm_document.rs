//! The page of alarm codes matches the tables, and decoders raise only alarms of the tables.

use std::path::{Path, PathBuf};

use perigee_gateways::{FEEDS, PROTOCOLS, Raises, alarm_document, alert_name};

use super::frames::rows;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trackers/alarms.md")
}

#[test]
fn alarm_document_is_current() {
    let expect = alarm_document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(page(), &expect).unwrap();
    }
    let stored = std::fs::read_to_string(page()).unwrap_or_default();
    assert!(stored == expect, "docs/trackers/alarms.md is not that of the tables; it says how to make it");
}

/// The alerts that the tables of a protocol can raise.
fn alerts_of(name: &str) -> Vec<String> {
    let tables =
        PROTOCOLS.iter().filter(|protocol| protocol.name == name).flat_map(|protocol| protocol.alarms);
    let codes = tables.flat_map(|table| table.codes);
    codes
        .filter_map(|code| match code.raises {
            Raises::Alarm(word) => Some(alert_name(word)),
            Raises::Sos(_) => None,
        })
        .collect()
}

#[test]
fn alarms_of_recorded_frames_are_in_the_tables() {
    for protocol in PROTOCOLS.iter().filter(|protocol| protocol.name != "iridium") {
        let known = alerts_of(protocol.name);
        for row in rows(protocol.name) {
            for word in row["reports"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|report| report["values"]["alarm"].as_str())
            {
                for word in word.split(',') {
                    assert!(known.contains(&alert_name(word)), "{}: {word}", protocol.name);
                }
            }
        }
    }
}

/// Alarms are written in tables, not in decoders, so that the page has all of them.
#[test]
fn decoders_name_no_alarm_beside_their_tables() {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocols")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            if code.contains(".alarm(\"") || code.contains("then_some(\"sos\")") {
                found.push(path);
            }
        }
    }
    assert_eq!(found, Vec::<PathBuf>::new());
}

#[test]
fn every_sos_of_a_feed_is_in_its_table() {
    for name in [
        "garmin",
        "garmin-history",
        "garmin-mapshare",
        "spot",
        "spot-feed",
        "zoleo",
        "rockblock",
        "sigfox",
        "osmand",
    ] {
        let feed = FEEDS.iter().find(|feed| feed.name == name).unwrap();
        let raises =
            |code: &perigee_gateways::AlarmCode| matches!(code.raises, Raises::Sos(_) | Raises::Alarm("sos"));
        assert!(feed.alarms.iter().flat_map(|table| table.codes).any(raises), "{name}");
    }
}
