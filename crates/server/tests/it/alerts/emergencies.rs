//! Emergencies: declared, confirmed, repeated and cancelled by any network, they are one alert with an end.

use perigee_core::store::Queue;
use rand::seq::SliceRandom as _;
use serde_json::{Value, json};

use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    all_steps_are_one_alert_in_any_order,
    a_new_request_after_the_end_is_a_new_alert,
    two_links_of_a_device_are_one_emergency,
    tests_are_marked_and_raise_nothing,
    a_later_fix_is_the_position_of_an_sos_without_one,
    an_sos_of_an_unknown_device_reaches_the_owners,
);

const IMEI: &str = "300434000000001";
/// When the emergency begins, in Unix seconds: a day before the clock of the test.
const BEGIN_S: i64 = 1_767_139_200;

/// A step: seconds after the beginning, and the word of the provider for it.
type Step = (i64, &'static str);

/// A network, with its words for declare, confirm or repeat, and cancel.
struct Network {
    feed: &'static str,
    steps: [Step; 4],
    body: fn(i64, &str) -> String,
}

fn garmin(at_s: i64, code: &str) -> String {
    let point =
        json!({"latitude": 60.0, "longitude": 5.0, "altitude": 1, "gpsFix": 2, "course": 0, "speed": 0});
    let code: i64 = code.parse().unwrap();
    json!({"Version": "2.0", "Events": [{"imei": IMEI, "messageCode": code, "timeStamp": at_s * 1000, "point": point}]}).to_string()
}

fn spot(at_s: i64, kind: &str) -> String {
    format!(
        "<messageList><message><id>{at_s}</id><esn>{IMEI}</esn><messageType>{kind}</messageType>\
         <timeInGMTSecond>{at_s}</timeInGMTSecond><latitude>60</latitude><longitude>5</longitude></message></messageList>"
    )
}

fn globalstar(at_s: i64, payload: &str) -> String {
    format!(
        "<stuMessages messageID=\"m{at_s}\"><stuMessage><esn>{IMEI}</esn><unixTime>{at_s}</unixTime>\
         <payload>{payload}</payload></stuMessage></stuMessages>"
    )
}

fn zoleo(at_s: i64, kind: &str) -> String {
    json!({"MessageId": format!("m{at_s}"), "MessageType": kind, "DeviceIMEI": IMEI, "Location": {"Latitude": 60, "Longitude": 5},
           "Properties": {"EpochMiliseconds": (at_s * 1000).to_string()}}).to_string()
}

const NETWORKS: [Network; 4] = [
    Network { feed: "garmin", steps: [(0, "4"), (60, "6"), (120, "4"), (600, "7")], body: garmin },
    Network {
        feed: "spot",
        steps: [(0, "HELP"), (300, "HELP"), (400, "HELP"), (600, "HELP-CANCEL")],
        body: spot,
    },
    Network {
        feed: "globalstar",
        steps: [(0, "3c0501"), (60, "3c0501"), (90, "3c0501"), (600, "3c0502")],
        body: globalstar,
    },
    Network {
        feed: "zoleo",
        steps: [(0, "SOSInitiated"), (60, "SOSConfirmed"), (90, "SOSUpdate"), (600, "SOSCancelled")],
        body: zoleo,
    },
];

/// A template for home-made payloads: a position and an emergency flag.
fn options(feed: &str) -> Value {
    if feed != "globalstar" {
        return json!({});
    }
    json!({"template": {"fields": [
        {"field": "latitude", "offset": 0}, {"field": "longitude", "offset": 1},
        {"field": "alarm", "value": "sos", "when": [{"offset": 2, "equals": 1}]},
        {"field": "alarm", "value": "sosCancel", "when": [{"offset": 2, "equals": 2}]},
    ]}})
}

struct Boat {
    app: TestApp,
    tenant: Tenant,
    device: String,
    cursor: String,
}

impl Boat {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let tenant = app.tenant("acme", 10).await;
        let device = app.device(&tenant.owner, &json!({"name": "Boat", "identifier": IMEI})).await;
        let cursor = app.get(&tenant.owner, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
        Self { app, tenant, device, cursor }
    }

    async fn gateway(&self, feed: &str) -> String {
        let body = json!({"feed": feed, "options": options(feed)});
        let made = self.app.send(&self.tenant.owner, "POST /api/gateways", &body).await.expect(201);
        made["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap().to_owned()
    }

    async fn send(&self, path: &str, body: String) {
        let answer = self.app.call(&format!("POST {path}")).body("text/plain", body).send().await;
        assert_eq!(answer.status, 200);
    }

    async fn alerts(&self) -> Vec<Value> {
        let list = self.app.get(&self.tenant.owner, &format!("/api/devices/{}/alerts", self.device)).await;
        list["alerts"].as_array().unwrap().clone()
    }

    async fn locations(&self) -> usize {
        let list = self.app.get(&self.tenant.owner, &format!("/api/devices/{}/locations", self.device)).await;
        list["locations"].as_array().unwrap().len()
    }

    async fn events(&self, kind: &str) -> usize {
        let list = self
            .app
            .get(&self.tenant.owner, &format!("/api/events?cursor={}&types={kind}", self.cursor))
            .await;
        list["events"].as_array().unwrap().len()
    }
}

async fn all_steps_are_one_alert_in_any_order(engine: Engine) {
    for network in NETWORKS {
        for shuffled in [false, true] {
            let boat = Boat::new(engine).await;
            let path = boat.gateway(network.feed).await;
            let mut steps: Vec<Step> = network.steps.iter().flat_map(|step| [*step; 3]).collect();
            if shuffled {
                steps.shuffle(&mut rand::rng());
            }
            for (after, word) in &steps {
                boat.send(&path, (network.body)(BEGIN_S + after, word)).await;
            }
            let alerts = boat.alerts().await;
            let name = format!("{} {steps:?}", network.feed);
            let [alert] = alerts.as_slice() else { panic!("{name}: {alerts:?}") };
            assert_eq!(
                (&alert["alertName"], &alert["critical"]),
                (&json!("SOSButton"), &json!(true)),
                "{name}"
            );
            assert_eq!((&alert["latitude"], &alert["longitude"]), (&json!(60), &json!(5)), "{name}");
            assert_eq!(alert["endedAt"], "2025-12-31T00:10:00Z", "{name}");
            if !shuffled {
                assert_eq!(alert["dateTime"], "2025-12-31T00:00:00Z", "{name}");
            }
            assert_eq!(
                (boat.events("alert.created").await, boat.events("alert.ended").await),
                (1, 1),
                "{name}"
            );
            assert_eq!(boat.locations().await, 4, "{name}");
        }
    }
}

async fn a_new_request_after_the_end_is_a_new_alert(engine: Engine) {
    let boat = Boat::new(engine).await;
    let path = boat.gateway("garmin").await;
    for (after, code) in [(0, "4"), (10, "7"), (20, "4"), (0, "4"), (10, "7")] {
        boat.send(&path, garmin(BEGIN_S + after, code)).await;
    }
    let ends = |alerts: &[Value]| alerts.iter().map(|alert| alert["endedAt"].is_null()).collect::<Vec<_>>();
    let alerts = boat.alerts().await;
    assert_eq!(alerts.len(), 2, "{alerts:?}");
    assert_eq!(ends(&alerts).iter().filter(|open| **open).count(), 1, "the second goes on");
    // Somebody ends it in the console. Messages of the same emergency do not raise it again, a new emergency does.
    let open = alerts.iter().find(|alert| alert["endedAt"].is_null()).unwrap();
    let line = format!("POST /api/alerts/{}/end", open["id"].as_str().unwrap());
    boat.app.call(&line).by(&boat.tenant.owner).send().await.expect(200);
    boat.send(&path, garmin(BEGIN_S + 30, "6")).await;
    assert_eq!(boat.alerts().await.len(), 2);
    boat.send(&path, garmin(BEGIN_S + 86_400 + 60, "4")).await;
    assert_eq!(boat.alerts().await.len(), 3);
}

async fn two_links_of_a_device_are_one_emergency(engine: Engine) {
    let boat = Boat::new(engine).await;
    let (first, second) = (boat.gateway("garmin").await, boat.gateway("zoleo").await);
    boat.send(&first, garmin(BEGIN_S, "4")).await;
    boat.send(&second, zoleo(BEGIN_S + 5, "SOSInitiated")).await;
    boat.send(&second, zoleo(BEGIN_S + 90, "SOSCancelled")).await;
    boat.send(&first, garmin(BEGIN_S + 95, "7")).await;
    let alerts = boat.alerts().await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["endedAt"], "2025-12-31T00:01:30Z");
}

async fn tests_are_marked_and_raise_nothing(engine: Engine) {
    let boat = Boat::new(engine).await;
    let path = boat.gateway("spot").await;
    boat.send(&path, spot(BEGIN_S, "TEST")).await;
    assert_eq!((boat.alerts().await.len(), boat.locations().await), (0, 0));
    let messages =
        boat.app.get(&boat.tenant.owner, "/api/rawMessages?result=test").await["rawMessages"].clone();
    assert_eq!((&messages[0]["deviceId"], &messages[0]["result"]), (&json!(boat.device), &json!("test")));
    let again = format!("POST /api/rawMessages/{}/reprocess", messages[0]["id"].as_str().unwrap());
    assert_eq!(boat.app.call(&again).by(&boat.tenant.owner).send().await.expect(200)["result"], "test");
}

async fn a_later_fix_is_the_position_of_an_sos_without_one(engine: Engine) {
    let boat = Boat::new(engine).await;
    let path = boat.gateway("garmin").await;
    let event = json!({"imei": IMEI, "messageCode": 4, "timeStamp": BEGIN_S * 1_000});
    boat.send(&path, json!({"Version": "2.0", "Events": [event]}).to_string()).await;
    let position = async || {
        let alert = boat.alerts().await.remove(0);
        let is_later = alert.get("placeIsFromLaterFix").cloned();
        (alert["latitude"].clone(), is_later, alert.get("placeIsLastKnown").cloned())
    };
    assert_eq!(position().await, (Value::Null, None, None));
    boat.send(&path, garmin(BEGIN_S + 40, "6")).await;
    assert_eq!(position().await, (json!(60), Some(json!(true)), None));
    let alert = boat.alerts().await.remove(0);
    assert_eq!(alert["placeDateTime"], "2025-12-31T00:00:40Z");
    assert_eq!((boat.events("alert.created").await, boat.events("alert.updated").await), (1, 1));
    // The answer can be sent back, and the position does not become the alert's own.
    let line = format!("POST /api/devices/{}/alerts", boat.device);
    let again = boat.app.send(&boat.tenant.owner, &line, &alert).await.expect(200);
    assert_eq!(again["duplicates"], 1);
    boat.send(&path, garmin(BEGIN_S + 60, "6")).await;
    assert_eq!(boat.events("alert.updated").await, 1, "the first fix counts");
}

async fn an_sos_of_an_unknown_device_reaches_the_owners(engine: Engine) {
    let boat = Boat::new(engine).await;
    let path = boat.gateway("garmin").await;
    let unknown = |code: &str| garmin(BEGIN_S, code).replace(IMEI, "300434000000777");
    let mut recorded = boat.app.app.store.commit_signals().of_queue(Queue::RecordedSos);
    let mut is_woken = || {
        let is_woken = recorded.has_changed().unwrap();
        recorded.mark_unchanged();
        is_woken
    };
    boat.send(&path, unknown("0")).await;
    assert!(!is_woken(), "no SOS");
    assert_eq!(boat.app.app.store.announce_recorded_sos().await.unwrap(), 0);
    for _ in 0..3 {
        boat.send(&path, unknown("4")).await;
        assert!(is_woken(), "at once");
        assert_eq!(
            boat.app.app.store.announce_recorded_sos().await.unwrap(),
            2,
            "for the account and the operators"
        );
    }
    let owner = &boat.tenant.owner;
    let mails = boat.app.get(owner, "/api/notifications").await["notifications"].clone();
    assert_eq!(mails.as_array().unwrap().len(), 1, "{mails}");
    let line = format!("/api/events?cursor={}&types=sos.unregistered", boat.cursor);
    let events = boat.app.get(owner, &line).await["events"].clone();
    assert_eq!(events.as_array().unwrap().len(), 1, "{events}");
    let data = &events[0]["data"];
    assert_eq!((&data["reason"], &data["identifier"]), (&json!("unknownDevice"), &json!("300434000000777")));
    assert_eq!((&data["source"], &data["latitude"]), (&json!("garmin"), &json!(60.0)));
    assert_eq!(boat.alerts().await.len(), 0);
}
