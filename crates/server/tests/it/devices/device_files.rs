//! Photos of trackers on real sockets: kept when they are acknowledged, listed, read with safe headers, deleted.

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::gateways::{Hearing, PATIENCE, Tracker};
use crate::support::people::Traits;
use crate::support::{Engine, on_both_engines};

on_both_engines!(
    a_photo_in_packets_is_kept_when_it_is_acknowledged,
    a_photo_is_acknowledged_after_it_is_stored_only,
    a_photo_that_is_sent_again_is_kept_once,
    strangers_upload_nothing,
    photos_of_other_protocols_are_kept,
    other_files_are_downloaded_not_shown,
);

const NAME: &str = "13800138000";
/// The name in a header.
const DIGITS: [u8; 6] = [0x01, 0x38, 0x00, 0x13, 0x80, 0x00];
const ID: u32 = 77;

/// A JT/T 808 message as it goes over the wire.
fn message(kind: u16, properties: u16, head: &[u16], body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap();
    let mut frame = [kind.to_be_bytes(), (properties | length).to_be_bytes()].concat();
    frame.extend_from_slice(&DIGITS);
    frame.extend(head.iter().flat_map(|number| number.to_be_bytes()));
    frame.extend_from_slice(body);
    frame.push(frame.iter().fold(0, |sum, byte| sum ^ byte));
    let mut wire = vec![0x7e];
    for byte in frame {
        match byte {
            0x7e => wire.extend_from_slice(&[0x7d, 2]),
            0x7d => wire.extend_from_slice(&[0x7d, 1]),
            byte => wire.push(byte),
        }
    }
    wire.push(0x7e);
    wire
}

/// A message of the service: its type and its body.
fn answer(kind: u16, body: &[u8]) -> Vec<u8> {
    message(kind, 0, &[0], body)
}

/// The body of message 0x0801: a photo with the position where it was taken, at noon UTC.
fn upload(bytes: &[u8], format: u8) -> Vec<u8> {
    let mut body = ID.to_be_bytes().to_vec();
    body.extend_from_slice(&[0, format, 1, 3]);
    body.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 2]);
    body.extend_from_slice(&22_500_000_u32.to_be_bytes());
    body.extend_from_slice(&113_900_000_u32.to_be_bytes());
    body.extend_from_slice(&[0, 10, 2, 0x58, 0, 90, 0x26, 0x01, 0x01, 0x20, 0, 0]);
    body.extend_from_slice(bytes);
    body
}

fn photo() -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe0".to_vec();
    bytes.extend((0..3_000_u32).map(|number| number.to_le_bytes()[0]));
    bytes
}

/// The packets of an upload, each a frame.
fn packets(body: &[u8]) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = body.chunks(900).collect();
    let total = u16::try_from(parts.len()).unwrap();
    let packet =
        |(part, number): (&&[u8], u16)| message(0x0801, 0x2000, &[500 + number, total, number], part);
    parts.iter().zip(1..).map(packet).collect()
}

/// The general answer to the packet of this number.
fn taken(number: u16) -> Vec<u8> {
    let [high, low] = (500 + number).to_be_bytes();
    answer(0x8001, &[high, low, 0x08, 0x01, 0])
}

/// The body of a request for the first three packets.
fn first_three() -> Vec<u8> {
    [&501_u16.to_be_bytes()[..], &[3, 0, 1, 0, 2, 0, 3]].concat()
}

fn complete() -> Vec<u8> {
    answer(0x8800, &ID.to_be_bytes())
}

async fn hearing(engine: Engine) -> (Hearing, String) {
    let on = Hearing::new(engine).await;
    let device = on.app.device(&on.tenant.owner, &json!({"name": "Bus", "identifier": NAME})).await;
    (on, device)
}

async fn send_all(tracker: &mut Tracker, packets: &[Vec<u8>]) {
    for (packet, number) in packets.iter().zip(1..) {
        let is_last = usize::from(number) == packets.len();
        tracker.ask(packet, &if is_last { complete() } else { taken(number) }).await;
    }
}

async fn files(on: &Hearing, device: &str) -> Vec<Value> {
    let list = on.app.get(&on.tenant.owner, &format!("/api/devices/{device}/files")).await;
    list["files"].as_array().unwrap().clone()
}

async fn a_photo_in_packets_is_kept_when_it_is_acknowledged(engine: Engine) {
    let (on, device) = hearing(engine).await;
    let mut tracker = on.connect("any").await;
    let packets = packets(&upload(&photo(), 0));
    // The third packet is lost and requested.
    tracker.ask(&packets[0], &taken(1)).await;
    tracker.ask(&packets[1], &taken(2)).await;
    assert_eq!(files(&on, &device).await, [] as [Value; 0]);
    let wanted = [&ID.to_be_bytes()[..], &[1, 0, 3]].concat();
    tracker.ask(&packets[3], &answer(0x8800, &wanted)).await;
    tracker.ask(&packets[2], &complete()).await;

    let listed = files(&on, &device).await;
    assert_eq!(listed.len(), 1);
    let file = &listed[0];
    assert_eq!((&file["name"], &file["mediaType"]), (&json!("media-77-channel-3.jpg"), &json!("image/jpeg")));
    assert_eq!((&file["size"], &file["source"]), (&json!(photo().len()), &json!("jt808")));
    assert_eq!((&file["capturedAt"], &file["deviceId"]), (&json!("2026-01-01T12:00:00Z"), &json!(device)));
    let path = format!("/api/devices/{NAME}/files/{}", file["id"].as_str().unwrap());
    let answer = on.app.call(&format!("GET {path}")).by(&on.tenant.owner).send().await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "image/jpeg");
    assert_eq!(answer.header("content-disposition"), "inline; filename=\"media-77-channel-3.jpg\"");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(answer.body, photo());
    // The photo is also where it was taken.
    let stored = on.locations(&device).await;
    assert_eq!((stored.len(), &stored[0]["dateTime"]), (1, &json!("2026-01-01T12:00:00Z")));

    // Nobody else reads it, and it is deleted with its device.
    let other = on.app.tenant("second", 10).await;
    on.app.call(&format!("GET {path}")).by(&other.owner).send().await.expect_error(404, "not-found");
    let wrong = format!("GET /api/devices/{device}/files/fil_0000000000001");
    on.app.call(&wrong).by(&on.tenant.owner).send().await.expect_error(404, "not-found");
    let reader = on.app.person(&on.tenant, "reader", Traits::default()).await;
    assert_eq!(on.app.call(&format!("GET {path}")).by(&reader).send().await.status, 200);
    on.app.call(&format!("DELETE /api/devices/{device}")).by(&on.tenant.owner).send().await.expect(200);
    on.app.call(&format!("GET {path}")).by(&on.tenant.owner).send().await.expect_error(404, "not-found");
    on.listeners.stop().await;
}

async fn a_photo_is_acknowledged_after_it_is_stored_only(engine: Engine) {
    let (on, _device) = hearing(engine).await;
    let mut tracker = on.connect("any").await;
    let packets = packets(&upload(&photo(), 0));
    tracker.ask(&packets[0], &taken(1)).await;
    on.app.store.close().await;
    tracker.send(&packets[3]).await;
    assert_eq!(tracker.rest().await, b"", "closed without an answer, so that the tracker sends again");
    on.listeners.stop().await;
}

async fn a_photo_that_is_sent_again_is_kept_once(engine: Engine) {
    let (on, device) = hearing(engine).await;
    let packets = packets(&upload(&photo(), 0));
    for _ in 0..2 {
        let mut tracker = on.connect("any").await;
        send_all(&mut tracker, &packets).await;
        tracker.finish().await;
    }
    assert_eq!(files(&on, &device).await.len(), 1);
    // A photo whose first packets were received by another connection is requested.
    let mut tracker = on.connect("any").await;
    tracker.ask(&packets[3], &answer(0x8003, &first_three())).await;
    on.listeners.stop().await;
}

async fn strangers_upload_nothing(engine: Engine) {
    let on = Hearing::new(engine).await;
    let owner = &on.tenant.owner;
    let mut tracker = on.connect("any").await;
    let packets = packets(&upload(&photo(), 0));
    tracker.send(&packets[..3].concat()).await;
    let heard = async {
        loop {
            on.app.app.ingest.strangers.save().await.unwrap();
            let heard = on.app.get(owner, "/api/heardDevices").await;
            if heard["heardDevices"][0]["messages"] == 3 {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, heard).await.expect("three packets are heard");
    // Claimed while it is connected: earlier packets are not in memory, and are requested.
    let device = on.app.device(owner, &json!({"name": "Bus", "identifier": NAME})).await;
    on.app.clock().advance_seconds(6);
    tracker.ask(&packets[3], &answer(0x8003, &first_three())).await;
    tracker.ask(&packets[0], &taken(1)).await;
    tracker.ask(&packets[1], &taken(2)).await;
    tracker.ask(&packets[2], &complete()).await;
    assert_eq!(files(&on, &device).await.len(), 1);
    on.listeners.stop().await;
}

async fn photos_of_other_protocols_are_kept(engine: Engine) {
    let (on, _) = hearing(engine).await;
    let device = on.app.device(&on.tenant.owner, &json!({"name": "Truck", "identifier": "truck-1"})).await;
    let mut tracker = on.connect("any").await;
    tracker.ask(b"#L#truck-1;NA\r\n", b"#AL#1\r\n").await;
    let block = |index: u8, bytes: &[u8]| {
        [format!("#I#{};{index};1;010126;120000;truck.jpg\r\n", bytes.len()).as_bytes(), bytes].concat()
    };
    tracker.ask(&block(0, b"\xff\xd8\xff\xe0"), b"#AI#0;1\r\n").await;
    tracker.ask(&block(1, b"the rest"), b"#AI#1;1\r\n#AI#1\r\n").await;
    let listed = files(&on, &device).await;
    assert_eq!((&listed[0]["name"], &listed[0]["size"]), (&json!("truck.jpg"), &json!(12)));
    assert_eq!(listed[0]["capturedAt"], "2026-01-01T12:00:00Z");
    on.listeners.stop().await;
}

async fn other_files_are_downloaded_not_shown(engine: Engine) {
    let (on, device) = hearing(engine).await;
    let mut tracker = on.connect("any").await;
    let page = b"<html><script>alert(1)</script></html>";
    tracker.ask(&message(0x0801, 0, &[9], &upload(page, 0)), &complete()).await;
    let file = files(&on, &device).await.remove(0);
    assert_eq!(file["mediaType"], "application/octet-stream");
    let path = format!("GET /api/devices/{device}/files/{}", file["id"].as_str().unwrap());
    let answer = on.app.call(&path).by(&on.tenant.owner).send().await;
    assert_eq!(answer.header("content-type"), "application/octet-stream");
    assert!(answer.header("content-disposition").starts_with("attachment;"));
    assert_eq!(answer.body, page);
    on.listeners.stop().await;
}
