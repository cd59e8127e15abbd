//! The photo of a device that users set: checked, read with safe headers, removed.

use perigee_core::devices::device_photo::NewPhoto;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    a_photo_is_set_shown_and_removed,
    other_bodies_are_refused_as_a_photo,
    only_who_changes_the_device_sets_its_photo,
    a_photo_is_kept_without_its_metadata_and_within_its_pixels,
);

/// The head of a PNG of this size.
fn png_of(width: u32, height: u32) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    png.extend_from_slice(&width.to_be_bytes());
    png.extend_from_slice(&height.to_be_bytes());
    png.extend_from_slice(b"\x08\x02\0\0\0sums");
    png
}

fn chunk(name: &[u8], data: &[u8]) -> Vec<u8> {
    [&u32::try_from(data.len()).unwrap().to_be_bytes()[..], name, data, b"sums"].concat()
}

/// A small PNG with this text, if any, and this many bytes of pixels.
fn png(text: Option<&[u8]>, pixels: usize) -> Vec<u8> {
    let text = text.map(|text| chunk(b"eXIf", text)).unwrap_or_default();
    [png_of(4, 3), text, chunk(b"IDAT", &vec![7; pixels]), chunk(b"IEND", b"")].concat()
}

async fn a_photo_is_set_shown_and_removed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Boat", "identifier": "boat-1"})).await;
    let read = async || app.get(&owner, &format!("/api/devices/{device}")).await["device"].clone();
    assert_eq!(read().await["photo"], Value::Null);
    let set = app
        .call("PUT /api/devices/boat-1/photo")
        .by(&owner)
        .body("image/png", png(None, 10))
        .send()
        .await
        .expect(200);
    let photo = set["device"]["photo"].as_str().unwrap().to_owned();
    assert_eq!(read().await["photo"], json!(photo));

    let line = format!("GET /api/devices/{device}/files/{photo}");
    let answer = app.call(&line).by(&owner).send().await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "image/png"));
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(answer.body, png(None, 10));
    let other = app.tenant("second", 10).await.owner;
    app.call(&line).by(&other).send().await.expect_error(404, "not-found");

    // The answer of GET can be sent back: the photo stays.
    let mut whole = read().await;
    whole["name"] = json!("Ship");
    let put = app.send(&owner, &format!("PUT /api/devices/{device}"), &whole).await.expect(200);
    assert_eq!((&put["device"]["name"], &put["device"]["photo"]), (&json!("Ship"), &json!(photo)));
    let removed = app.call("DELETE /api/devices/boat-1/photo").by(&owner).send().await.expect(200);
    assert_eq!(removed["device"]["photo"], Value::Null);
    app.call(&line).by(&owner).send().await.expect_error(404, "not-found");
    app.call("DELETE /api/devices/boat-1/photo").by(&owner).send().await.expect(200);
}

async fn other_bodies_are_refused_as_a_photo(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Boat"})).await;
    let line = format!("PUT /api/devices/{device}/photo");
    let put = async |media: &str, body: Vec<u8>| app.call(&line).by(&owner).body(media, body).send().await;
    let html = b"<html><script>alert(1)</script>".to_vec();
    put("text/html", html.clone()).await.expect_error(415, "unsupported-media-type");
    put("image/svg+xml", b"<svg/>".to_vec()).await.expect_error(415, "unsupported-media-type");
    put("image/png", html).await.expect_error(415, "unsupported-media-type");
    put("image/png", b"GIF89a".to_vec()).await.expect_error(415, "unsupported-media-type");
    put("image/png", Vec::new()).await.expect_error(415, "unsupported-media-type");
    put("image/png", png_of(4, 3)).await.expect_error(415, "unsupported-media-type");
    let room = NewPhoto::BYTES_MAX - png(None, 0).len();
    put("image/png", png(None, room)).await.expect(200);
    let refused = put("image/png", png(None, room + 1)).await.expect_error(413, "body-too-large");
    assert!(refused.to_string().contains("Scale it down"), "{refused}");
    assert_eq!(app.app.budget.bodies.used(), 0, "no memory is held on to");
}

async fn only_who_changes_the_device_sets_its_photo(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Boat"})).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let line = format!("/api/devices/{device}/photo");
    let put = app.call(&format!("PUT {line}")).by(&reader).body("image/png", png(None, 10)).send().await;
    put.expect_error(403, "forbidden");
    app.call(&format!("DELETE {line}")).by(&reader).send().await.expect_error(403, "forbidden");
}

async fn a_photo_is_kept_without_its_metadata_and_within_its_pixels(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Boat"})).await;
    let line = format!("PUT /api/devices/{device}/photo");
    let put = async |body: Vec<u8>| app.call(&line).by(&owner).body("image/png", body).send().await;
    let set = put(png(Some(b"GPS 42.24 N"), 10)).await.expect(200);
    let photo = set["device"]["photo"].as_str().unwrap().to_owned();
    let read = app.call(&format!("GET /api/devices/{device}/files/{photo}")).by(&owner).send().await;
    assert_eq!(read.body, png(None, 10), "without the position where it was taken");

    let bomb = [png_of(50_000, 50_000), chunk(b"IDAT", b"few bytes"), chunk(b"IEND", b"")].concat();
    let refused = put(bomb).await.expect_error(413, "body-too-large");
    assert!(refused.to_string().contains("50000 x 50000 pixels"), "{refused}");
}
