//! Readiness: the store is probed, and conditions an operator must act on are shown before they cause an outage.

use futures_util::future::join_all;
use perigee_core::locations::location::CompactionBudget;
use perigee_core::store::{LocationMaintenance as _, Users as _};
use perigee_server::background::watch_store;
use perigee_store::testing::Flip;
use serde_json::json;

use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    a_store_without_room_is_not_ready,
    a_store_that_cannot_be_read_is_not_ready,
    many_probes_share_one_write,
    damage_is_shown_and_the_rest_goes_on,
);

/// Has every write fail as on a full disk.
async fn fill_disk(app: &TestApp) {
    if app.store.engine() == Engine::Postgres {
        let sql = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ \
                   BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full'; END $$; \
                   CREATE TRIGGER no_room BEFORE INSERT ON readiness \
                   FOR EACH ROW EXECUTE FUNCTION no_room()";
        app.scratch.run(sql).await;
        return;
    }
    let limit =
        app.store.write(|tx| Box::pin(async move { Ok(tx.query("PRAGMA max_page_count = 1", &[]).await?) }));
    limit.await.unwrap();
    // Pages that are free already are used up first.
    loop {
        let filled = app.store.write(|tx| {
            let sql = "INSERT INTO readiness (at, filler) VALUES (0, zeroblob(2000))";
            Box::pin(async move { Ok(tx.execute(sql, &[]).await?) })
        });
        if filled.await.is_err() {
            return;
        }
    }
}

async fn a_store_without_room_is_not_ready(engine: Engine) {
    let app = TestApp::new(engine).await;
    let ready = app.call("GET /readyz").send().await.expect(200);
    assert_eq!((&ready["status"], &ready["damagedRows"]), (&json!("ready"), &json!(0)));
    fill_disk(&app).await;
    app.app.health.readiness.reset().await;
    app.call("GET /readyz").send().await.expect_error(503, "unavailable");
    app.call("GET /healthz").send().await.expect(200);
}

async fn a_store_that_cannot_be_read_is_not_ready(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    app.device(&tenant.owner, &json!({"name": "Star"})).await;
    app.call("GET /readyz").send().await.expect(200);
    app.scratch.run("ALTER TABLE device RENAME TO device_gone").await;
    app.app.health.readiness.reset().await;
    app.call("GET /readyz").send().await.expect_error(503, "unavailable");
}

/// A damaged page of the database is reported as a failure of the store, not of the service.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overwritten_pages_answer_503() {
    let app = TestApp::new(Engine::Sqlite).await;
    let tenant = app.tenant("acme", 10).await;
    app.device(&tenant.owner, &json!({"name": "Star"})).await;
    app.call("GET /readyz").send().await.expect(200);
    app.scratch.run("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let path = app.scratch.url().sqlite_path().unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    bytes[4_096..].fill(0xa5);
    std::fs::write(path, bytes).unwrap();
    app.app.health.readiness.reset().await;
    app.call("GET /readyz").send().await.expect_error(503, "unavailable");
    app.call("GET /api/devices").by(&tenant.owner).send().await.expect_error(503, "unavailable");
}

async fn many_probes_share_one_write(engine: Engine) {
    let app = TestApp::new(engine).await;
    let before = app.store.stats().commits;
    let answers = join_all((0..50).map(|_| app.call("GET /readyz").send())).await;
    for answer in answers {
        answer.expect(200);
    }
    let commits = app.store.stats().commits - before;
    // One each second; a machine that is busy may take longer than that for all fifty.
    assert!((1..10).contains(&commits), "{commits} writes for 50 probes");
}

async fn damage_is_shown_and_the_rest_goes_on(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    app.device(&tenant.owner, &json!({"name": "Star", "identifier": "star"})).await;
    let now = app.app.clock.now();
    for seconds in 1..=3 {
        let location =
            json!({"dateTime": now.plus_seconds(-seconds).to_string(), "latitude": 1, "longitude": 2});
        app.send(&tenant.owner, "POST /api/devices/star/locations", &location).await.expect(201);
        let all = CompactionBudget { devices: 10, everything: true };
        app.store.compact(all).await.unwrap();
    }
    app.scratch.flip("location_chunk", "points", Flip::Bytes, "count > 0").await;
    app.get(&tenant.owner, "/api/devices/star/locations?from=2020-01-01T00:00:00Z").await;
    watch_store(&app.app).await;
    let ready = app.call("GET /readyz").send().await.expect(200);
    assert!(ready["damagedRows"].as_u64().unwrap() >= 1, "{ready}");
    app.store.set_operator(tenant.owner.id, true).await.unwrap();
    let cookie = app.sign_in(&tenant.owner).await;
    let answer = app.call("GET /api/operator/health").cookie(&cookie).send().await.expect(200);
    assert_eq!(answer["health"]["store"]["damagedRows"], ready["damagedRows"]);
    assert_eq!(answer["health"]["store"]["quarantinedRows"], 0);
}
