//! The session and the preferences that the console receives.

use serde_json::json;

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines, pointers};

on_both_engines!(preferences_are_ones_own, a_narrow_reader_does_not_see_licences);

async fn preferences_are_ones_own(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let (owner, other) = (app.sign_in(&tenant.owner).await, app.sign_in(&reader).await);
    let session = async |cookie: &str| app.call("GET /api/session").cookie(cookie).send().await.expect(200);
    let unset = json!({"language": null, "units": "metric", "timeZone": null, "theme": "system"});
    let before = session(&owner).await;
    assert_eq!(before["preferences"], unset);
    assert_eq!(before["account"]["licenses"], json!({"total": 10, "used": 0, "free": 10}));

    let patch = async |body: &serde_json::Value| {
        app.call("PATCH /api/session/preferences").cookie(&owner).json(body).send().await
    };
    let changed = patch(&json!({"units": "nautical", "timeZone": "asia/tokyo"})).await.expect(200);
    let expected =
        json!({"language": null, "units": "nautical", "timeZone": "Asia/Tokyo", "theme": "system"});
    assert_eq!(changed["preferences"], expected);
    assert_eq!(patch(&json!([{"op": "replace", "path": "/theme", "value": "dark"}])).await.status, 200);
    // The answer of GET can be sent back.
    assert_eq!(patch(&changed).await.expect(200)["preferences"], expected);
    assert_eq!(patch(&json!({"timeZone": null})).await.expect(200)["preferences"]["timeZone"], json!(null));
    let after = session(&owner).await;
    assert_eq!((&after["preferences"]["units"], &after["user"]), (&json!("nautical"), &before["user"]));
    assert_eq!(session(&other).await["preferences"], unset);

    for (wrong, pointer) in [
        (json!({"units": "furlongs"}), "/units"),
        (json!({"language": "nl"}), "/language"),
        (json!({"timeZone": "Mars/Base"}), "/timeZone"),
        (json!({"colour": "blue"}), "/colour"),
    ] {
        assert_eq!(pointers(&patch(&wrong).await.expect_error(400, "invalid-body")), [pointer], "{wrong}");
    }
}

async fn a_narrow_reader_does_not_see_licences(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Star"})).await.parse().ok();
    let narrow = app.person(&tenant, "narrow", Traits { device, ..Traits::default() }).await;
    let session = app.call("GET /api/session").by(&narrow).send().await.expect(200);
    assert_eq!(session["account"]["licenses"], json!(null));
    assert_eq!(session["user"]["deviceId"], json!(device));
}
