//! Conversations from bytes to answers: texts of feeds and trackers arrive once, and messages are handed to simulated
//! providers on real sockets.

use perigee_core::access::privilege::Privilege;
use perigee_core::time::Clock as _;
use perigee_server::config::Config;
use perigee_simulator::downlink::{Downlink, Fault, Interface};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::gateways::{Hearing, IMEI as TRACKER};
use crate::support::people::Traits;
use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    texts_of_feeds_arrive_once_with_their_position,
    a_text_without_a_fix_is_in_the_conversation,
    unread_texts_are_counted_and_marked,
    a_message_goes_by_garmin_and_is_answered,
    what_garmin_refuses_is_explained,
    garmin_is_asked_again_only_when_it_permits,
    a_silent_provider_leaves_a_message_unclear,
    rockblock_takes_bytes,
    cloudloop_takes_bytes_for_a_thing,
    directip_confirms_with_the_queue,
    directip_stays_outside_of_private_networks,
    a_long_text_is_split_only_if_asked,
    what_a_network_cannot_carry_is_shown_before,
    garmin_takes_intervals_and_emergency_messages,
    share_links_show_conversations_after_a_delay,
    what_cannot_be_sent_is_refused_before,
    a_driver_and_the_office_write_to_each_other,
    a_queued_message_is_cancelled,
);

const IMEI: &str = "300434030000000";

fn open(config: &mut Config) {
    config.webhooks.allow_http = true;
    config.webhooks.allowed_networks = vec!["127.0.0.0/8".to_owned()];
}

struct World {
    app: TestApp,
    tenant: Tenant,
    device: String,
}

impl World {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::with(engine, open).await;
        let tenant = app.tenant("acme", 10).await;
        let device = app.device(&tenant.owner, &json!({"name": "Boat", "identifier": IMEI})).await;
        Self { app, tenant, device }
    }

    /// A gateway, and the path to which its provider sends.
    async fn gateway(&self, body: &Value) -> String {
        let made = self.app.send(&self.tenant.owner, "POST /api/gateways", body).await.expect(201);
        let url = made["url"].as_str().unwrap();
        url.get(url.find("/gateways/").unwrap()..).unwrap().to_owned()
    }

    /// Delivers JSON to a gateway.
    async fn deliver(&self, path: &str, body: &Value) {
        self.app.call(&format!("POST {path}")).from("203.0.113.9").json(body).send().await.expect(200);
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/devices/{}/conversation{rest}", self.device)
    }

    /// The messages, oldest first.
    async fn messages(&self) -> Vec<Value> {
        let list = self.app.get(&self.tenant.owner, &self.path("")).await;
        let mut messages = list["messages"].as_array().unwrap().clone();
        messages.reverse();
        messages
    }

    async fn send(&self, body: &Value) -> Value {
        self.app.send(&self.tenant.owner, &format!("POST {}", self.path("")), body).await.expect(201)
    }

    /// The reason for which a message is refused.
    async fn refused(&self, body: &Value) -> String {
        let answer = self.app.send(&self.tenant.owner, &format!("POST {}", self.path("")), body).await;
        answer.expect_error(400, "invalid-body")["errors"][0]["detail"].as_str().unwrap().to_owned()
    }

    async fn read(&self, message: &Value) -> Value {
        let id = message["id"].as_str().unwrap();
        self.app.get(&self.tenant.owner, &format!("/api/conversationMessages/{id}")).await
    }

    /// The types of the events about the conversation, in order.
    async fn events(&self) -> Vec<String> {
        let list =
            self.app.get(&self.tenant.owner, "/api/events?cursor=start&types=conversation.*&limit=100").await;
        let kinds = list["events"].as_array().unwrap().iter();
        kinds.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// A device that reports by Garmin, and the simulated provider that takes messages to it.
    async fn with_garmin(engine: Engine) -> (Self, Downlink, String) {
        let on = Self::new(engine).await;
        let (provider, url) = provider(Interface::Garmin).await;
        let options = json!({"sendUrl": url, "sendKey": "k", "sender": "ops@example.com"});
        let path = on.gateway(&json!({"feed": "garmin", "options": options})).await;
        on.deliver(&path, &garmin(1_767_225_600, 0, None, 2)).await;
        (on, provider, path)
    }
}

/// A simulated provider on a real socket, and its URL.
async fn provider(interface: Interface) -> (Downlink, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let provider = Downlink::new(interface, "k");
    tokio::spawn(provider.clone().serve(listener));
    (provider, url)
}

/// An event of IPC Outbound; without a fix, all numbers of its point are 0.
fn garmin(at_s: i64, code: i64, text: Option<&str>, fix: u8) -> Value {
    let degrees = if fix == 0 { (0.0, 0.0) } else { (60.5, 5.25) };
    json!({"Version": "2.0", "Events": [{"imei": IMEI, "messageCode": code, "freeText": text,
        "timeStamp": at_s * 1_000, "addresses": [], "status": {"autonomous": 0, "lowBattery": 0},
        "point": {"latitude": degrees.0, "longitude": degrees.1, "altitude": 1, "gpsFix": fix, "course": 0, "speed": 0}}]})
}

async fn texts_of_feeds_arrive_once_with_their_position(engine: Engine) {
    let on = World::new(engine).await;
    let inreach = on.gateway(&json!({"feed": "garmin"})).await;
    for _ in 0..2 {
        on.deliver(&inreach, &garmin(1_767_225_600, 3, Some("Broken mast"), 2)).await;
    }
    on.deliver(&inreach, &garmin(1_767_225_660, 14, None, 2)).await;
    let spot = on.gateway(&json!({"feed": "spot", "deviceId": on.device})).await;
    let body = format!(
        "<messageList><message><id>7</id><esn>{IMEI}</esn><messageType>CUSTOM</messageType>\
         <messageContent>Back by six</messageContent><timeInGMTSecond>1767225700</timeInGMTSecond>\
         <latitude>1.5</latitude><longitude>2.5</longitude></message></messageList>"
    );
    let zoleo = on.gateway(&json!({"feed": "zoleo", "deviceId": on.device})).await;
    for _ in 0..2 {
        let call = on.app.call(&format!("POST {spot}")).body("text/xml", body.clone().into_bytes());
        call.send().await.expect(200);
        let check_in = json!({"MessageId": "m-1", "MessageType": "CheckIn", "DeviceIMEI": IMEI,
            "SentFromDevice": "2026-01-01T00:05:00Z", "Location": {}, "Properties": {}});
        on.deliver(&zoleo, &check_in).await;
    }
    let rockblock = on.gateway(&json!({"feed": "rockblock", "options": {"payload": "text"}})).await;
    let form = format!(
        "imei={IMEI}&momsn=5&transmit_time=26-01-01 00:10:00&data=48656c6c6f&iridium_latitude=3.5&iridium_longitude=4.5&iridium_cep=8"
    );
    let json_body = on
        .gateway(&json!({"feed": "json", "deviceId": on.device, "options": {"mapping": {
        "text": "/say", "fields": {"time": "/at"}}}}))
        .await;
    for _ in 0..2 {
        let form = form.replace(' ', "%20").into_bytes();
        let call = on.app.call(&format!("POST {rockblock}")).body("application/x-www-form-urlencoded", form);
        call.send().await.expect(200);
        on.deliver(&json_body, &json!({"say": "By a mapping", "at": "2026-01-01T00:15:00Z"})).await;
    }
    let messages = on.messages().await;
    let texts: Vec<_> = messages.iter().map(|one| one["text"].as_str().unwrap()).collect();
    let expect = ["Broken mast", "Preset message 1", "Back by six", "Check-in", "Hello", "By a mapping"];
    assert_eq!(texts, expect);
    let links: Vec<_> = messages.iter().map(|one| one["link"].as_str().unwrap()).collect();
    assert_eq!(links, ["garmin", "garmin", "spot", "zoleo", "rockblock", "json"]);
    let first = &messages[0];
    assert_eq!((&first["latitude"], &first["longitude"]), (&json!(60.5), &json!(5.25)));
    assert_eq!((&first["direction"], &first["state"]), (&json!("in"), &json!("received")));
    assert_eq!(first["dateTime"], "2026-01-01T00:00:00Z");
    assert_eq!(on.events().await, vec!["conversation.received"; 6]);
}

async fn a_text_without_a_fix_is_in_the_conversation(engine: Engine) {
    let on = World::new(engine).await;
    let path = on.gateway(&json!({"feed": "garmin"})).await;
    on.deliver(&path, &garmin(1_767_225_600, 3, Some("No sky here"), 0)).await;
    let messages = on.messages().await;
    assert_eq!((&messages[0]["text"], &messages[0]["latitude"]), (&json!("No sky here"), &json!(null)));
    let list = on.app.get(&on.tenant.owner, &format!("/api/devices/{}/locations", on.device)).await;
    assert_eq!(list["locations"], json!([]));
}

async fn unread_texts_are_counted_and_marked(engine: Engine) {
    let on = World::new(engine).await;
    let path = on.gateway(&json!({"feed": "garmin"})).await;
    for second in 0..3 {
        on.deliver(&path, &garmin(1_767_225_600 + second, 3, Some("again"), 2)).await;
    }
    let unread = async || on.app.get(&on.tenant.owner, &on.path("/links")).await["unread"].clone();
    assert_eq!(unread().await, 3);
    let messages = on.messages().await;
    let line = format!("POST {}", on.path("/read"));
    let mark =
        async |body: Value| on.app.send(&on.tenant.owner, &line, &body).await.expect(200)["unread"].clone();
    assert_eq!(mark(json!({"upTo": messages[1]["id"]})).await, 1);
    assert_eq!(mark(json!({"upTo": messages[0]["id"]})).await, 1);
    let list = on.app.get(&on.tenant.owner, "/api/conversations").await;
    assert_eq!(
        (&list["conversations"][0]["unread"], &list["conversations"][0]["deviceId"]),
        (&json!(1), &json!(on.device))
    );
    assert_eq!(mark(json!({})).await, 0);
    on.app.send(&on.tenant.owner, &line, &json!({"upTo": "x"})).await.expect_error(400, "invalid-body");
    let reader = on.app.person(&on.tenant, "reader", Traits::default()).await;
    let theirs = on.app.get(&reader, "/api/conversations").await;
    assert_eq!(theirs["conversations"][0]["unread"], 3, "each user reads for themselves");
}

async fn a_message_goes_by_garmin_and_is_answered(engine: Engine) {
    let (on, provider, path) = World::with_garmin(engine).await;
    let links = on.app.get(&on.tenant.owner, &on.path("/links")).await["links"].clone();
    assert_eq!(
        (&links[0]["link"], &links[0]["canSend"], &links[0]["maxCharacters"]),
        (&json!("garmin"), &json!(true), &json!(160))
    );
    assert_eq!((&links[0]["canRequestLocation"], &links[0]["billed"]), (&json!(true), &json!(true)));
    let sent = on.send(&json!({"text": "Return to port"})).await;
    let asked = on.send(&json!({"type": "locationRequest"})).await;
    assert_eq!(
        (&sent["state"], &sent["createdBy"]),
        (&json!("queued"), &json!(on.tenant.owner.id.to_string()))
    );
    while on.app.app.downlinks.turn().await.unwrap() > 0 {}
    assert_eq!(on.read(&sent).await["state"], "handedOver");
    assert_eq!(on.read(&asked).await["state"], "handedOver");
    let taken = provider.taken();
    assert_eq!(taken.len(), 2);
    assert_eq!((taken[0].to.as_str(), taken[0].text.as_deref()), (IMEI, Some("Return to port")));
    assert_eq!((taken[0].sender.as_str(), &taken[1].text), ("ops@example.com", &None));
    let now_s = on.app.clock().now().as_seconds();
    on.deliver(&path, &garmin(now_s + 60, 3, Some("Understood"), 2)).await;
    assert_eq!(on.read(&sent).await["state"], "answered");
    let kinds = on.events().await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "conversation.sent").count(), 2, "{kinds:?}");
    assert_eq!(kinds.last().map(String::as_str), Some("conversation.changed"));
    // The key is kept and not shown.
    let shown = on.app.get(&on.tenant.owner, "/api/gateways").await["gateways"][0]["options"].clone();
    assert_eq!((&shown["sendKey"], &shown["sender"]), (&json!(null), &json!("ops@example.com")));
}

async fn what_garmin_refuses_is_explained(engine: Engine) {
    let (on, provider, _) = World::with_garmin(engine).await;
    for code in 1..=17 {
        provider.fail_next(Fault::Code(code));
        let sent = on.send(&json!({"text": "hello"})).await;
        on.app.app.downlinks.turn().await.unwrap();
        let failed = on.read(&sent).await;
        let error = failed["error"].as_str().unwrap();
        assert!(error.ends_with(&format!("(error {code}): Simulated error {code}.")), "{failed}");
        // Garmin permits another attempt after its own errors, and after too many requests.
        assert_eq!(failed["state"], if code <= 2 { "queued" } else { "failed" }, "{failed}");
        if code <= 2 {
            let line = format!("DELETE /api/conversationMessages/{}", sent["id"].as_str().unwrap());
            on.app.call(&line).by(&on.tenant.owner).send().await.expect(200);
        }
    }
    assert_eq!((provider.taken().len(), provider.requests()), (0, 17), "each was tried once");
}

async fn garmin_is_asked_again_only_when_it_permits(engine: Engine) {
    let (on, provider, _) = World::with_garmin(engine).await;
    provider.fail_next(Fault::Busy(100));
    provider.fail_next(Fault::Broken);
    let sent = on.send(&json!({"text": "hello"})).await;
    on.app.app.downlinks.turn().await.unwrap();
    let waiting = on.read(&sent).await;
    assert_eq!((&waiting["state"], provider.requests()), (&json!("queued"), 1));
    on.app.clock().advance_seconds(99);
    assert_eq!(on.app.app.downlinks.turn().await.unwrap(), 0, "Retry-After");
    on.app.clock().advance_seconds(1);
    on.app.app.downlinks.turn().await.unwrap();
    on.app.clock().advance_seconds(60);
    on.app.app.downlinks.turn().await.unwrap();
    let sent = on.read(&sent).await;
    assert_eq!((&sent["state"], &sent["error"]), (&json!("handedOver"), &json!(null)));
    assert_eq!((provider.taken().len(), provider.requests()), (1, 3));
}

async fn a_silent_provider_leaves_a_message_unclear(engine: Engine) {
    let (on, provider, _) = World::with_garmin(engine).await;
    provider.fail_next(Fault::Silent);
    let sent = on.send(&json!({"text": "hello"})).await;
    on.app.app.downlinks.turn().await.unwrap();
    let unclear = on.read(&sent).await;
    assert_eq!(unclear["state"], "unclear");
    assert!(unclear["error"].as_str().unwrap().contains("billed twice"), "{unclear}");
    on.app.clock().advance_seconds(7_200);
    assert_eq!(on.app.app.downlinks.turn().await.unwrap(), 0);
    assert_eq!((provider.taken().len(), provider.requests()), (1, 1), "never sent again");
}

async fn rockblock_takes_bytes(engine: Engine) {
    let on = World::new(engine).await;
    let (provider, url) = provider(Interface::Rockblock).await;
    let options = json!({"sendUrl": format!("{url}/rockblock/MT"), "sendUser": "ops", "sendPassword": "k"});
    let path = on.gateway(&json!({"feed": "rockblock", "options": options})).await;
    let body = json!({"imei": IMEI, "momsn": 1, "transmit_time": "26-01-01 00:00:00", "data": "00"});
    on.deliver(&path, &body).await;
    let sent = on.send(&json!({"text": "Olá"})).await;
    provider.fail_next(Fault::Code(13));
    let broke = on.send(&json!({"text": "no credit"})).await;
    while on.app.app.downlinks.turn().await.unwrap() > 0 {}
    let failed = on.read(&sent).await;
    assert_eq!(failed["error"], "The account at RockBLOCK has no credit left.");
    let handed = on.read(&broke).await;
    assert_eq!((&handed["state"], &handed["reference"]), (&json!("handedOver"), &json!("4114651")));
    let taken = provider.taken();
    assert_eq!((taken.len(), taken[0].text.as_deref()), (1, Some("no credit")));
    let detail = on.refused(&json!({"text": "é".repeat(136)})).await;
    assert!(detail.contains("272 bytes"), "{detail}");
    let detail = on.refused(&json!({"type": "locationRequest"})).await;
    assert!(detail.contains("rockblock"), "{detail}");
}

async fn what_cannot_be_sent_is_refused_before(engine: Engine) {
    let on = World::new(engine).await;
    let detail = on.refused(&json!({"text": "hi"})).await;
    assert!(detail.contains("not heard yet"), "{detail}");
    let spot = on.gateway(&json!({"feed": "spot", "deviceId": on.device})).await;
    let body = format!(
        "<messageList><message><id>7</id><esn>{IMEI}</esn><messageType>TRACK</messageType>\
        <timeInGMTSecond>1767225700</timeInGMTSecond><latitude>1</latitude><longitude>2</longitude></message></messageList>"
    );
    on.app.call(&format!("POST {spot}")).body("text/xml", body.into_bytes()).send().await.expect(200);
    let detail = on.refused(&json!({"text": "hi"})).await;
    assert!(detail.contains("cannot receive"), "{detail}");
    let links = on.app.get(&on.tenant.owner, &on.path("/links")).await["links"].clone();
    assert_eq!((&links[0]["canSend"], &links[0]["maxCharacters"]), (&json!(false), &json!(null)));
    assert!(links[0]["reason"].as_str().unwrap().contains("SPOT"), "{links}");

    let (on, provider, _) = World::with_garmin(engine).await;
    let detail = on.refused(&json!({"text": "x".repeat(161)})).await;
    assert!(detail.contains("161 characters") && detail.contains("160"), "{detail}");
    for body in
        [json!({}), json!({"type": "locationRequest", "text": "x"}), json!({"text": "x", "link": "spot"})]
    {
        on.refused(&body).await;
    }
    let reader = on
        .app
        .person(
            &on.tenant,
            "reader",
            Traits { privileges: vec![Privilege::AlertsWrite], ..Traits::default() },
        )
        .await;
    let line = format!("POST {}", on.path(""));
    on.app.send(&reader, &line, &json!({"text": "hi"})).await.expect_error(403, "forbidden");
    assert_eq!((on.messages().await.len(), provider.requests()), (0, 0));
}

async fn a_queued_message_is_cancelled(engine: Engine) {
    let (on, provider, _) = World::with_garmin(engine).await;
    let sent = on.send(&json!({"text": "hello", "link": "garmin"})).await;
    let line = format!("DELETE /api/conversationMessages/{}", sent["id"].as_str().unwrap());
    let cancelled = on.app.call(&line).by(&on.tenant.owner).send().await.expect(200);
    assert_eq!(cancelled["state"], "cancelled");
    on.app.call(&line).by(&on.tenant.owner).send().await.expect_error(409, "already-ended");
    let handed = on.send(&json!({"text": "hello"})).await;
    while on.app.app.downlinks.turn().await.unwrap() > 0 {}
    let line = format!("DELETE /api/conversationMessages/{}", handed["id"].as_str().unwrap());
    on.app.call(&line).by(&on.tenant.owner).send().await.expect_error(409, "already-sent");
    assert_eq!(provider.taken().len(), 1);
    let audits = on.app.get(&on.tenant.owner, "/api/audit?limit=100").await.to_string();
    assert!(audits.contains("conversation.send") && audits.contains("conversation.cancel"));
}

async fn a_driver_and_the_office_write_to_each_other(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.connect("any").await;
    tracker.ask(format!("#L#{TRACKER};NA\r\n").as_bytes(), b"#AL#1\r\n").await;
    // The acknowledgement was lost: the tracker sends the message again.
    for _ in 0..2 {
        tracker.ask(b"#M#Flat tyre\r\n", b"#AM#1\r\n").await;
    }
    let path = format!("/api/devices/{device}/conversation");
    let line = format!("POST {path}");
    let send = async |body: &Value| on.app.send(&on.tenant.owner, &line, body).await;
    let queued = send(&json!({"text": "Help is coming"})).await.expect(201);
    let wanted = b"#M#Help is coming\r\n";
    assert_eq!(tracker.receive(wanted.len()).await, wanted);
    tracker.send(b"#AM#1\r\n").await;
    tracker.ask(b"#P#\r\n", b"#AP#\r\n").await;
    let messages = on.app.get(&on.tenant.owner, &path).await["messages"].clone();
    let [newest, oldest] = messages.as_array().unwrap().as_slice() else { panic!("{messages}") };
    assert_eq!((&oldest["text"], &oldest["link"]), (&json!("Flat tyre"), &json!("wialon-ips")));
    assert_eq!((&newest["id"], &newest["state"]), (&queued["id"], &json!("delivered")));
    assert_eq!((&newest["reference"], &newest["link"]), (&json!("1"), &json!("wialon-ips")));
    let links = on.app.get(&on.tenant.owner, &format!("{path}/links")).await["links"].clone();
    assert_eq!((&links[0]["link"], &links[0]["billed"]), (&json!("wialon-ips"), &json!(false)));
    let long = send(&json!({"text": "x".repeat(501)})).await.expect_error(400, "invalid-body");
    assert!(long["errors"][0]["detail"].as_str().unwrap().contains("501 bytes"), "{long}");
    send(&json!({"type": "locationRequest"})).await.expect_error(400, "invalid-body");
    on.listeners.stop().await;
}

const THING: &str = "DgXeoxwVPMyrdOBJeEGlqKRJLbajQkzZ";

impl World {
    /// Gives the device another identifier at a provider.
    async fn identify(&self, identifier: &str, link: &str) {
        let body = json!({"identifiers": [{"identifier": identifier, "link": link}]});
        let request = format!("PATCH /api/devices/{}", self.device);
        self.app.send(&self.tenant.owner, &request, &body).await.expect(200);
    }

    /// Hands over everything that is due.
    async fn hand_over(&self) {
        while self.app.app.downlinks.turn().await.unwrap() > 0 {}
    }

    /// The state and the error of a message.
    async fn state(&self, message: &Value) -> (String, String) {
        let read = self.read(message).await;
        let text = |name: &str| read[name].as_str().unwrap_or_default().to_owned();
        (text("state"), text("error"))
    }
}

async fn cloudloop_takes_bytes_for_a_thing(engine: Engine) {
    let on = World::new(engine).await;
    let (provider, url) = provider(Interface::Cloudloop).await;
    let gateway =
        on.gateway(&json!({"feed": "cloudloop", "options": {"sendUrl": url, "sendToken": "k"}})).await;
    let lingo = json!({"id": "1", "receivedAt": {"year": 2026, "month": 1, "day": 1}, "identity": {},
        "sbd": {"imei": IMEI}, "message": "SGVsbG8="});
    on.deliver(&gateway, &lingo).await;
    let detail = on.refused(&json!({"text": "hi"})).await;
    assert!(detail.contains("ID of its Thing"), "{detail}");
    on.identify(THING, "cloudloop").await;
    let shown = on.app.get(&on.tenant.owner, "/api/gateways").await["gateways"][0]["options"].clone();
    assert_eq!((&shown["sendToken"], &shown["sendUrl"]), (&json!(null), &json!(url)), "kept and not shown");

    let sent = on.send(&json!({"text": "Olá"})).await;
    on.hand_over().await;
    let handed = on.read(&sent).await;
    assert_eq!((&handed["state"], &handed["reference"]), (&json!("handedOver"), &json!("MTsimulated")));
    let taken = provider.taken();
    assert_eq!((taken[0].to.as_str(), taken[0].text.as_deref()), (THING, Some("Olá")));

    for (fault, state, words) in [
        (Fault::Code(2), "failed", "does not know the IMEI"),
        (Fault::Code(3), "failed", "too long for the modem"),
        (Fault::Code(403), "failed", "option sendToken"),
        (Fault::Code(500), "unclear", "billed twice"),
        (Fault::Broken, "unclear", "billed twice"),
        (Fault::Silent, "unclear", "billed twice"),
        (Fault::Busy(100), "queued", "too many messages"),
    ] {
        provider.fail_next(fault.clone());
        let sent = on.send(&json!({"text": "again"})).await;
        on.app.app.downlinks.turn().await.unwrap();
        let (is, error) = on.state(&sent).await;
        assert!(is == state && error.contains(words), "{fault:?}: {is}, {error}");
    }
    on.app.clock().advance_seconds(100);
    on.hand_over().await;
    assert_eq!((provider.taken().len(), provider.requests()), (3, 9), "only the last one was sent again");
    let detail = on.refused(&json!({"text": "é".repeat(136)})).await;
    assert!(detail.contains("272 bytes"), "{detail}");
}

/// A device that Iridium knows by its IMEI, and the gateway to which messages for it go.
async fn with_directip(engine: Engine) -> (World, Downlink) {
    let on = World::new(engine).await;
    let (provider, url) = provider(Interface::DirectIp).await;
    let address = url.strip_prefix("http://").unwrap();
    let made = on
        .app
        .send(
            &on.tenant.owner,
            "POST /api/gateways",
            &json!({"feed": "directip", "options": {"sendAddress": address}}),
        )
        .await
        .expect(201);
    assert_eq!(made["url"], json!(null), "nothing is sent to it");
    let line = format!("POST /api/gateways/{}/renewAddress", made["id"].as_str().unwrap());
    on.app.call(&line).by(&on.tenant.owner).send().await.expect_error(409, "no-address");
    on.identify("300234010753370", "iridium").await;
    (on, provider)
}

async fn directip_confirms_with_the_queue(engine: Engine) {
    let (on, provider) = with_directip(engine).await;
    let links = on.app.get(&on.tenant.owner, &on.path("/links")).await["links"].clone();
    assert_eq!((&links[0]["link"], &links[0]["maxBytes"]), (&json!("iridium"), &json!(270)));
    let sent = on.send(&json!({"text": "Olá"})).await;
    on.hand_over().await;
    let handed = on.read(&sent).await;
    assert_eq!((&handed["state"], &handed["reference"]), (&json!("handedOver"), &json!("4114651")));
    let taken = provider.taken();
    assert_eq!((taken[0].to.as_str(), taken[0].text.as_deref()), ("300234010753370", Some("Olá")));

    for code in 1..=12 {
        provider.fail_next(Fault::Code(code));
        let sent = on.send(&json!({"text": "x"})).await;
        on.app.app.downlinks.turn().await.unwrap();
        let (state, error) = on.state(&sent).await;
        // What is not in the queue is not billed: a full queue and missing resources are tried again.
        assert_eq!(state, if [5, 6].contains(&code) { "queued" } else { "failed" }, "{code}: {error}");
        assert!(error.starts_with("Iridium "), "{error}");
        if state == "queued" {
            let line = format!("DELETE /api/conversationMessages/{}", sent["id"].as_str().unwrap());
            on.app.call(&line).by(&on.tenant.owner).send().await.expect(200);
        }
    }
    for fault in [Fault::Silent, Fault::Broken] {
        provider.fail_next(fault.clone());
        let sent = on.send(&json!({"text": "x"})).await;
        on.app.app.downlinks.turn().await.unwrap();
        let (state, error) = on.state(&sent).await;
        assert!(state == "unclear" && error.contains("billed twice"), "{fault:?}: {state}, {error}");
    }
    on.app.clock().advance_seconds(7_200);
    on.hand_over().await;
    assert_eq!((provider.taken().len(), provider.requests()), (2, 15), "nothing was sent again");
}

async fn directip_stays_outside_of_private_networks(engine: Engine) {
    let on = World::new(engine).await;
    let post = async |address: &str| {
        let body = json!({"feed": "directip", "options": {"sendAddress": address}});
        on.app.send(&on.tenant.owner, "POST /api/gateways", &body).await
    };
    for address in ["10.0.0.1:10800", "[::1]:10800", "169.254.169.254:80", "no-port", "a b:1"] {
        let problem = post(address).await.expect_error(400, "invalid-body");
        assert_eq!(problem["errors"][0]["pointer"], "/options/sendAddress", "{problem}");
    }
    // A name is resolved when a message is sent: the loopback addresses of IPv6 are not allowed here.
    post("ip6-localhost:9").await.expect(201);
    on.identify("300234010753370", "iridium").await;
    let sent = on.send(&json!({"text": "x"})).await;
    on.app.app.downlinks.turn().await.unwrap();
    let (state, error) = on.state(&sent).await;
    assert!(state == "queued" && error.contains("no address on the public Internet"), "{state}: {error}");
}

async fn a_long_text_is_split_only_if_asked(engine: Engine) {
    let (on, provider, _) = World::with_garmin(engine).await;
    let text = "Storm warning for the whole coast, return to the nearest port at once. ".repeat(5);
    on.refused(&json!({"text": text})).await;
    let check = async |text: &str| {
        let line = format!("POST {}", on.path("/check"));
        on.app.send(&on.tenant.owner, &line, &json!({"text": text})).await.expect(200)
    };
    let checked = check(&text).await;
    assert_eq!((&checked["maxLength"], &checked["canSend"]), (&json!(160), &json!(true)));
    let line = format!("POST {}", on.path(""));
    let body = json!({"text": text, "split": true});
    let post = async || {
        let call = on.app.call(&line).by(&on.tenant.owner).header("idempotency-key", "once").json(&body);
        call.send().await.expect(201)
    };
    let sent = post().await;
    let ids = sent["parts"].as_array().unwrap().clone();
    assert_eq!((ids.len(), &ids[0]), (3, &sent["id"]));
    assert_eq!(post().await["parts"], sent["parts"], "sent once");
    on.hand_over().await;
    let texts: Vec<_> = provider.taken().into_iter().filter_map(|taken| taken.text).collect();
    assert_eq!(json!(texts), checked["parts"], "in order, as shown before");
    assert!(texts[0].starts_with("(1/3) Storm") && texts[2].starts_with("(3/3) "), "{texts:?}");
    assert_eq!(on.messages().await.len(), 3);

    let short = on.send(&json!({"text": "short", "split": true})).await;
    assert_eq!((&short["text"], &short["parts"]), (&json!("short"), &json!([short["id"]])));
    let endless = "x".repeat(1_500);
    let detail = on.refused(&json!({"text": endless, "split": true})).await;
    assert!(detail.contains("9 parts"), "{detail}");
    let checked = check(&endless).await;
    assert_eq!((&checked["parts"], &checked["canSend"]), (&json!(null), &json!(false)));
    on.refused(&json!({"type": "locationRequest", "split": true})).await;
    // The queue has room for 50 messages: 42 wait, and the parts are nine.
    for _ in 0..41 {
        on.send(&json!({"text": "wait"})).await;
    }
    let nine = json!({"text": "x".repeat(9 * 154), "split": true});
    on.app.send(&on.tenant.owner, &line, &nine).await.expect_error(409, "too-many");
    assert_eq!(on.messages().await.len(), 45, "none of the parts");
}

async fn what_a_network_cannot_carry_is_shown_before(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.connect("any").await;
    tracker.ask(format!("#L#{TRACKER};NA\r\n").as_bytes(), b"#AL#1\r\n").await;
    tracker.ask(b"#M#Flat tyre\r\n", b"#AM#1\r\n").await;
    let line = format!("POST /api/devices/{device}/conversation/check");
    let checked = on.app.send(&on.tenant.owner, &line, &json!({"text": "two\nlines"})).await.expect(200);
    assert_eq!(
        (&checked["link"], &checked["unsupported"], &checked["canSend"]),
        (&json!("wialon-ips"), &json!(["\n"]), &json!(false))
    );
    let checked = on.app.send(&on.tenant.owner, &line, &json!({"text": "Olá 😀"})).await.expect(200);
    assert_eq!((&checked["unsupported"], &checked["length"]), (&json!([]), &json!(9)));
    on.listeners.stop().await;
}

async fn garmin_takes_intervals_and_emergency_messages(engine: Engine) {
    let (on, provider, _) = World::with_garmin(engine).await;
    let links = on.app.get(&on.tenant.owner, &on.path("/links")).await["links"].clone();
    let expect = ["text", "locationRequest", "trackingInterval", "emergencyAcknowledge", "emergencyMessage"];
    assert_eq!(links[0]["types"], json!(expect));
    let interval = on.send(&json!({"type": "trackingInterval", "intervalSeconds": 600})).await;
    assert_eq!((&interval["intervalSeconds"], &interval["text"]), (&json!(600), &json!("")));
    on.send(&json!({"type": "emergencyAcknowledge"})).await;
    on.send(&json!({"type": "emergencyMessage", "text": "Help is on its way"})).await;
    on.hand_over().await;
    let taken = provider.taken();
    let paths: Vec<_> = taken.iter().map(|one| one.path.as_str()).collect();
    let expect = ["Tracking/Interval", "Emergency/AcknowledgeDeclareEmergency", "Emergency/SendMessage"];
    assert_eq!(paths, expect);
    assert!(taken.iter().all(|one| one.to == IMEI));
    assert_eq!((taken[0].interval_s, taken[2].text.as_deref()), (Some(600), Some("Help is on its way")));

    // Garmin refuses an interval during an emergency, and messages if its own centre handles it.
    provider.fail_next(Fault::Code(1));
    let refused = on.send(&json!({"type": "trackingInterval", "intervalSeconds": 30})).await;
    on.hand_over().await;
    provider.fail_next(Fault::Code(15));
    let handled = on.send(&json!({"type": "emergencyMessage", "text": "x"})).await;
    on.hand_over().await;
    for (message, words) in [(refused, "while the device is in an emergency"), (handled, "rescue centre")] {
        let (state, error) = on.state(&message).await;
        assert!(state == "failed" && error.contains(words), "{state}: {error}");
    }
    for body in [
        json!({"type": "trackingInterval"}),
        json!({"type": "trackingInterval", "intervalSeconds": 29}),
        json!({"type": "trackingInterval", "intervalSeconds": 65_536}),
        json!({"type": "trackingInterval", "intervalSeconds": 60, "text": "x"}),
        json!({"type": "text", "text": "x", "intervalSeconds": 60}),
        json!({"type": "emergencyAcknowledge", "text": "x"}),
        json!({"type": "emergencyMessage"}),
        json!({"type": "emergencyMessage", "text": "x".repeat(161)}),
    ] {
        on.refused(&body).await;
    }
}

async fn share_links_show_conversations_after_a_delay(engine: Engine) {
    let (on, _, path) = World::with_garmin(engine).await;
    let now = on.app.clock().now();
    let share = async |more: Value| {
        let mut body = json!({"deviceId": on.device, "from": now.plus_seconds(-3_600).to_string(),
            "until": now.plus_seconds(86_400).to_string()});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        on.app.send(&on.tenant.owner, "POST /api/shares", &body).await
    };
    let open = async |link: &Value, query: &str| {
        let secret = link["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let seen = on.app.call(&format!("GET /api/shared/{secret}{query}")).send().await.expect(200);
        seen["devices"][0].get("conversation").cloned()
    };
    on.deliver(&path, &garmin(now.as_seconds() - 7_200, 3, Some("before the link"), 2)).await;
    on.deliver(&path, &garmin(now.as_seconds() - 60, 3, Some("All well"), 2)).await;
    on.send(&json!({"text": "Good wind"})).await;
    on.send(&json!({"type": "locationRequest"})).await;
    on.hand_over().await;
    on.send(&json!({"text": "still queued"})).await;
    let hidden = share(json!({})).await.expect(201);
    assert_eq!(
        (&hidden["showConversation"], &hidden["conversationDelayMinutes"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(open(&hidden, "?conversation=true").await, None);
    let shown = share(json!({"showConversation": true})).await.expect(201);
    assert_eq!(open(&shown, "").await, None, "only if asked");
    let texts = open(&shown, "?conversation=true").await.unwrap();
    assert_eq!(texts[0]["text"], "All well");
    assert_eq!(texts[0].as_object().unwrap().len(), 3, "no position, no name: {texts}");
    assert_eq!((&texts[1]["text"], &texts[1]["direction"]), (&json!("Good wind"), &json!("out")));
    assert_eq!(texts.as_array().unwrap().len(), 2, "{texts}");

    let delayed = share(json!({"showConversation": true, "conversationDelayMinutes": 30})).await.expect(201);
    assert_eq!(open(&delayed, "?conversation=true").await, Some(json!([])));
    // The delay counts from the arrival, not from the time at which the device wrote it.
    on.app.clock().advance_seconds(30 * 60 - 1);
    assert_eq!(open(&delayed, "?conversation=true").await, Some(json!([])));
    on.app.clock().advance_seconds(1);
    assert_eq!(open(&delayed, "?conversation=true").await.unwrap(), texts);
    for wrong in [
        json!({"conversationDelayMinutes": 5}),
        json!({"showConversation": true, "conversationDelayMinutes": 44_641}),
    ] {
        let problem = share(wrong).await.expect_error(400, "invalid-body");
        assert_eq!(problem["errors"][0]["pointer"], "/conversationDelayMinutes", "{problem}");
    }
}
