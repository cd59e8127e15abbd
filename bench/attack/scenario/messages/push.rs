//! Browsers of one account whose push service accepts connections and never answers, and 100 alerts for them. A mail of
//! the other tenant must be sent in time nevertheless.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::mail_relay::serve_mails;
use crate::stage::Stage;

/// As many subscriptions as a user may have.
const BROWSERS: usize = 20;
const ALERTS: usize = 100;
/// After this time the push service holds as many connections as the server opens.
const HEAD_START: Duration = Duration::from_secs(5);
const MOST_WAIT: Duration = Duration::from_secs(10);
const EMAIL: &str = "push@localhost";

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let tarpit = TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = format!("http://{}/send", tarpit.local_addr()?);
    let held = Arc::new(AtomicUsize::new(0));
    let holding = tokio::spawn({
        let held = Arc::clone(&held);
        async move {
            let mut streams = Vec::new();
            while let Ok((stream, _)) = tarpit.accept().await {
                streams.push(stream);
                held.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let mails = Arc::new(AtomicUsize::new(0));
    let mail_server = tokio::spawn(serve_mails(Arc::clone(&stage.mail), Arc::clone(&mails)));
    let line = ["account", "create", "--name", "Push", "--licenses", "10", "--owner-email", EMAIL];
    let made = stage.server.run_json(&line)?;
    let cookie = sign_in(stage, made["password"].as_str().context("no password was given")?).await?;
    let session = Session { stage, cookie };
    let key = session.call("GET /api/account/pushKey", &Value::Null).await?;
    for number in 0..BROWSERS {
        let body = json!({
            "endpoint": format!("{endpoint}/{number}"), "applicationServerKey": key["publicKey"],
            // The keys of the example in RFC 8291.
            "p256dh":
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg",
        });
        session.call("POST /api/account/pushSubscriptions", &body).await?;
    }
    session.call("PUT /api/session/watchList", &json!({"allDevices": true})).await?;
    let device = session.call("POST /api/devices", &json!({"name": "Loud"})).await?;
    let device = device["device"]["id"].as_str().context("a device without an id")?.to_owned();
    let alerts: Vec<Value> = (0..ALERTS)
        .map(|number| {
            json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": format!("Alert {number}"), "critical": true})
        })
        .collect();
    session.call(&format!("POST /api/devices/{device}/alerts"), &json!(alerts)).await?;
    tokio::time::sleep(HEAD_START).await;
    let waited = other_tenants_mail(stage, &mails).await?;
    holding.abort();
    mail_server.abort();
    let held = held.load(Ordering::Relaxed);
    ensure!(held > 0, "nothing was sent to the push service");
    ensure!(waited <= MOST_WAIT, "the mail of another tenant waited {:.1} s", waited.as_secs_f64());
    Ok(format!(
        "{BROWSERS} browsers, {ALERTS} alerts, {held} connections without an answer: a mail of another tenant after {:.1} s",
        waited.as_secs_f64()
    ))
}

/// The console's session of a user.
struct Session<'s> {
    stage: &'s Stage,
    cookie: String,
}

impl Session<'_> {
    async fn call(&self, line: &str, body: &Value) -> Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let header = format!("Cookie: {}\r\n", self.cookie);
        let mut connection = self.stage.connect().await?;
        let answer = connection.call_with(line, "", &header, body.as_bytes()).await?;
        ensure!(answer.is_success(), "{line}: {}", answer.text());
        answer.json()
    }
}

/// Signs in and returns the session's cookie.
async fn sign_in(stage: &Stage, password: &str) -> Result<String> {
    let body = json!({"email": EMAIL, "password": password}).to_string();
    let mut connection = stage.connect().await?;
    let answer = connection.call("POST /api/session", "", body.as_bytes()).await?;
    let cookie = answer.header("set-cookie").context("the sign-in set no cookie")?;
    Ok(cookie.split(';').next().unwrap_or_default().to_owned())
}

/// The time from an alert of the other tenant until its mail has arrived.
async fn other_tenants_mail(stage: &Stage, mails: &AtomicUsize) -> Result<Duration> {
    let other = &stage.other;
    let routing = json!({"recipients": [{"channel": "email", "address": other.email}]});
    let line = format!("PUT /api/devices/{}/alertRouting", other.device);
    stage.call_as(&other.token, &line, &routing).await?;
    let before = mails.load(Ordering::Relaxed);
    let alert = json!([{"dateTime": "2026-01-01T00:00:00Z", "alertName": "SOSButton", "critical": true}]);
    stage.call_as(&other.token, &format!("POST /api/devices/{}/alerts", other.device), &alert).await?;
    let began = Instant::now();
    while mails.load(Ordering::Relaxed) == before && began.elapsed() < 3 * MOST_WAIT {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(began.elapsed())
}
