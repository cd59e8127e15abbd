//! From an alert to a real SMTP conversation, with the senders that the service builds from its settings.

#[path = "../../../../notify/tests/it/smtp.rs"]
pub(super) mod smtp;

use std::sync::Arc;

use perigee_core::notifications::notification::Channel;
use perigee_core::time::{Clock, SystemClock};
use perigee_server::background::Worker;
use perigee_server::config::EmailSecurity;
use perigee_server::senders::Senders;
use serde_json::json;

use self::smtp::{FakeServer, Flood, GREETED, Hang, OFFERED, Say, Take, TakePart};
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(an_alert_is_mailed_in_the_accounts_own_words);

async fn an_alert_is_mailed_in_the_accounts_own_words(engine: Engine) {
    let taking = [&GREETED[..], &OFFERED, &[Take, Say("250 queued as X1\r\n"), Hang]].concat();
    // Loses the connection within the message: it is tried again, and comes once.
    let losing = [&GREETED[..], &OFFERED, &[TakePart]].concat();
    // Answers without end: nothing was sent.
    let flooding = [&GREETED[..2], &[Flood("250-more\r\n")]].concat();
    let server = FakeServer::start(vec![flooding, losing, taking]).await;
    let app = TestApp::with(engine, |config| {
        config.email.host = "127.0.0.1".into();
        config.email.port = server.address.port();
        config.email.security = EmailSecurity::None;
        config.email.from = "Perigee <alerts@example.org>".into();
    })
    .await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({ "name": "Sea Otter <7>" })).await;
    let people =
        json!({ "recipients": [{ "channel": "email", "address": "ana@example.com", "language": "es" }] });
    app.send(&owner, "PUT /api/account/alertRouting", &people).await.expect(200);
    let subject = json!({ "source": "{{ alert.title }} / {{ device.name }}" });
    app.send(&owner, "PUT /api/templates/alert-email-subject", &subject).await.expect(200);
    let alert = json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": "SpeedLimit", "latitude": 1, "longitude": 2 });
    app.send(&owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let senders = Senders::build(&app.app.config, &clock).unwrap();
    let (channels, centre) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
    assert!(centre.is_none());
    let worker = Worker::new(&app.app, &channels, Channel::EMAIL);
    let path = format!("/api/devices/{device}/notifications");
    let state = async || app.get(&owner, &path).await["notifications"][0]["state"].clone();
    worker.send_due().await.unwrap();
    assert_eq!(state().await, json!("waiting"));
    for _ in 0..2 {
        app.clock().set(app.clock().now().plus_seconds(900));
        worker.send_due().await.unwrap();
    }
    assert_eq!(state().await, json!("sent"));
    let taken = server.taken.lock().unwrap();
    assert_eq!(taken.len(), 1);
    assert!(taken[0].contains("List-Unsubscribe: <http://perigee.test/mail/"), "{}", taken[0]);
    assert!(taken[0].contains("Subject: [Perigee] Exceso de velocidad / Sea Otter <7>\r\n"), "{}", taken[0]);
}
