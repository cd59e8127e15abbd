//! The photo of a device that users set: checked, read with safe headers, removed.

use perigee_core::device_photo::NewPhoto;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    a_photo_is_set_shown_and_removed,
    what_is_no_photo_is_refused,
    only_who_changes_the_device_sets_its_photo,
);

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand the rest of it";

async fn a_photo_is_set_shown_and_removed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Boat", "identifier": "boat-1"})).await;
    let read = async || app.get(&owner, &format!("/api/devices/{device}")).await["device"].clone();
    assert_eq!(read().await["photo"], Value::Null);
    let set =
        app.call("PUT /api/devices/boat-1/photo").by(&owner).body("image/png", PNG).send().await.expect(200);
    let photo = set["device"]["photo"].as_str().unwrap().to_owned();
    assert_eq!(read().await["photo"], json!(photo));

    let line = format!("GET /api/devices/{device}/files/{photo}");
    let answer = app.call(&line).by(&owner).send().await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "image/png"));
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(answer.body, PNG);
    let other = app.tenant("second", 10).await.owner;
    app.call(&line).by(&other).send().await.expect_error(404, "not-found");

    // What was read can be sent back: the photo stays.
    let mut whole = read().await;
    whole["name"] = json!("Ship");
    let put = app.send(&owner, &format!("PUT /api/devices/{device}"), &whole).await.expect(200);
    assert_eq!((&put["device"]["name"], &put["device"]["photo"]), (&json!("Ship"), &json!(photo)));
    let removed = app.call("DELETE /api/devices/boat-1/photo").by(&owner).send().await.expect(200);
    assert_eq!(removed["device"]["photo"], Value::Null);
    app.call(&line).by(&owner).send().await.expect_error(404, "not-found");
    app.call("DELETE /api/devices/boat-1/photo").by(&owner).send().await.expect(200);
}

async fn what_is_no_photo_is_refused(engine: Engine) {
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
    let mut large = PNG.to_vec();
    large.resize(NewPhoto::BYTES_MAX, 0);
    put("image/png", large.clone()).await.expect(200);
    large.push(0);
    let refused = put("image/png", large).await.expect_error(413, "body-too-large");
    assert!(refused.to_string().contains("Scale it down"), "{refused}");
    assert_eq!(app.app.budget.bodies.used(), 0, "no memory is held on to");
}

async fn only_who_changes_the_device_sets_its_photo(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Boat"})).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let line = format!("/api/devices/{device}/photo");
    let put = app.call(&format!("PUT {line}")).by(&reader).body("image/png", PNG).send().await;
    put.expect_error(403, "forbidden");
    app.call(&format!("DELETE {line}")).by(&reader).send().await.expect_error(403, "forbidden");
}
