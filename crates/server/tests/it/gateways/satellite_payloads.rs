//! Satellite modems whose payloads are decoded with the options of their device, whichever feed carries them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::{Engine, Tenant, TestApp, on_both_engines, pointers};

on_both_engines!(
    every_feed_with_payloads_reads_them_by_the_device,
    options_of_a_device_go_before_those_of_its_gateway,
    a_corrected_template_reads_old_messages,
    wrong_options_of_a_device_are_refused_with_their_pointer,
);

const IMEI: &str = "300234063904190";
/// Latitude and longitude in whole degrees, and a level.
const PAYLOAD: [u8; 3] = [42, 8, 77];

fn template() -> Value {
    json!({"fields": [
        {"field": "latitude", "offset": 0}, {"field": "longitude", "offset": 1}, {"field": "level", "offset": 2},
    ]})
}

/// Options of a gateway of a feed, and a request with the payload.
fn request(feed: &str) -> (Value, String) {
    let hex = PAYLOAD.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let base64 = STANDARD.encode(PAYLOAD);
    let date = json!({"year": 2026, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0});
    let body = match feed {
        "cloudloop" => {
            json!({"id": "1", "receivedAt": date, "sbd": {"imei": IMEI}, "message": base64}).to_string()
        }
        "rockblock" => {
            format!("imei={IMEI}&momsn=1&transmit_time=26-01-01%2000%3A00%3A00&data={hex}")
        }
        "garmin" => json!({"Version": "4.0", "Events": [{
            "imei": IMEI, "messageCode": 66, "timeStamp": 1_767_225_600_000_i64, "payload": base64,
            "point": {"latitude": 0, "longitude": 0, "gpsFix": 0},
        }]})
        .to_string(),
        "globalstar" => format!(
            "<stuMessages messageID=\"1\"><stuMessage><esn>{IMEI}</esn><unixTime>1767225600</unixTime>\
             <payload encoding=\"hex\">0x{hex}</payload></stuMessage></stuMessages>"
        ),
        "myriota" => {
            let packets =
                json!({"Packets": [{"Timestamp": 1_767_225_600_000_i64, "TerminalId": IMEI, "Value": hex}]});
            json!({"EndpointRef": "e", "Id": "i", "Data": packets.to_string()}).to_string()
        }
        _ => json!({"unit": IMEI, "at": 1_767_225_600, "data": base64}).to_string(),
    };
    let mapping = json!({"identifiers": ["/unit"], "fields": {
        "time": "/at", "payload": {"path": "/data", "encoding": "base64"},
    }});
    (if feed == "json" { json!({"mapping": mapping}) } else { json!({}) }, body)
}

struct World {
    app: TestApp,
    tenant: Tenant,
}

impl World {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let tenant = app.tenant("acme", 10).await;
        Self { app, tenant }
    }

    async fn device(&self, decoding: &Value) -> String {
        let body = json!({"name": "Modem", "identifier": IMEI, "decoding": decoding});
        self.app.device(&self.tenant.owner, &body).await
    }

    /// Sends the payload by a new gateway of this feed.
    async fn deliver(&self, feed: &str, more: Value) {
        let (mut options, body) = request(feed);
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let gateway = json!({"feed": feed, "options": options});
        let made = self.app.send(&self.tenant.owner, "POST /api/gateways", &gateway).await.expect(201);
        let path = made["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap();
        let sent = self.app.call(&format!("POST {path}")).body("text/plain", body.into_bytes());
        assert_eq!(sent.send().await.status, 200, "{feed}");
    }

    async fn locations(&self, device: &str) -> Vec<Value> {
        let list = self.app.get(&self.tenant.owner, &format!("/api/devices/{device}/locations")).await;
        list["locations"].as_array().unwrap().clone()
    }

    async fn message(&self) -> Value {
        self.app.get(&self.tenant.owner, "/api/rawMessages?limit=1").await["rawMessages"][0].clone()
    }
}

async fn every_feed_with_payloads_reads_them_by_the_device(engine: Engine) {
    for feed in ["cloudloop", "rockblock", "garmin", "globalstar", "myriota", "json"] {
        let world = World::new(engine).await;
        let device = world.device(&json!({"template": template()})).await;
        world.deliver(feed, json!({})).await;
        let stored = world.locations(&device).await;
        let located: Vec<&Value> = stored.iter().filter(|each| each["latitude"] == 42).collect();
        assert_eq!(located.len(), 1, "{feed}: {stored:?} {}", world.message().await);
        assert_eq!(located[0]["longitude"], 8, "{feed}");
        assert!(located[0].to_string().contains("\"level\""), "{feed}: {stored:?}");
    }
}

async fn options_of_a_device_go_before_those_of_its_gateway(engine: Engine) {
    let other = json!({"fields": [{"field": "latitude", "offset": 1}, {"field": "longitude", "offset": 0}]});
    for (own, of_gateway, latitude) in [
        (json!({}), json!({"template": other}), Some(8)),
        (json!({"template": template()}), json!({"template": other}), Some(42)),
        (json!({"template": template()}), json!({"payload": "raw"}), Some(42)),
        (json!({"template": template()}), json!({"devices": {IMEI: {"template": other}}}), Some(42)),
        (json!({"payload": "raw"}), json!({"template": other}), None),
        (json!({"template": template(), "payload": "raw"}), json!({}), None),
    ] {
        let world = World::new(engine).await;
        let device = world.device(&own).await;
        world.deliver("cloudloop", of_gateway.clone()).await;
        let stored = world.locations(&device).await;
        let first = stored.first().map(|each| each["latitude"].clone());
        assert_eq!(first, latitude.map(|degrees| json!(degrees)), "{own} {of_gateway}");
    }
}

async fn a_corrected_template_reads_old_messages(engine: Engine) {
    let world = World::new(engine).await;
    let device = world.device(&json!({"payload": "raw"})).await;
    world.deliver("rockblock", json!({})).await;
    assert_eq!(world.locations(&device).await, Vec::<Value>::new());
    let patch = json!({"decoding": {"payload": null, "template": template()}});
    let line = format!("PATCH /api/devices/{device}");
    let changed = world.app.send(&world.tenant.owner, &line, &patch).await.expect(200);
    assert_eq!(changed["device"]["decoding"], json!({"template": template()}), "{changed}");
    let id = world.message().await["id"].as_str().unwrap().to_owned();
    let line = format!("POST /api/rawMessages/{id}/reprocess");
    world.app.call(&line).by(&world.tenant.owner).send().await.expect(200);
    assert_eq!(world.locations(&device).await.len(), 1);
    let decoded =
        world.app.send(&world.tenant.owner, "POST /api/gateways/decode", &json!({"messageId": id})).await;
    assert_eq!(decoded.expect(200)["messages"][0]["reports"][0]["latitude"], 42, "a dry run uses it, too");
}

async fn wrong_options_of_a_device_are_refused_with_their_pointer(engine: Engine) {
    let world = World::new(engine).await;
    for (decoding, pointer) in [
        (json!({"payload": "bits"}), "/decoding/payload"),
        (json!({"payload": "template"}), "/decoding/payload"),
        (
            json!({"template": {"fields": [{"field": "a", "offset": 0, "width": 9}]}}),
            "/decoding/template/fields/0/width",
        ),
        (json!({"template": {"filds": []}}), "/decoding/template/filds"),
        (json!({"format": "01,ff"}), "/decoding/format"),
        (json!({"tempalte": {}}), "/decoding/tempalte"),
        (json!({"speedUnit": "mph"}), "/decoding/speedUnit"),
    ] {
        let body = json!({"name": "Modem", "decoding": decoding});
        let answer = world.app.send(&world.tenant.owner, "POST /api/devices", &body).await;
        let error = answer.expect_error(400, "invalid-body");
        assert_eq!(pointers(&error), [pointer], "{error}");
    }
    assert_eq!(world.app.get(&world.tenant.owner, "/api/devices").await["devices"], json!([]));
    let models = world.app.get(&world.tenant.owner, "/api/trackerModels").await["decodingOptions"].clone();
    let payload = models.as_array().unwrap().iter().find(|option| option["name"] == "payload").unwrap();
    assert_eq!(payload["values"][0], "auto");
}
