//! One account schedules as many saved reports as it may for the same minute, each of a month with thousands of rows as a
//! file in an e-mail, and runs others by hand meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use perigee_core::time::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::mail_relay::serve_mails;
use crate::scenario::count_by_status;
use crate::stage::Stage;

/// As many as an account may have.
const REPORTS: usize = 200;
const LOCATIONS: u32 = 20_000;
const BATCH: u32 = 10_000;
/// Until the minute has come and the first reports are made.
const LONG_ENOUGH: Duration = Duration::from_secs(150);
const BY_HAND: usize = 20;
const RUNS_EACH: usize = 5;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let taken = Arc::new(AtomicUsize::new(0));
    let server = tokio::spawn(serve_mails(Arc::clone(&stage.mail), Arc::clone(&taken)));
    let made = stage.call("POST /api/devices", &json!({"name": "Much reported"})).await?;
    let device = made["device"]["id"].as_str().context("a device without an id")?.to_owned();
    let start = SystemClock.now().plus_seconds(-i64::from(LOCATIONS) * 60);
    for first in (0..LOCATIONS).step_by(BATCH as usize) {
        let body: Value = (first..first + BATCH)
            .map(|minute| {
                let moved = f64::from(minute / 12 * 6 + (minute % 12).saturating_sub(6));
                let time = start.plus_seconds(i64::from(minute) * 60).to_string();
                json!({"dateTime": time, "latitude": 20.0 + moved / 1_000.0, "longitude": -8.0})
            })
            .collect();
        stage.call(&format!("POST /api/devices/{device}/locations"), &body).await?;
    }
    let due = SystemClock.now().plus_seconds(90).to_string();
    let time = due.get(11..16).context("a time without hours")?;
    let mut saved = Vec::with_capacity(REPORTS);
    for number in 0..REPORTS {
        let format = ["xlsx", "pdf", "csv"][number % 3];
        let body = json!({
            "name": format!("Report {number}"), "report": {"kind": "timeline", "period": "thisMonth"},
            "schedule": {
                "frequency": "daily", "time": time, "timeZone": "UTC", "format": format,
                "recipients": [{"channel": "email", "address": "owner@localhost.example"}],
            },
        });
        let made = stage.call("POST /api/reports", &body).await?;
        saved.push(made["id"].as_str().context("a report without an id")?.to_owned());
    }
    let mut calls = JoinSet::new();
    for report in saved.iter().take(BY_HAND) {
        let (mut connection, bearer) = (stage.connect().await?, stage.server.token.clone());
        let line = format!("POST /api/reports/{report}/run?format=xlsx");
        calls.spawn(async move {
            let mut statuses = Vec::new();
            for _ in 0..RUNS_EACH {
                statuses.push(connection.call(&line, &bearer, b"{}").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.extend(done??);
    }
    let words = count_by_status(statuses, &[200, 429, 503])?;
    tokio::time::sleep(LONG_ENOUGH).await;
    server.abort();
    let mails = taken.load(Ordering::Relaxed);
    ensure!(mails > 0, "no scheduled report was mailed");
    Ok(format!("{REPORTS} reports scheduled for one minute: {mails} mailed; by hand: {words}"))
}
