//! Commands on real sockets: queued until the tracker connects, sent once, answered, cancelled, expired.

use perigee_core::time::Clock as _;
use serde_json::{Value, json};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::gateways::{Hearing, IMEI, PATIENCE, frame, location};
use crate::support::people::Traits;
use crate::support::{Engine, on_both_engines};

on_both_engines!(
    a_command_waits_for_its_tracker_and_is_answered,
    a_connected_tracker_gets_a_command_at_once,
    commands_are_refused_with_a_reason,
    an_engine_is_not_stopped_at_speed,
    a_queued_command_is_cancelled_or_expires,
    the_older_form_is_a_custom_command,
    the_older_form_has_a_format_and_no_sms,
    a_number_may_be_text_and_a_queue_is_bounded,
    by_udp_a_command_goes_to_where_the_device_last_reported_from,
    by_udp_an_address_gets_no_more_bytes_than_it_sent,
);

/// A GT06 command as the tracker gets it.
fn order(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len() + 4).unwrap();
    frame(0x80, &[[length, 0, 0, 0, 0].as_slice(), text.as_bytes()].concat(), 0)
}

/// The answer of a GT06 tracker to a command.
fn answer(text: &str, serial: u16) -> Vec<u8> {
    let length = u8::try_from(text.len() + 4).unwrap();
    frame(0x15, &[[length, 0, 0, 0, 0].as_slice(), text.as_bytes(), &[0, 2]].concat(), serial)
}

async fn give(on: &Hearing, device: &str, body: &Value) -> Value {
    send(on, &format!("POST /api/devices/{device}/commands"), body, 201).await
}

/// The body of the answer to the owner, which has this status.
async fn send(on: &Hearing, line: &str, body: &Value, status: u16) -> Value {
    on.app.send(&on.tenant.owner, line, body).await.expect(status)
}

/// Waits until a command has failed.
async fn wait_for_failure(on: &Hearing) {
    let list = on.app.get(&on.tenant.owner, "/api/events?cursor=start&types=command.failed&wait=30").await;
    assert_eq!(list["events"].as_array().unwrap().len(), 1);
}

async fn read(on: &Hearing, command: &Value) -> Value {
    on.app.get(&on.tenant.owner, &format!("/api/commands/{}", command["id"].as_str().unwrap())).await
}

/// The types of the events about commands, in order.
async fn events(on: &Hearing) -> Vec<String> {
    let list = on.app.get(&on.tenant.owner, "/api/events?cursor=start&types=command.*&limit=100").await;
    let events = list["events"].as_array().unwrap().iter();
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

async fn a_command_waits_for_its_tracker_and_is_answered(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let body = json!({"type": "positionPeriodic", "values": {"frequency": 60, "devicePassword": "1234"}});
    let given = give(&on, &device, &body).await;
    assert_eq!((&given["state"], &given["sentAt"]), (&json!("queued"), &json!(null)));
    assert_eq!(given["values"], json!({"frequency": 60}), "the password is not shown");
    let mut tracker = on.log_in().await;
    let wanted = order("TIMER,60#");
    assert_eq!(tracker.receive(wanted.len()).await, wanted);
    let sent = read(&on, &given).await;
    assert_eq!((&sent["state"], &sent["protocol"]), (&json!("sent"), &json!("gt06")));
    // A location in between is not an answer.
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    tracker.ask(&answer("TIMER OK", 3), &frame(0x15, &[], 3)).await;
    let answered = read(&on, &given).await;
    assert_eq!((&answered["state"], &answered["answer"]), (&json!("answered"), &json!("TIMER OK")));
    assert_eq!(events(&on).await, ["command.queued", "command.sent", "command.answered"]);
    // Another connection does not get it again, and a second answer changes nothing.
    let mut again = on.log_in().await;
    again.ask(&answer("LATE", 2), &frame(0x15, &[], 2)).await;
    assert_eq!(read(&on, &given).await["answer"], "TIMER OK");
    assert_eq!(again.finish().await, b"");
    on.listeners.stop().await;
}

async fn a_connected_tracker_gets_a_command_at_once(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let mut tracker = on.log_in().await;
    tracker.ask(&location(5, 2), &frame(0x12, &[], 2)).await;
    for (body, text) in [
        (json!({"type": "positionSingle"}), "WHERE#"),
        (json!({"type": "engineResume", "confirm": true}), "Relay,0#"),
        (json!({"type": "custom", "values": {"data": "STATUS#"}}), "STATUS#"),
    ] {
        give(&on, &device, &body).await;
        let wanted = order(text);
        assert_eq!(tracker.receive(wanted.len()).await, wanted, "{text}");
    }
    let raw = json!({"type": "custom", "values": {"hex": "0102ff"}});
    give(&on, &device, &raw).await;
    assert_eq!(tracker.receive(3).await, [1, 2, 0xff], "as it is");
    // Answers belong to the commands in the order in which they were sent.
    for (serial, text) in [(3, "first"), (4, "second")] {
        tracker.ask(&answer(text, serial), &frame(0x15, &[], serial)).await;
    }
    let path = format!("/api/devices/{device}/commands?state=answered");
    let list = on.app.get(&on.tenant.owner, &path).await;
    let answers: Vec<&Value> =
        list["commands"].as_array().unwrap().iter().map(|one| &one["answer"]).collect();
    assert_eq!(answers, ["second", "first"], "newest first");
    on.listeners.stop().await;
}

async fn commands_are_refused_with_a_reason(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let path = format!("/api/devices/{device}/commands");
    let refused = async |body: Value, member: &str, text: &str| {
        let answer = send(&on, &format!("POST {path}"), &body, 400).await;
        assert_eq!(answer["errors"][0]["pointer"], member, "{answer}");
        assert!(answer["error"].as_str().unwrap().contains(text), "{answer}");
    };
    refused(json!({"type": "engineStop"}), "/confirm", "must be true").await;
    refused(json!({"type": "positionPeriodic", "values": {"frequency": 0}}), "/values", "1 to 86400").await;
    refused(json!({"type": "positionPeriodic"}), "/values", "frequency is required: a whole number").await;
    refused(json!({"type": "positionPeriodic", "values": {"frequency": "often"}}), "/values", "whole number")
        .await;
    refused(json!({"type": "explode"}), "/type", "positionSingle").await;
    refused(json!({"type": "rebootDevice", "deadline": "2020-01-01T00:00:00Z"}), "/deadline", "future").await;
    // The protocol of a tracker is known after its first message.
    let body = json!({"type": "sendSms", "values": {"phone": "+3460000", "message": "hello"}});
    let given = give(&on, &device, &body).await;
    let tracker = on.log_in().await;
    wait_for_failure(&on).await;
    let failed = read(&on, &given).await;
    assert_eq!(failed["state"], "failed");
    assert!(failed["error"].as_str().unwrap().contains("gt06"), "{failed}");
    refused(body, "/type", "positionSingle").await;
    let types = on.app.get(&on.tenant.owner, &format!("/api/devices/{device}/commandTypes")).await;
    assert_eq!(types["protocol"], "gt06");
    let names: Vec<&str> =
        types["commandTypes"].as_array().unwrap().iter().map(|kind| kind["type"].as_str().unwrap()).collect();
    assert!(names.contains(&"engineStop") && !names.contains(&"sendSms"), "{names:?}");
    assert_eq!(tracker.finish().await, b"");
    on.listeners.stop().await;
}

async fn an_engine_is_not_stopped_at_speed(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let stop = json!({"type": "engineStop", "confirm": true});
    let path = format!("/api/devices/{device}/commands");
    // Given while it stands still, and not sent while it moves.
    let given = give(&on, &device, &stop).await;
    let now = on.app.clock().now();
    let location = json!({"dateTime": now.to_string(), "latitude": 1, "longitude": 1, "speed": 21});
    send(&on, &format!("POST /api/devices/{device}/locations"), &location, 201).await;
    let answer = send(&on, &format!("POST {path}"), &stop, 409).await;
    assert_eq!(answer["code"], "device-moving");
    assert!(answer["error"].as_str().unwrap().contains("21 km/h"), "{answer}");
    let tracker = on.log_in().await;
    wait_for_failure(&on).await;
    let failed = read(&on, &given).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(tracker.finish().await, b"", "nothing was sent");
    // Resuming is possible at any speed, and stopping when it is slow.
    give(&on, &device, &json!({"type": "engineResume", "confirm": true})).await;
    let location =
        json!({"dateTime": now.plus_seconds(1).to_string(), "latitude": 1, "longitude": 1, "speed": 20});
    send(&on, &format!("POST /api/devices/{device}/locations"), &location, 201).await;
    give(&on, &device, &stop).await;
    let mut tracker = on.log_in().await;
    let wanted = [order("Relay,0#"), order("Relay,1#")].concat();
    assert_eq!(tracker.receive(wanted.len()).await, wanted);
    on.listeners.stop().await;
}

async fn a_queued_command_is_cancelled_or_expires(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let deadline = on.app.clock().now().plus_seconds(60).to_string();
    let reboot = json!({"type": "rebootDevice", "deadline": deadline});
    let (first, second) = (give(&on, &device, &reboot).await, give(&on, &device, &reboot).await);
    let path = format!("/api/commands/{}", first["id"].as_str().unwrap());
    let cancelled = send(&on, &format!("DELETE {path}"), &Value::Null, 200).await;
    assert_eq!(cancelled["state"], "failed");
    let twice = send(&on, &format!("DELETE {path}"), &Value::Null, 409).await;
    assert_eq!(twice["code"], "already-ended");
    assert!(twice["error"].as_str().unwrap().starts_with("The command is failed"), "{twice}");
    on.app.clock().advance_seconds(60);
    perigee_server::background::run_commands(&on.app.app).await;
    let expired = read(&on, &second).await;
    assert_eq!((&expired["state"], &expired["sentAt"]), (&json!("expired"), &json!(null)));
    let tracker = on.log_in().await;
    assert_eq!(tracker.finish().await, b"");
    let kinds = ["command.queued", "command.queued", "command.failed", "command.expired"];
    assert_eq!(events(&on).await, kinds);
    on.listeners.stop().await;
}

async fn the_older_form_is_a_custom_command(engine: Engine) {
    let on = Hearing::new(engine).await;
    on.device().await;
    let reader = on.app.person(&on.tenant, "reader", Traits::default()).await;
    let path = format!("/api/devices/{IMEI}/sendCommand");
    let body = json!({"command": "VERSION#"});
    on.app.send(&reader, &format!("POST {path}"), &body).await.expect(403);
    let given = send(&on, &format!("POST {path}"), &body, 201).await;
    assert_eq!((&given["type"], &given["values"]), (&json!("custom"), &json!({"data": "VERSION#"})));
    let mut tracker = on.log_in().await;
    let wanted = order("VERSION#");
    assert_eq!(tracker.receive(wanted.len()).await, wanted);
    on.listeners.stop().await;
}

async fn the_older_form_has_a_format_and_no_sms(engine: Engine) {
    let on = Hearing::new(engine).await;
    on.device().await;
    let line = format!("POST /api/devices/{IMEI}/sendCommand");
    for (body, values) in [
        (json!({"command": "VERSION#", "format": "Text", "sms": false}), json!({"data": "VERSION#"})),
        (json!({"command": "VERSION#", "format": "", "sms": null}), json!({"data": "VERSION#"})),
        (json!({"command": "0102ff", "format": "HEX"}), json!({"hex": "0102ff"})),
    ] {
        assert_eq!(send(&on, &line, &body, 201).await["values"], values, "{body}");
    }
    for (body, pointer) in [
        (json!({"command": "VERSION#", "sms": true}), "/sms"),
        (json!({"command": "VERSION#", "format": "morse"}), "/format"),
        (json!({"command": "VERSION#", "type": "custom"}), "/command"),
        (json!({"command": "0g", "format": "hex"}), "/values"),
        (json!({}), "/command"),
    ] {
        let refused = send(&on, &line, &body, 400).await;
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    }
    on.listeners.stop().await;
}

async fn a_number_may_be_text_and_a_queue_is_bounded(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.device().await;
    let periodic = json!({"type": "positionPeriodic", "values": {"frequency": "60"}});
    assert_eq!(give(&on, &device, &periodic).await["values"], json!({"frequency": 60}));
    for _ in 1..100 {
        give(&on, &device, &json!({"type": "positionSingle"})).await;
    }
    let body = json!({"type": "positionSingle"});
    let more = send(&on, &format!("POST /api/devices/{device}/commands"), &body, 409).await;
    assert_eq!(more["code"], "too-many");
    let expect =
        "The device has 100 queued commands, the maximum. Wait until the device connects, or cancel one.";
    assert_eq!(more["error"], expect);
    on.listeners.stop().await;
}

/// The number of a `CalAmp` unit.
const UNIT: &str = "4634663543";

/// A unit of `CalAmp` behind one address.
struct Unit(UdpSocket);

impl Unit {
    async fn new(on: &Hearing) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(on.addresses["any"].1.unwrap()).await.unwrap();
        Self(socket)
    }

    async fn send(&self, message: &[u8]) {
        let options = [0x83, 5, 0x46, 0x34, 0x66, 0x35, 0x43, 1, 1];
        self.0.send(&[&options, message].concat()).await.unwrap();
    }

    async fn receive(&self) -> Vec<u8> {
        let mut buffer = [0; 500];
        let count = timeout(PATIENCE, self.0.recv(&mut buffer)).await.expect("a datagram").unwrap();
        buffer[..count].to_vec()
    }

    /// Sends this many bytes of data and takes the acknowledgement.
    async fn report(&self, sequence: u8, bytes: usize) {
        self.send(&[&[1, 5, 0, sequence], vec![0; bytes].as_slice()].concat()).await;
        assert_eq!(self.receive().await, [2, 1, 0, sequence, 5, 0, 0, 0, 0, 0]);
    }

    fn has_nothing(&self) -> bool {
        self.0.try_recv(&mut [0; 500]).is_err()
    }
}

/// A command that is sent as it is, and its bytes.
async fn give_hex(on: &Hearing, device: &str, bytes: &[u8]) -> Value {
    let digits = crate::gateways::hex(bytes);
    give(on, device, &json!({"type": "custom", "values": {"hex": digits}})).await
}

async fn by_udp_a_command_goes_to_where_the_device_last_reported_from(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.app.device(&on.tenant.owner, &json!({"name": "Van", "identifier": UNIT})).await;
    let request = |number: u8| [1, 7, 0, number, 10, 0, 0, 0, 0, 0, 0, 0];
    let (here, there) = (Unit::new(&on).await, Unit::new(&on).await);

    // Queued until the unit reports, then answered.
    let first = give_hex(&on, &device, &request(1)).await;
    here.report(1, 100).await;
    assert_eq!(here.receive().await, request(1));
    let sent = read(&on, &first).await;
    assert_eq!((&sent["state"], &sent["protocol"]), (&json!("sent"), &json!("calamp")));
    here.send(&[2, 1, 0, 1, 7, 0, 0, 0, 0, 0]).await;
    let list = on.app.get(&on.tenant.owner, "/api/events?cursor=start&types=command.answered&wait=30").await;
    assert_eq!(list["events"].as_array().unwrap().len(), 1);
    let answered = read(&on, &first).await;
    assert_eq!((&answered["state"], &answered["answer"]), (&json!("answered"), &json!("07: done")));

    // At once while the unit was heard a short time ago.
    give_hex(&on, &device, &request(2)).await;
    assert_eq!(here.receive().await, request(2));

    // Later the way back may be closed: the command waits for the next report, which comes from elsewhere.
    on.app.clock().advance_seconds(61);
    give_hex(&on, &device, &request(3)).await;
    there.report(2, 100).await;
    assert_eq!(there.receive().await, request(3));

    // Of two addresses the later one counts.
    here.report(3, 100).await;
    give_hex(&on, &device, &request(4)).await;
    assert_eq!(here.receive().await, request(4));
    on.listeners.stop().await;
    assert!(here.has_nothing() && there.has_nothing());
}

async fn by_udp_an_address_gets_no_more_bytes_than_it_sent(engine: Engine) {
    let on = Hearing::new(engine).await;
    let device = on.app.device(&on.tenant.owner, &json!({"name": "Van", "identifier": UNIT})).await;
    let unit = Unit::new(&on).await;
    let long = [7; 100];
    let given = give_hex(&on, &device, &long).await;
    // The sender of a small datagram may be forged: it is acknowledged, and the command waits.
    unit.report(1, 20).await;
    unit.report(2, 200).await;
    assert_eq!(unit.receive().await, long);
    assert_eq!(read(&on, &given).await["state"], "sent");
    on.listeners.stop().await;
    assert!(unit.has_nothing());
}
