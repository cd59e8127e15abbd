//! An account with one of everything that examples name.

use std::collections::BTreeMap;

use perigee_core::store::{Credentials as _, Users as _};
use perigee_server::auth::totp::TotpSecret;
use perigee_server::background::TimelineEngine;
use serde_json::{Value, json};

use super::request::Request;
pub(super) use crate::support::PNG;
use crate::support::{Answer, Person, Tenant, TestApp};

/// Who signs in in the examples.
const EMAIL: &str = "ana@example.com";
const PASSWORD: &str = "correct horse battery staple";
/// The key of the server in the examples, which is that of another one.
const EXAMPLE_PUSH_KEY: &str =
    "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM";
/// The server of the example of a map, which no test may reach.
const EXAMPLE_MAP_SOURCE: &str = "https://build.protomaps.com/{date}.pmtiles";
/// The public key of a browser.
const EXAMPLE_BROWSER_KEY: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

/// The account, and what stands for the unknowable parts of examples.
pub(super) struct Prepared {
    tenant: Tenant,
    /// The owner's console session; the owner is an operator of the server, too.
    cookie: String,
    /// Ids by their prefix.
    ids: BTreeMap<&'static str, String>,
}

impl Prepared {
    pub(super) async fn new(app: &TestApp, number: usize) -> Self {
        let tenant = app.tenant(&format!("account{number}"), 100).await;
        let owner = &tenant.owner;
        app.store.set_operator(owner.id, true).await.unwrap();
        let cookie = app.sign_in(owner).await;
        // Operators cannot suspend or delete an account with operators.
        let customer = app.tenant(&format!("customer{number}"), 10).await;
        let make = async |path: &str, body: Value| {
            let made = app.send(owner, &format!("POST {path}"), &body).await.expect(201);
            let resource = made.get("device").unwrap_or(&made);
            resource["id"].as_str().unwrap_or_else(|| panic!("no id in {made}")).to_owned()
        };
        let user = json!({"name": "Leo", "email": format!("leo@account{number}.test"), "country": "ES", "timeZone": "UTC"});
        let geofence = json!({
            "type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 1]},
            "properties": {"name": "Harbour", "radius": 100},
        });
        let rule =
            json!({"name": "Fast", "allDevices": true, "conditions": [{"type": "speed", "above": 10}]});
        let modem = json!([{"identifier": format!("3004340{number:08}"), "link": "garmin"}]);
        let star = json!({"name": "Star", "identifier": "860000000000001", "identifiers": modem});
        let device = make("/api/devices", star).await;
        let sending =
            json!({"sendUrl": "https://garmin.example.com", "sendKey": "k", "sender": "ops@example.com"});
        make("/api/gateways", json!({"feed": "garmin", "options": sending})).await;
        let text = make(&format!("/api/devices/{device}/conversation"), json!({"text": "Hello"})).await;
        let alert = json!({"dateTime": "2026-05-01T12:00:00Z", "alertName": "RPM"});
        let alert = app.send(owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
        let alert = alert["ids"][0].as_str().unwrap().to_owned();
        let share =
            json!({"deviceId": device, "until": app.app.clock.now().plus_seconds(86_400).to_string()});
        let command =
            make(&format!("/api/devices/{device}/commands"), json!({"type": "positionSingle"})).await;
        let [first, second] = make_trips(app, owner, &device).await;
        let split = json!({"at": "2026-05-01T08:29:00Z"});
        let edit = make(&format!("/api/segments/{first}/split"), split).await;
        let driver = make("/api/drivers", json!({"name": "Ana"})).await;
        let assignment =
            json!({"deviceId": device, "from": "2025-05-01T08:00:00Z", "to": "2025-05-01T09:00:00Z"});
        let assignment = make(&format!("/api/drivers/{driver}/assignments"), assignment).await;
        let plan = json!({"deviceId": device, "name": "Oil change", "distance": 15_000, "lastDone": "2026-04-01T00:00:00Z"});
        let plan = make("/api/maintenance", plan).await;
        let voyage = make("/api/plans", json!({"name": "Voyage", "devices": [device]})).await;
        let traveller = make(&format!("/api/plans/{voyage}/links"), json!({})).await;
        let (push_key, browser) = subscribe(app, &cookie).await;
        let ids = BTreeMap::from([
            (EXAMPLE_PUSH_KEY, push_key),
            ("psb_", browser),
            ("mnt_", plan),
            ("pln_", voyage),
            ("plk_", traveller),
            ("acc_", customer.account.id.to_string()),
            (EXAMPLE_MAP_SOURCE, "https://tiles.invalid/{date}.pmtiles".to_owned()),
            ("nte_", make(&format!("/api/alerts/{alert}/notes"), json!({"text": "Seen"})).await),
            ("shr_", make("/api/shares", share).await),
            ("drv_", driver),
            ("asg_", assignment),
            ("cmd_", command),
            ("txt_", text),
            ("edt_", edit),
            ("seg_", first),
            ("seg_01jc2m8k4n5p8", second),
            ("alr_", alert),
            ("dev_", device),
            ("grp_", make("/api/groups", json!({"name": "Boats"})).await),
            ("usr_", make("/api/users", user).await),
            ("geo_", make("/api/geofences", geofence).await),
            ("rul_", make("/api/rules", rule).await),
            ("ctg_", make("/api/contactGroups", json!({"name": "Watch", "contacts": []})).await),
            ("rpt_", make("/api/reports", json!({"name": "Trips", "report": {"kind": "trips"}})).await),
            ("gtw_", make("/api/gateways", json!({"feed": "osmand"})).await),
            ("whk_", make("/api/webhooks", json!({"url": "https://example.com/hook"})).await),
        ]);
        Self { tenant, cookie, ids }
    }

    /// Sends the request as its sender would: the owner, or Ana for what concerns her own session.
    pub(super) async fn send(&self, app: &TestApp, request: &Request<'_>) -> Answer {
        let is_about_ana = request.path.starts_with("/api/session") || request.path == "/api/Auth/Token";
        let ana = if is_about_ana { Some(Ana::new(app, self, request).await) } else { None };
        // Actions on a plan need a plan in the right state.
        let before: &[&str] = match request.path.strip_prefix("/api/plans/{planId}/") {
            Some("start" | "copy" | "links" | "events" | "rescue") | None => &[],
            Some("resume") => &["start", "pause"],
            Some(_) => &["start"],
        };
        for action in before {
            let line = format!("POST /api/plans/{}/{action}", self.id_for("pln_01jc2m8k4n5p6"));
            app.send(&self.tenant.owner, &line, &json!({})).await.expect(200);
        }
        let mut path = request.path.to_owned();
        let mut query = Vec::new();
        for (source, name, example) in &request.parameters {
            let value = self.fill(example, None);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match *source {
                "path" => path = path.replace(&format!("{{{name}}}"), &text),
                _ => query.push(format!("{name}={text}")),
            }
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        let body = match self.fill(request.example, ana.as_ref()) {
            Value::String(text) if ["application/x-ndjson", "text/csv"].contains(&request.media_type) => {
                text.into_bytes()
            }
            // The example says what is sent. The format is recognized by the bytes, whatever the type says.
            _ if request.media_type.starts_with("image/") => PNG.to_vec(),
            _ if request.media_type == "application/octet-stream" => PNG.to_vec(),
            body => body.to_string().into_bytes(),
        };
        let call = app.call(&format!("{} {path}", request.method)).body(request.media_type, body);
        let call = match &ana {
            Some(ana) => call.cookie(&ana.cookie),
            None if request.needs_session => call.cookie(&self.cookie),
            None => call.by(&self.tenant.owner),
        };
        call.send().await
    }

    /// Who may do everything.
    pub(super) fn owner(&self) -> &Person {
        &self.tenant.owner
    }

    /// The owner's console session.
    pub(super) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// The id of an object of this account instead of an example's.
    pub(super) fn id_for(&self, example: &str) -> String {
        self.fill(&json!(example), None).as_str().unwrap_or_default().to_owned()
    }

    /// The example with ids of this account, and with Ana's secrets.
    pub(super) fn fill(&self, example: &Value, ana: Option<&Ana>) -> Value {
        match example {
            Value::Object(members) => {
                let fill = |(name, value): (&String, &Value)| {
                    let secret = ana.and_then(|ana| ana.secrets.get(name.as_str()));
                    let is_given = !value.is_null();
                    let filled = secret.filter(|_| is_given).map(|secret| json!(secret));
                    (name.clone(), filled.unwrap_or_else(|| self.fill(value, ana)))
                };
                Value::Object(members.iter().map(fill).collect())
            }
            Value::Array(items) => items.iter().map(|item| self.fill(item, ana)).collect(),
            Value::String(text) => {
                let is_id = text.len() == 17 && text.as_bytes()[3] == b'_';
                let of_kind = text.get(..4).filter(|_| is_id).and_then(|prefix| self.ids.get(prefix));
                json!(self.ids.get(text.as_str()).or(of_kind).unwrap_or(text))
            }
            other => other.clone(),
        }
    }

    /// Removes what must be there only once on the whole server: devices' identifiers and people's addresses.
    pub(super) async fn clear(self, app: &TestApp) {
        let owner = &self.tenant.owner;
        let users = app.get(owner, "/api/users").await;
        for user in users["users"].as_array().unwrap().iter().filter(|user| user["email"] == EMAIL) {
            let line = format!("DELETE /api/users/{}", user["id"].as_str().unwrap());
            app.call(&line).by(owner).send().await.expect(200);
        }
        let devices = app.get(owner, "/api/devices").await;
        for device in devices["devices"].as_array().unwrap() {
            let line = format!("DELETE /api/devices/{}", device["id"].as_str().unwrap());
            app.call(&line).by(owner).send().await.expect(200);
        }
    }
}

/// The key of the server and the ID of a browser that was subscribed with it, by somebody with a console session.
async fn subscribe(app: &TestApp, cookie: &str) -> (String, String) {
    let key = app.call("GET /api/account/pushKey").cookie(cookie).send().await.expect(200);
    let key = key["publicKey"].as_str().unwrap().to_owned();
    let body = json!({
        "endpoint": "https://push.example.com/send/bridge", "applicationServerKey": key,
        "p256dh": EXAMPLE_BROWSER_KEY, "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    });
    let line = "POST /api/account/pushSubscriptions";
    let made = app.call(line).cookie(cookie).json(&body).send().await.expect(201);
    (key, made["id"].as_str().unwrap().to_owned())
}

/// The two trips that a device made from 8:20 to 8:40 and from 9:00 to 9:20.
async fn make_trips(app: &TestApp, owner: &Person, device: &str) -> [String; 2] {
    let mut moved = 0_u32;
    let mut at = |minute: u32| {
        moved += u32::from((20..40).contains(&(minute % 40)));
        let time = format!("2026-05-01T{:02}:{:02}:00Z", 8 + minute / 60, minute % 60);
        json!({"dateTime": time, "latitude": 42.0 + f64::from(moved) * 0.009, "longitude": -8.0})
    };
    let locations: Value = (0..100).map(&mut at).collect();
    app.send(owner, &format!("POST /api/devices/{device}/locations"), &locations).await.expect(201);
    TimelineEngine::new(app.app.clone()).run_to_end().await;
    let timeline = app.get(owner, &format!("/api/devices/{device}/timeline?kind=trip")).await;
    [0, 1].map(|trip| timeline["segments"][trip]["id"].as_str().unwrap().to_owned())
}

/// The user of the examples, as far on the way to a second factor as the request wants her.
pub(super) struct Ana {
    cookie: String,
    /// By the name of the member that holds them.
    secrets: BTreeMap<&'static str, String>,
}

impl Ana {
    async fn new(app: &TestApp, prepared: &Prepared, request: &Request<'_>) -> Self {
        let owner = &prepared.tenant.owner;
        let body = json!({
            "name": "Ana", "email": EMAIL, "country": "ES", "timeZone": "UTC", "password": PASSWORD,
            "privileges": ["api"],
        });
        let made = app.send(owner, "POST /api/users", &body).await.expect(201);
        let id = made["id"].as_str().unwrap();
        let session =
            app.call("POST /api/session").json(&json!({"email": EMAIL, "password": PASSWORD})).send().await;
        session.expect(200);
        let cookie = session.header("set-cookie").split(';').next().unwrap().to_owned();
        let mut ana = Self { cookie, secrets: BTreeMap::new() };
        let line = format!("{} {}", request.method, request.path);
        match line.as_str() {
            "POST /api/Auth/Token" => {
                let Person { api_key, .. } =
                    app.equip(&prepared.tenant.account, id.parse().unwrap(), EMAIL.to_owned()).await;
                ana.secrets.insert("apiKey", api_key);
            }
            "POST /api/session/passwordReset" => {
                let call = app.call(&format!("POST /api/users/{id}/passwordLink")).cookie(&prepared.cookie);
                let answer = call.send().await.expect(201);
                let token = answer["url"].as_str().unwrap().split("#token=").nth(1).unwrap();
                ana.secrets.insert("token", token.to_owned());
            }
            "PUT /api/session/totp" => ana.begin_totp(app, id, false).await,
            "POST /api/session" | "DELETE /api/session/totp" => ana.begin_totp(app, id, true).await,
            _ => {}
        }
        ana
    }

    /// Gives her a second factor, confirmed or not yet, and a code that was not used.
    async fn begin_totp(&mut self, app: &TestApp, id: &str, confirmed: bool) {
        let call = |line: &str| app.call(line).cookie(&self.cookie);
        call("POST /api/session/totp").json(&json!({"password": PASSWORD})).send().await.expect(200);
        let kept = app.store.find_login_by_id(id.parse().unwrap()).await.unwrap().unwrap().totp.unwrap();
        let secret = TotpSecret::from_bytes(kept.secret.try_into().unwrap());
        if confirmed {
            let code = json!({"code": secret.code(app.app.clock.now())});
            call("PUT /api/session/totp").json(&code).send().await.expect(200);
            app.clock().advance_seconds(30);
        }
        let code = secret.code(app.app.clock.now());
        self.secrets.extend([("code", code.clone()), ("totp", code)]);
    }
}
