//! Alerts that an earlier version lost are found in its messages, once, and old ones notify nobody.

use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::NewMessage;
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::store::{RawMessages as _, Reporters as _};
use perigee_store::params;
use serde_json::{Value, json};

use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(alerts_that_an_earlier_version_lost_are_stored_once);

const NAME: &str = "1400046168";

/// An SOS of an H02 unit without a position, at this minute of 2025-12-31.
fn sos(minute: u32) -> String {
    format!("*HQ,{NAME},NBR,12{minute:02}00,460,0,1,1,9338,3692,150,311225,FFFFFFFD#")
}

/// Stores a message as earlier versions did when they crashed before its alert.
async fn store_without_alert(app: &TestApp, text: &str) {
    let reporter =
        app.store.find_claimed_device(&[NAME.to_owned()], CountedClaims::All).await.unwrap().unwrap();
    let message = NewMessage {
        source: "h02",
        peer: "192.0.2.1:5".to_owned(),
        identifier: Some(NAME.to_owned()),
        bytes: text.as_bytes().to_vec(),
        error: None,
        gateway: None,
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    };
    app.store.store_message(&reporter, message, MessageContents::default()).await.unwrap();
}

/// Begins the search as the migration does, and runs it to its end; returns how many alerts were missing.
async fn search(app: &TestApp, tenant: &Tenant) -> usize {
    let account = tenant.account.id;
    let begin = app.store.write(move |tx| {
        Box::pin(async move {
            let sql = "INSERT INTO alert_search (account_id, after_id) VALUES (?1, 0)";
            Ok(tx.execute(sql, params![account]).await?)
        })
    });
    begin.await.unwrap();
    let mut missing = 0;
    while let Some(stored) = app.app.reprocessing.store_missing_alerts().await.unwrap() {
        missing += stored;
    }
    missing
}

async fn alerts(app: &TestApp, tenant: &Tenant) -> Vec<Value> {
    let list = app.get(&tenant.owner, &format!("/api/devices/{NAME}/alerts")).await;
    list["alerts"].as_array().unwrap().clone()
}

async fn alerts_that_an_earlier_version_lost_are_stored_once(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    app.device(&tenant.owner, &json!({"name": "Van", "identifier": NAME})).await;
    let routing = json!({"recipients": [{"channel": "email", "address": "ana@example.com"}]});
    app.send(&tenant.owner, "PUT /api/account/alertRouting", &routing).await.expect(200);
    store_without_alert(&app, &sos(1)).await;
    app.clock().advance_seconds(3 * 86_400);
    let owner = app.equip(&tenant.account, tenant.owner.id, tenant.owner.email.clone()).await;
    let tenant = Tenant { owner, ..tenant };
    store_without_alert(&app, &sos(2)).await;
    store_without_alert(&app, &format!("*HQ,{NAME},V0#")).await;
    assert_eq!(alerts(&app, &tenant).await.len(), 0);

    assert_eq!(search(&app, &tenant).await, 2);
    let found = alerts(&app, &tenant).await;
    let summary: Vec<_> = found.iter().map(|one| (&one["alertName"], one["endedAt"].is_null())).collect();
    assert_eq!(summary, [(&json!("SOSButton"), false), (&json!("SOSButton"), true)], "the old one is over");
    let mails = app.get(&tenant.owner, "/api/notifications").await;
    assert_eq!(mails["notifications"].as_array().unwrap().len(), 1, "{mails}");
    assert_eq!(mails["notifications"][0]["alertId"], found[1]["id"]);
    assert_eq!(search(&app, &tenant).await, 0, "what is stored is not missing");
    assert_eq!(alerts(&app, &tenant).await.len(), 2);
}
