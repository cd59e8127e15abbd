//! Whose a tracker is where several accounts share a listener: nobody gets another one's positions by registering its number.

use perigee_core::store::Users as _;
use serde_json::{Value, json};

use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(registering_the_number_of_a_tracker_proves_nothing);

const IMEI: &str = "860000000000001";

async fn registering_the_number_of_a_tracker_proves_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    let house = app.tenant("house", 0).await;
    app.store.set_operator(house.owner.id, true).await.unwrap();
    let cookie = app.sign_in(&house.owner).await;
    let (thief, victim) = (app.tenant("thief", 10).await.owner, app.tenant("victim", 10).await.owner);
    let tracker = json!({"name": "Tracker", "identifier": IMEI});
    let stolen = app.device(&thief, &tracker).await;
    let identifiers = [IMEI.to_owned()];
    assert!(app.app.ingest.find(&identifiers).await.unwrap().is_none(), "its reports are nobody's");
    let claims = app.get(&thief, &format!("/api/devices/{stolen}/claims")).await;
    assert_eq!(
        claims["claims"][0],
        json!({
            "identifier": IMEI, "state": "unproven", "reportFrom": null, "reportUntil": null,
        })
    );
    let line = format!("POST /api/devices/{stolen}/commands");
    let stop = app.send(&thief, &line, &json!({"type": "engineStop", "confirm": true})).await;
    stop.expect_error(409, "claim-unproven");

    let line = format!("POST /api/devices/{stolen}/claims");
    let begun = app.send(&thief, &line, &json!({"identifier": IMEI})).await.expect(200);
    assert!(begun["claim"]["reportFrom"].is_string(), "{begun}");
    app.send(&thief, &line, &json!({"identifier": "other"})).await.expect_error(400, "invalid-body");
    app.send(&thief, &line, &json!({"identifier": IMEI})).await.expect(200);
    app.send(&thief, &line, &json!({"identifier": IMEI})).await.expect_error(429, "rate-limited");

    let own = app.device(&victim, &tracker).await;
    let operator = async |line: &str| app.call(line).cookie(&cookie).send().await.expect(200);
    let notices = operator("GET /api/operator/notices").await;
    let notice = &notices["notices"][0];
    assert_eq!((&notice["kind"], &notice["subject"]), (&json!("identifier-contested"), &json!(IMEI)));
    let open = operator("GET /api/operator/claims").await;
    let names: Vec<&Value> =
        open["claims"][0]["devices"].as_array().unwrap().iter().map(|one| &one["accountName"]).collect();
    assert_eq!(names, ["thief", "victim"]);
    let assign = async |device: &str| {
        let body = json!({"identifier": IMEI, "deviceId": device});
        app.call("POST /api/operator/claims").cookie(&cookie).json(&body).send().await
    };
    assign("dev_0000000000001").await.expect_error(400, "invalid-body");
    assign(&own).await.expect(200);
    let found = app.app.ingest.find(&identifiers).await.unwrap().unwrap();
    assert_eq!(found.device.to_string(), own);
    let line = format!("POST /api/devices/{own}/commands");
    app.send(&victim, &line, &json!({"type": "engineStop", "confirm": true})).await.expect(201);
    let claims = app.get(&thief, &format!("/api/devices/{stolen}/claims")).await;
    assert_eq!(claims["claims"][0]["state"], "elsewhere");
}
