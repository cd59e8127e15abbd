//! The machine's clock is set back or ahead while the service runs: no user is locked out and no wait gets longer.

use serde_json::json;

use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(rate_limits_do_not_follow_the_time_of_day, caches_expire_after_a_clock_step);

async fn rate_limits_do_not_follow_the_time_of_day(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.limits.requests_per_second = 1;
        config.limits.burst = 5;
        config.limits.token_failures_per_minute = 1;
    })
    .await;
    let owner = app.tenant("acme", 10).await.owner;
    for _ in 0..5 {
        app.call("GET /api/account").by(&owner).send().await.expect(200);
    }
    app.call("GET /api/account").by(&owner).send().await.expect_error(429, "rate-limited");
    app.clock().step_seconds(-600);
    let refused = app.call("GET /api/account").by(&owner).send().await;
    assert_eq!(refused.header("retry-after"), "1");
    app.clock().advance_seconds(1);
    app.call("GET /api/account").by(&owner).send().await.expect(200);
    // Nor does a step ahead fill a bucket.
    app.clock().step_seconds(600);
    app.call("GET /api/account").by(&owner).send().await.expect_error(429, "rate-limited");

    let wrong = json!({"email": owner.email, "password": "wrong"});
    app.clock().step_seconds(-600);
    app.call("POST /api/session").json(&wrong).send().await.expect(401);
    app.clock().step_seconds(-600);
    app.call("POST /api/session").json(&wrong).send().await.expect_error(429, "rate-limited");
    app.clock().advance_seconds(60);
    app.call("POST /api/session").json(&wrong).send().await.expect(401);
}

async fn caches_expire_after_a_clock_step(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    // Read by this node, and changed by another two seconds later.
    app.clock().step_seconds(-3_600);
    app.call("GET /api/account").by(&owner).send().await.expect(200);
    app.scratch.run("UPDATE account SET name = 'changed elsewhere'").await;
    app.clock().advance_seconds(2);
    app.clock().step_seconds(-2);
    let read = app.call("GET /api/account").by(&owner).send().await;
    assert_eq!(read.expect(200)["account"]["name"], "changed elsewhere");
}
