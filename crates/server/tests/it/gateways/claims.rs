//! The account of a tracker on a shared listener: nobody gets another account's positions by registering its number.

use perigee_core::store::Users as _;
use perigee_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use super::{Hearing, Tracker, frame, location, login};
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    registering_the_number_of_a_tracker_proves_nothing,
    an_identifier_that_reports_from_two_networks_is_shown_to_operators,
    a_tracker_that_changes_its_network_is_not_shown,
    a_proof_from_another_network_than_the_tracker_is_shown_to_operators,
);

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
    assert!(app.app.ingest.devices.find(&identifiers).await.unwrap().is_none(), "its reports are nobody's");
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
    let found = app.app.ingest.devices.find(&identifiers).await.unwrap().unwrap();
    assert_eq!(found.device.to_string(), own);
    let line = format!("POST /api/devices/{own}/commands");
    app.send(&victim, &line, &json!({"type": "engineStop", "confirm": true})).await.expect(201);
    let claims = app.get(&thief, &format!("/api/devices/{stolen}/claims")).await;
    assert_eq!(claims["claims"][0]["state"], "elsewhere");
}

/// An address of another network than that of the other connections.
const ELSEWHERE: &str = "127.9.0.1:0";

async fn connect_from_elsewhere(on: &Hearing) -> Tracker {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(ELSEWHERE.parse().unwrap()).unwrap();
    Tracker(socket.connect(on.addresses["gt06"].0.unwrap()).await.unwrap())
}

async fn log_in_from_elsewhere(on: &Hearing) -> Tracker {
    let mut tracker = connect_from_elsewhere(on).await;
    tracker.ask(&login(super::IMEI, 1), &frame(0x01, &[], 1)).await;
    tracker
}

/// Makes the owner an operator, and gives the cookie.
async fn operator(on: &Hearing) -> String {
    on.app.store.set_operator(on.tenant.owner.id, true).await.unwrap();
    on.app.sign_in(&on.tenant.owner).await
}

/// Sends a location 40 seconds after the last one.
async fn report(on: &Hearing, tracker: &mut Tracker, serial: u8) {
    on.app.clock().advance_seconds(40);
    tracker.ask(&location(serial, serial.into()), &frame(0x12, &[], serial.into())).await;
}

/// The open claims, as an operator gets them.
async fn open_claims(on: &Hearing, cookie: &str) -> Value {
    on.app.app.ingest.networks.save(&*on.app.app.store).await.unwrap();
    on.app.call("GET /api/operator/claims").cookie(cookie).send().await.expect(200)["claims"].clone()
}

async fn an_identifier_that_reports_from_two_networks_is_shown_to_operators(engine: Engine) {
    let on = Hearing::new(engine).await;
    let cookie = operator(&on).await;
    let device = on.device().await;
    let (mut home, mut stranger) = (on.log_in().await, log_in_from_elsewhere(&on).await);
    for turn in 1..4 {
        report(&on, &mut home, 2 * turn).await;
        report(&on, &mut stranger, 2 * turn + 1).await;
    }
    let claims = open_claims(&on, &cookie).await;
    assert_eq!(claims.as_array().unwrap().len(), 1);
    let networks = &claims[0]["networks"];
    assert_eq!(
        (&networks["reason"], &networks["known"], &networks["other"]),
        (&json!("parallel"), &json!("127.0.0.0/16"), &json!("127.9.0.0/16"))
    );
    assert!(networks["foundAt"].is_string());
    let notices = on.app.call("GET /api/operator/notices").cookie(&cookie).send().await.expect(200);
    let notice = &notices["notices"][0];
    assert_eq!((&notice["kind"], &notice["subject"]), (&json!("identifier-networks"), &json!(super::IMEI)));
    let body = json!({"identifier": super::IMEI, "deviceId": device});
    on.app.call("POST /api/operator/claims").cookie(&cookie).json(&body).send().await.expect(200);
    assert_eq!(open_claims(&on, &cookie).await, json!([]), "the operator decided");
    let audit = on.app.get(&on.tenant.owner, "/api/audit").await;
    let actions: Vec<&Value> =
        audit["audit"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    assert!(actions.contains(&&json!("claim.networks")) && actions.contains(&&json!("claim.assign")));
}

async fn a_tracker_that_changes_its_network_is_not_shown(engine: Engine) {
    let on = Hearing::new(engine).await;
    let cookie = operator(&on).await;
    on.device().await;
    for turn in 1..5 {
        let mut home = on.log_in().await;
        report(&on, &mut home, 2 * turn).await;
        let mut abroad = log_in_from_elsewhere(&on).await;
        report(&on, &mut abroad, 2 * turn + 1).await;
    }
    assert_eq!(open_claims(&on, &cookie).await, json!([]));
}

async fn a_proof_from_another_network_than_the_tracker_is_shown_to_operators(engine: Engine) {
    let on = Hearing::new(engine).await;
    let cookie = operator(&on).await;
    on.app.tenant("other", 10).await;
    let device = on.device().await;
    let claims = format!("/api/devices/{device}/claims");
    let body = json!({"identifier": super::IMEI});
    let begun = on.app.send(&on.tenant.owner, &format!("POST {claims}"), &body).await.expect(200);
    let from: Timestamp = begun["claim"]["reportFrom"].as_str().unwrap().parse().unwrap();
    let wait_ms = from.as_millis() - on.app.app.clock.now().as_millis();
    on.app.clock().advance_seconds(wait_ms / 1_000 + 1);
    let mut forger = connect_from_elsewhere(&on).await;
    forger.send(&[login(super::IMEI, 1), location(5, 2)].concat()).await;
    assert_eq!(forger.finish().await, b"");
    on.app.app.ingest.strangers.save().await.unwrap();
    on.app.app.reprocessing.replay_claimed().await.unwrap();
    assert_eq!(on.app.get(&on.tenant.owner, &claims).await["claims"][0]["state"], "proven");
    assert_eq!(open_claims(&on, &cookie).await, json!([]));

    let mut tracker = on.log_in().await;
    report(&on, &mut tracker, 6).await;
    let networks = open_claims(&on, &cookie).await[0]["networks"].clone();
    assert_eq!(
        (&networks["reason"], &networks["known"], &networks["other"]),
        (&json!("after-proof"), &json!("127.9.0.0/16"), &json!("127.0.0.0/16"))
    );
}
