//! A stored message that is decoded again raises no second alert for its earlier content.

use std::time::Duration;

use perigee_core::alerts::alert::Alert;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::NewMessage;
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::locations::location::{DuplicateRule, Latitude, Location, Longitude, Readings};
use perigee_core::store::{RawMessages as _, Reporters as _};
use perigee_core::time::Timestamp;
use perigee_server::background::RuleEngine;
use serde_json::json;

use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(an_sos_that_has_an_alert_raises_no_second_one);

const NAME: &str = "1400046168";
const TIME: &str = "2025-12-31T12:01:00Z";

/// A GT06 frame with the status of the device, whose bits say SOS.
const STATUS_WITH_SOS: [u8; 15] =
    [0x78, 0x78, 0x0a, 0x13, 0x24, 0x04, 0x04, 0x00, 0x02, 0x00, 0x01, 0x11, 0x07, 0x0d, 0x0a];

struct Van {
    app: TestApp,
    tenant: Tenant,
    rule_engine: RuleEngine,
}

impl Van {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let tenant = app.tenant("acme", 10).await;
        app.device(&tenant.owner, &json!({"name": "Van", "identifier": NAME})).await;
        let rule_engine = RuleEngine::new(app.app.clone());
        Self { app, tenant, rule_engine }
    }

    /// Stores a message as an earlier version decoded it.
    async fn store(&self, source: &'static str, bytes: &[u8], contents: MessageContents) {
        let reporter = self.app.store.find_claimed_device(&[NAME.to_owned()], CountedClaims::All).await;
        let message = NewMessage {
            source,
            peer: "192.0.2.1:5".to_owned(),
            identifier: Some(NAME.to_owned()),
            bytes: bytes.to_vec(),
            error: None,
            gateway: None,
            duplicate_rule: DuplicateRule::Content,
            keep: Keep::Always,
        };
        self.app.store.store_message(&reporter.unwrap().unwrap(), message, contents).await.unwrap();
    }

    /// How many alerts and locations there are.
    async fn counts(&self) -> (usize, usize) {
        for _ in 0..1_000 {
            if self.rule_engine.run_once().await == Duration::from_secs(1) {
                break;
            }
        }
        let owner = &self.tenant.owner;
        let count = async |what: &str| {
            let list = self.app.get(owner, &format!("/api/devices/{NAME}/{what}")).await;
            list[what].as_array().unwrap().len()
        };
        (count("alerts").await, count("locations").await)
    }

    async fn reprocess(&self) -> String {
        let list = self.app.get(&self.tenant.owner, "/api/rawMessages?limit=1").await;
        let line =
            format!("POST /api/rawMessages/{}/reprocess", list["rawMessages"][0]["id"].as_str().unwrap());
        let answer = self.app.call(&line).by(&self.tenant.owner).send().await.expect(200);
        answer["result"].as_str().unwrap().to_owned()
    }
}

fn sos(time: Timestamp, text: &str) -> Alert {
    Alert {
        time,
        name: "SOSButton".to_owned(),
        text: Some(text.to_owned()),
        position: None,
        critical: true,
        attributes: [].into(),
    }
}

async fn an_sos_that_has_an_alert_raises_no_second_one(engine: Engine) {
    // Without a position, described in other words.
    let van = Van::new(engine).await;
    let frame = format!("*HQ,{NAME},NBR,120100,460,0,1,1,9338,3692,150,311225,FFFFFFFD#");
    let alerts = vec![sos(TIME.parse().unwrap(), "as an earlier version wrote it")];
    van.store("h02", frame.as_bytes(), MessageContents { alerts, ..MessageContents::default() }).await;
    assert_eq!(van.counts().await, (1, 0));
    for _ in 0..2 {
        assert_eq!(van.reprocess().await, "decoded");
        assert_eq!(van.counts().await, (1, 0));
    }
    // One that has none yet is raised.
    let later = frame.replace("120100", "120200");
    van.store("h02", later.as_bytes(), MessageContents::default()).await;
    assert_eq!(van.reprocess().await, "decoded");
    assert_eq!(van.counts().await, (2, 0));

    // Without a time of its own: it arrived a little before it was committed.
    let van = Van::new(engine).await;
    let alerts = vec![Alert { text: None, ..sos(van.app.app.ingest.now().plus_millis(-3), "") }];
    van.store("gt06", &STATUS_WITH_SOS, MessageContents { alerts, ..MessageContents::default() }).await;
    assert_eq!(van.reprocess().await, "decoded");
    assert_eq!(van.counts().await, (1, 0));

    // With a position, of which this version reads more.
    let van = Van::new(engine).await;
    let frame = format!("*HQ,{NAME},V1,120100,A,6000.0000,N,00500.0000,E,0.00,0,311225,FFFFFFFD#");
    let location = Location {
        time: TIME.parse().unwrap(),
        latitude: Latitude::from_degrees(60.0).unwrap(),
        longitude: Longitude::from_degrees(5.0).unwrap(),
        readings: Readings {
            alerts: Some(vec!["SOSButton".to_owned()]),
            alert_texts: Some(vec!["as an earlier version wrote it".to_owned()]),
            ..Readings::default()
        },
    };
    van.store("h02", frame.as_bytes(), MessageContents::from(vec![location])).await;
    assert_eq!(van.counts().await, (1, 1));
    for _ in 0..2 {
        assert_eq!(van.reprocess().await, "decoded");
        assert_eq!(van.counts().await, (1, 2), "the location is new, the alert is not");
    }
}
