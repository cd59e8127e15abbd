//! An owner names 400 strangers in contact groups and raises two critical alerts on each of 12 devices, whose first
//! messages may exceed the caps; a test mail server counts the mails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::mail_relay::serve_mails;
use crate::stage::Stage;

const GROUPS: usize = 8;
const CONTACTS: usize = 50;
const DEVICES: usize = 12;
/// With the default settings, 20 strangers get two mails of each device without a confirmation, and 100 others are
/// asked to confirm.
const MOST_MAILS: usize = 20 * 2 * DEVICES + 100;
const LONG_ENOUGH: Duration = Duration::from_secs(30);

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let taken = Arc::new(AtomicUsize::new(0));
    let server = tokio::spawn(serve_mails(Arc::clone(&stage.mail), Arc::clone(&taken)));
    let mut groups = Vec::new();
    for group in 0..GROUPS {
        let contact =
            |number| json!({"channel": "email", "address": format!("p{group}-{number}@example.com")});
        let contacts: Vec<Value> = (0..CONTACTS).map(contact).collect();
        let body = json!({"name": format!("Group {group}"), "contacts": contacts});
        let made = stage.call("POST /api/contactGroups", &body).await?;
        groups.push(json!({"id": made["id"], "minimumSeverity": "info"}));
    }
    stage.call("PUT /api/account/alertRouting", &json!({"recipients": [], "contactGroups": groups})).await?;
    for number in 0..DEVICES {
        let device = stage.call("POST /api/devices", &json!({"name": format!("Buy now {number}")})).await?;
        let device = device["device"]["id"].as_str().context("a device without an id")?;
        let alert = |name| json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": name, "critical": true});
        let alerts = json!([alert("SOSButton"), alert("Fire")]);
        stage.call(&format!("POST /api/devices/{device}/alerts"), &alerts).await?;
    }
    tokio::time::sleep(LONG_ENOUGH).await;
    server.abort();
    let mails = taken.load(Ordering::Relaxed);
    ensure!(mails <= MOST_MAILS, "{mails} mails were sent");
    Ok(format!(
        "{} messages to {} strangers: {mails} mails sent",
        2 * DEVICES * GROUPS * CONTACTS,
        GROUPS * CONTACTS
    ))
}
