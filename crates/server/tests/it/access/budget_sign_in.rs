//! Signing in: a failure is counted before a hash is computed, waiting attempts are bounded, and no hash is computed
//! for nothing.

use futures_util::future::join_all;
use serde_json::json;

use crate::api::budget::{fill, until_waiting};
use crate::support::app::{build, default_config};
use crate::support::people::PASSWORD;
use crate::support::{Answer, Engine, TestApp, on_both_engines};

on_both_engines!(
    a_failure_is_taken_before_the_hash,
    attempts_that_wait_are_bounded,
    good_ones_at_once_are_all_let_in,
    who_goes_away_has_failed,
    refused_sign_ins_are_not_hashed,
    known_users_pass_strangers_who_try_passwords,
    known_users_stay_known_after_a_restart,
);

async fn sign_in(app: &TestApp, address: &str, email: &str, password: &str) -> Answer {
    let body = json!({"email": email, "password": password});
    app.call("POST /api/session").from(address).json(&body).send().await
}

fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

async fn a_failure_is_taken_before_the_hash(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let hashes = app.app.budget.hashes.clone();
    let held = fill(&hashes);
    let wrong = join_all((0..100).map(|_| sign_in(&app, "192.0.2.1", &owner.email, "wrong password")));
    let right = sign_in(&app, "198.51.100.2", &owner.email, PASSWORD);
    let (wrong, right, ()) = tokio::join!(wrong, right, async {
        // Four of one network and one of the other: no other attempt has reached the hash.
        until_waiting(&hashes, 5).await;
        until_waiting(&app.app.budget.attempts, 96).await;
        assert_eq!(hashes.load().1, 5);
        drop(held);
    });
    right.expect(200);
    assert_eq!((count(&wrong, 401), count(&wrong, 429)), (10, 90));
}

async fn attempts_that_wait_are_bounded(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.budget.waiting = 8;
        config.budget.waiting_per_client = 8;
    })
    .await;
    let owner = app.tenant("acme", 10).await.owner;
    let hashes = app.app.budget.hashes.clone();
    let held = fill(&hashes);
    let wrong = join_all((0..100).map(|_| sign_in(&app, "192.0.2.1", &owner.email, "wrong password")));
    let (wrong, ()) = tokio::join!(wrong, async {
        until_waiting(&hashes, 4).await;
        until_waiting(&app.app.budget.attempts, 8).await;
        drop(held);
    });
    let shed = wrong.iter().filter(|answer| answer.header("retry-after") == "1").count();
    assert!(shed >= 88, "{shed} were shed at once");
    assert_eq!(count(&wrong, 401) + count(&wrong, 429), 100);
    assert!(count(&wrong, 401) <= 10);
}

async fn good_ones_at_once_are_all_let_in(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let answers = join_all((0..40).map(|_| sign_in(&app, "192.0.2.1", &owner.email, PASSWORD))).await;
    assert_eq!(count(&answers, 200), 40);
    let body = json!({"userName": owner.email, "apiKey": owner.api_key});
    let token = || app.call("POST /api/Auth/Token").from("192.0.2.1").json(&body).send();
    let answers = join_all((0..40).map(|_| token())).await;
    assert_eq!(count(&answers, 200), 40);
    let alone = token().await;
    assert_eq!(alone.header("ratelimit"), "\"failures\";r=10;t=0", "every failure was given back");
}

async fn known_users_pass_strangers_who_try_passwords(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    sign_in(&app, "192.0.2.1", &owner.email, PASSWORD).await.expect(200);
    let (hashes, attempts) = (app.app.budget.hashes.clone(), app.app.budget.attempts.clone());
    let cores = std::thread::available_parallelism().unwrap().get();
    let held = fill(&hashes);
    let addresses: Vec<String> = (0..200).map(|network| format!("10.0.{network}.1")).collect();
    let strangers =
        join_all(addresses.iter().map(|address| sign_in(&app, address, &owner.email, "wrong password")));
    let (strangers, known, ()) = tokio::join!(
        strangers,
        async {
            until_waiting(&attempts, 6 * cores).await;
            sign_in(&app, "192.0.2.77", &owner.email, PASSWORD).await
        },
        async {
            // The known one is at the hash, beside the strangers that may run; no other stranger waits.
            until_waiting(&hashes, 4 * cores + 1).await;
            assert_eq!(attempts.load().1, 6 * cores);
            let body = json!({"userName": owner.email, "apiKey": owner.api_key});
            let token = app.call("POST /api/Auth/Token").from("10.1.1.1").json(&body).send().await;
            token.expect(200);
            drop(held);
        }
    );
    known.expect(200);
    let refused: Vec<_> = strangers.iter().filter(|answer| answer.status == 503).collect();
    assert_eq!((refused.len(), count(&strangers, 401)), (200 - 10 * cores, 10 * cores));
    assert!(refused.iter().all(|answer| answer.header("retry-after") == "1"));
    assert_eq!((hashes.load(), attempts.load()), ((0, 0), (0, 0)));
}

async fn who_goes_away_has_failed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let hashes = app.app.budget.hashes.clone();
    for _ in 0..10 {
        let held = fill(&hashes);
        let wrong = sign_in(&app, "192.0.2.1", &owner.email, "wrong password");
        tokio::select! {
            _ = wrong => panic!("nothing can be hashed"),
            () = until_waiting(&hashes, 1) => {}
        }
        drop(held);
    }
    sign_in(&app, "192.0.2.1", &owner.email, PASSWORD).await.expect_error(429, "rate-limited");
    sign_in(&app, "192.0.2.2", &owner.email, PASSWORD).await.expect(200);
    assert_eq!((hashes.load(), app.app.budget.attempts.load()), ((0, 0), (0, 0)));
}

async fn known_users_stay_known_after_a_restart(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    sign_in(&app, "192.0.2.1", &tenant.owner.email, PASSWORD).await.expect(200);
    let restarted = build(&app.store, app.clock(), default_config()).await;
    let known = |address: &str| {
        restarted.access.known_networks.account_of(&tenant.owner.email, address.parse().unwrap())
    };
    assert_eq!((known("192.0.2.77"), known("198.51.100.1")), (Some(tenant.account.id), None));
}

async fn refused_sign_ins_are_not_hashed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let user = |email: &str, group: Option<&str>| {
        json!({"name": "Ana", "email": email, "country": "ES", "timeZone": "UTC", "group": group,
               "password": "correct horse battery"})
    };
    let create = |email: &str, group: Option<&str>, key: &str| {
        let call = app.call("POST /api/users").by(owner).json(&user(email, group));
        if key.is_empty() { call } else { call.header("idempotency-key", key) }.send()
    };
    let made = create("ana@acme.test", None, "one").await.expect(201);
    let other = create("eva@acme.test", None, "").await.expect(201);
    let hashes = app.app.budget.hashes.clone();
    let held = fill(&hashes);
    // Every further hash waits from now on.
    create("ana@acme.test", None, "").await.expect_error(409, "email-taken");
    create("ANA@acme.test", None, "two").await.expect_error(409, "email-taken");
    create("new@acme.test", Some("grp_0000000000001"), "").await.expect_error(400, "invalid-body");
    let again = create("ana@acme.test", None, "one").await.expect(201);
    assert_eq!(again["id"], made["id"], "the first request is answered again");
    let line = format!("PUT /api/users/{}", other["id"].as_str().unwrap());
    app.send(owner, &line, &user("ana@acme.test", None)).await.expect_error(409, "email-taken");
    let waits = create("new@acme.test", None, "");
    let (answer, ()) = tokio::join!(waits, async {
        until_waiting(&hashes, 1).await;
        drop(held);
    });
    answer.expect(201);
}
