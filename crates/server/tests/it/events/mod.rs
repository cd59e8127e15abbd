//! Events by polling: in one format, in order, limited to the caller's scope, without gaps.

mod stream;
mod stream_restart;

use perigee_core::access::privilege::Privilege;
use perigee_core::store::{Events as _, LocationMaintenance as _};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, Tenant, TestApp, on_both_engines};

fn fix(minute: u32) -> Value {
    json!({"dateTime": format!("2023-05-01T12:{minute:02}:00Z"), "latitude": 42.2406, "longitude": -8.7207, "speed": 18.5})
}

async fn submit(app: &TestApp, person: &Person, device: &str, what: &str, body: &Value) {
    app.send(person, &format!("POST /api/devices/{device}/{what}"), body).await.expect(201);
}

fn types(answer: &Value) -> Vec<&str> {
    answer["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

async fn every_event_carries_what_it_is_about(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let begin = app.get(owner, "/api/events").await;
    assert_eq!(begin["events"], json!([]), "without a cursor it begins now");
    let cursor = begin["nextCursor"].as_str().unwrap().to_owned();

    let device = app.device(owner, &json!({"name": "Northern Star"})).await;
    let group = app.group(owner, &json!({"name": "Trawlers", "devices": [device]})).await;
    submit(&app, owner, &device, "locations", &fix(0)).await;
    submit(
        &app,
        owner,
        &device,
        "alerts",
        &json!({"dateTime": "2023-05-01T12:00:00Z", "alertName": "SOSButton"}),
    )
    .await;

    let answer = app.get(owner, &format!("/api/events?cursor={cursor}")).await;
    let events = answer["events"].as_array().unwrap();
    let made = events.iter().find(|event| event["type"] == "device.created").unwrap();
    assert_eq!((&made["device"], &made["data"]["name"]), (&json!(device), &json!("Northern Star")));
    assert_eq!(made["data"]["revision"], Value::Null);
    let grouped = events.iter().find(|event| event["type"] == "group.created").unwrap();
    assert_eq!((&grouped["device"], &grouped["data"]["id"]), (&Value::Null, &json!(group)));
    let located = events.iter().find(|event| event["type"] == "location.created").unwrap();
    let last = app.get(owner, &format!("/api/devices/{device}/lastLocation")).await;
    assert_eq!(located["data"], last["lastLocation"], "the location as the API writes it");
    assert_eq!((&located["device"], &located["at"]), (&json!(device), &last["lastLocation"]["receivedAt"]));
    let alerted = events.iter().find(|event| event["type"] == "alert.created").unwrap();
    let alerts = app.get(owner, &format!("/api/devices/{device}/alerts")).await;
    assert_eq!(alerted["data"], alerts["alerts"][0], "the alert as the API writes it");

    // Every id is a cursor to continue from.
    for (index, event) in events.iter().enumerate() {
        let path = format!("/api/events?cursor={}", event["id"].as_str().unwrap());
        let rest = app.get(owner, &path).await;
        assert_eq!(rest["events"].as_array().unwrap()[..], events[index + 1..]);
        assert_eq!(rest["nextCursor"], answer["nextCursor"]);
    }
    // A deleted object has its id only.
    app.call(&format!("DELETE /api/devices/{device}")).by(owner).send().await.expect(200);
    let answer = app.get(owner, &format!("/api/events?cursor={cursor}&types=device.*")).await;
    assert!(types(&answer).contains(&"device.deleted"));
    for event in answer["events"].as_array().unwrap() {
        assert_eq!(event["data"]["id"], json!(device));
        assert_eq!(event["data"]["name"], Value::Null);
    }
}

async fn filters_and_scopes_leave_no_gap(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let one = app.device(owner, &json!({"name": "one"})).await;
    let two = app.device(owner, &json!({"name": "two"})).await;
    let group = app.group(owner, &json!({"name": "first", "devices": [one]})).await;
    let hidden = app.group(owner, &json!({"name": "second", "devices": [one, two]})).await;
    let traits = |group, device| Traits { group, device, ..Traits::default() };
    let grouped = app.person(&tenant, "grouped", traits(group.parse().ok(), None)).await;
    let bound = app.person(&tenant, "bound", traits(None, two.parse().ok())).await;
    for minute in 0..6 {
        submit(&app, owner, if minute % 2 == 0 { &one } else { &two }, "locations", &fix(minute)).await;
    }
    let of = async |person: &Person, query: &str| {
        let mut events = Vec::new();
        let mut cursor = "start".to_owned();
        loop {
            let answer = app.get(person, &format!("/api/events?cursor={cursor}&limit=2&{query}")).await;
            events.extend(answer["events"].as_array().unwrap().clone());
            let next = answer["nextCursor"].as_str().unwrap();
            if next == cursor {
                return events;
            }
            next.clone_into(&mut cursor);
        }
    };
    let all = of(owner, "").await;
    let only =
        |keep: &dyn Fn(&Value) -> bool| all.iter().filter(|event| keep(event)).cloned().collect::<Vec<_>>();
    assert_eq!(of(owner, "types=location.created").await, only(&|event| event["type"] == "location.created"));
    assert_eq!(of(owner, &format!("devices={two}")).await, only(&|event| event["device"] == json!(two)));
    let both = of(owner, &format!("devices={one},{two}&types=alert.*,location.created")).await;
    assert_eq!(both.len(), 6);
    let seen = of(&grouped, "").await;
    assert!(seen.iter().all(|event| event["device"] == json!(one) || event["data"]["id"] == json!(group)));
    assert_eq!(seen.iter().filter(|event| event["type"] == "location.created").count(), 3);
    assert!(!json!(seen).to_string().contains(&hidden), "hidden groups are nobody's business");
    let seen = of(&bound, "").await;
    assert!(seen.iter().all(|event| event["device"] == json!(two)));
    assert_eq!(seen.iter().filter(|event| event["type"] == "location.created").count(), 3);

    for bad in ["types=nonsense", "types=*", "devices=one", "cursor=AAAA", "limit=0", "wait=31", "what=1"] {
        app.call(&format!("GET /api/events?{bad}")).by(owner).send().await.expect(400);
    }
}

/// A cursor of a narrow scope stays valid while events of others are trimmed, as long as it is used regularly.
async fn only_what_has_expired_is_410(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let one = app.device(owner, &json!({"name": "one"})).await;
    let two = app.device(owner, &json!({"name": "two"})).await;
    let bound = app.person(&tenant, "bound", Traits { device: two.parse().ok(), ..Traits::default() }).await;
    let old = app.get(&bound, "/api/events?cursor=start").await["nextCursor"].as_str().unwrap().to_owned();
    submit(&app, owner, &one, "locations", &fix(0)).await;
    let moved = app.get(&bound, &format!("/api/events?cursor={old}")).await;
    assert_eq!(moved["events"], json!([]));
    let moved = moved["nextCursor"].as_str().unwrap();
    assert_ne!(moved, old);
    app.clock().advance_seconds(4 * 24 * 3600);
    let everything = perigee_core::locations::location::CompactionBudget { devices: 100, everything: true };
    while app.store.compact(everything).await.unwrap().more {}
    app.store.trim_events(72 * 3600 * 1000).await.unwrap();
    app.store.trim_location_log(72 * 3600 * 1000).await.unwrap();
    let bound = app.equip(&tenant.account, bound.id, bound.email.clone()).await;
    let expired = app.call(&format!("GET /api/events?cursor={old}")).by(&bound).send().await;
    expired.expect_error(410, "cursor-expired");
    let stream =
        app.call(&format!("GET /api/stream?cursor={old}")).header("accept", "*/*").by(&bound).send().await;
    stream.expect_error(410, "cursor-expired");
    assert_eq!(app.get(&bound, &format!("/api/events?cursor={moved}")).await["events"], json!([]));
}

async fn a_poll_waits_until_something_happens(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let cursor = app.get(owner, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
    let path = format!("/api/events?cursor={cursor}&wait=30");
    let new = json!({"name": "one"});
    let (answer, device) = tokio::join!(app.get(owner, &path), app.device(owner, &new));
    assert_eq!((types(&answer), &answer["events"][0]["device"]), (vec!["device.created"], &json!(device)));
    // A caller who loses their rights stops waiting at the next check.
    let reader =
        app.person(&tenant, "reader", Traits { privileges: vec![Privilege::Api], ..Traits::default() }).await;
    let next = app.get(&reader, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
    let line = format!("GET /api/events?cursor={next}&wait=30&types=device.deleted");
    let disable = async {
        app.send(owner, &format!("PATCH /api/users/{}", reader.id), &json!({"disabled": true}))
            .await
            .expect(200);
    };
    let (waited, ()) = tokio::join!(app.call(&line).by(&reader).send(), disable);
    waited.expect_error(403, "user-disabled");
    app.app.tasks.stopping.cancel();
    assert_eq!(
        app.get(owner, "/api/events?wait=30").await["events"],
        json!([]),
        "nobody waits when it stops"
    );
}

/// Waits until this many polls of an account wait.
async fn until_waiting(app: &TestApp, tenant: &Tenant, polls: usize) {
    while app.app.live.streams.polls_waiting(tenant.account.id) < polls {
        tokio::task::yield_now().await;
    }
}

async fn polls_that_wait_share_one_read(engine: Engine) {
    const POLLS: usize = 40;
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let cursor = app.get(owner, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
    let path = format!("/api/events?cursor={cursor}&wait=30&types=device.created");
    let polls = futures_util::future::join_all((0..POLLS).map(|_| app.get(owner, &path)));
    let change = async {
        until_waiting(&app, &tenant, POLLS).await;
        app.device(owner, &json!({"name": "one"})).await
    };
    let (answers, device) = tokio::join!(polls, change);
    for answer in &answers {
        assert_eq!(types(answer), ["device.created"]);
        assert_eq!(answer["events"][0]["device"], json!(device));
    }
    let reads = app.app.live.event_polls.made();
    assert!(reads <= 4, "{reads} reads for {POLLS} polls");
    assert_eq!(app.app.live.streams.polls_waiting(tenant.account.id), 0, "their slots are free again");
}

async fn polls_that_wait_are_bounded(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.events.polls_per_user = 2;
        config.events.polls_per_account = 3;
    })
    .await;
    let (tenant, other) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let owner = &tenant.owner;
    let traits = || Traits { privileges: vec![Privilege::Api], ..Traits::default() };
    let (ana, bob) = (app.person(&tenant, "ana", traits()).await, app.person(&tenant, "bob", traits()).await);
    let wait =
        async |person: &Person, path: &str| app.call(&format!("GET {path}?wait=30")).by(person).send().await;
    let polls = async {
        let (first, second) = tokio::join!(wait(owner, "/api/events"), wait(owner, "/api/locations/feed"));
        let third = wait(&ana, "/api/events");
        (first, second, third.await)
    };
    let third = async {
        until_waiting(&app, &tenant, 2).await;
        let refused = wait(owner, "/api/events").await;
        let problem = refused.expect_error(429, "rate-limited");
        assert!(problem["error"].as_str().unwrap().starts_with("This user has 2 requests"), "{problem}");
        assert_eq!(refused.header("retry-after"), "10");
        app.get(owner, "/api/events?wait=0").await;
        let of_ana = async { wait(&ana, "/api/events").await };
        let of_bob = async {
            until_waiting(&app, &tenant, 3).await;
            wait(&bob, "/api/events").await.expect_error(429, "rate-limited");
            let elsewhere = async { wait(&other.owner, "/api/events").await.expect(200) };
            let stop = async {
                until_waiting(&app, &other, 1).await;
                app.app.tasks.stopping.cancel();
            };
            tokio::join!(elsewhere, stop)
        };
        tokio::join!(of_ana, of_bob).0.expect(200);
    };
    let ((first, second, again), ()) = tokio::join!(polls, third);
    for answer in [first, second, again] {
        answer.expect(200);
    }
}

on_both_engines!(
    polls_that_wait_share_one_read,
    polls_that_wait_are_bounded,
    every_event_carries_what_it_is_about,
    filters_and_scopes_leave_no_gap,
    only_what_has_expired_is_410,
    a_poll_waits_until_something_happens,
);
