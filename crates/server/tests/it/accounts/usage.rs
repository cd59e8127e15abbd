//! How often the API was called, as the developer settings show it.

use perigee_server::background::save_hours;
use serde_json::json;

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    calls_are_shown_by_day_and_hour,
    a_span_must_make_sense,
    calls_outlive_a_store_that_was_away
);

async fn calls_are_shown_by_day_and_hour(engine: Engine) {
    let app = TestApp::new(engine).await;
    let acme = app.tenant("acme", 2).await;
    let reader = app.person(&acme, "reader", Traits::default()).await;
    for _ in 0..3 {
        app.get(&acme.owner, "/api/groups").await;
    }
    app.get(&reader, "/api/groups").await;
    app.clock().advance_seconds(3_600);
    let cookie = app.sign_in(&acme.owner).await;
    app.call("GET /api/session").cookie(&cookie).send().await.expect(200);
    let usage = app.call("GET /api/account/usage?unit=hour&from=2026-01-01T00:00:00Z").cookie(&cookie);
    let usage = usage.send().await.expect(200)["usage"].clone();
    assert_eq!(usage["times"], json!(["2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"]));
    let mut series: Vec<_> = usage["series"].as_array().unwrap().clone();
    series.sort_by_key(|one| one["via"].to_string() + one["name"].as_str().unwrap_or_default());
    let counts: Vec<_> = series.iter().map(|one| (one["via"].clone(), one["calls"].clone())).collect();
    let expected = [("console", json!([0, 2])), ("key", json!([3, 0])), ("key", json!([1, 0]))];
    assert_eq!(counts, expected.map(|(via, calls)| (json!(via), calls)));

    let days = app.call("GET /api/account/usage").cookie(&cookie).send().await.expect(200)["usage"].clone();
    assert_eq!((&days["unit"], days["times"].as_array().unwrap().len()), (&json!("day"), 31));
    let totals: u64 =
        days["series"].as_array().unwrap().iter().map(|one| one["total"].as_u64().unwrap()).sum();
    assert_eq!(totals, 7, "the question itself counts too");
}

async fn a_span_must_make_sense(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 2).await.owner;
    for query in
        ["from=2026-01-02T00:00:00Z&to=2025-12-31T00:00:00Z", "from=yesterday", "unit=week", "by=key"]
    {
        let path = format!("GET /api/account/usage?{query}");
        app.call(&path).by(&owner).send().await.expect_error(400, "invalid-parameter");
    }
    let long = app.get(&owner, "/api/account/usage?from=1990-01-01T00:00:00Z&unit=hour").await;
    assert!(long["usage"]["times"].as_array().unwrap().len() <= 24 * 33, "no more than is kept");
}

async fn calls_outlive_a_store_that_was_away(engine: Engine) {
    let mut app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 2).await.owner;
    app.get(&owner, "/api/groups").await;
    app.store.close().await;
    save_hours(&app.app).await;
    app.store = app.scratch.open().await;
    app.app.counters.hours.save(&app.store).await.unwrap();
    let calls = {
        use perigee_core::store::Calls as _;
        let account = app.app.access.identities.user(&app.store, owner.id).await.unwrap().unwrap();
        let now = app.app.clock.now();
        app.store.list_calls(account.account.id, now, now.plus_seconds(1)).await.unwrap()
    };
    assert_eq!(calls.iter().map(|one| one.calls).sum::<u64>(), 1);
}
