//! Share links: their content, their viewers, and their validity.

use perigee_core::access::actor::Actor;
use perigee_core::access::privilege::Privilege;
use perigee_core::devices::device::{Device, DeviceSettings};
use perigee_core::groups::group::{Group, GroupSettings};
use perigee_core::locations::location::{Latitude, Location, Longitude, Milli, Readings};
use perigee_core::store::{Devices as _, Groups as _, Locations as _};
use perigee_server::background::{TimelineEngine, save_usage};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, Tenant, TestApp, on_both_engines};

on_both_engines!(
    a_link_shows_a_device_until_it_is_over,
    a_link_shows_a_groups_devices,
    a_page_stays_up_to_date,
    links_without_content_answer_alike,
    sending_twice_makes_one,
    bad_bodies_say_what_to_change,
    changes_need_the_privilege_and_visibility,
    guessing_is_slowed_down,
    opening_often_is_slowed_down,
    where_devices_were_before_is_not_shown,
    the_account_is_named_unless_it_shall_not_be,
    many_viewers_get_one_answer,
    trips_are_shown_if_the_link_allows_it,
);

async fn device(app: &TestApp, tenant: &Tenant, name: &str) -> Device {
    let settings = DeviceSettings { name: name.to_owned(), ..DeviceSettings::default() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_device(&actor, settings, None).await.unwrap().into_inner()
}

async fn group(app: &TestApp, tenant: &Tenant, devices: &[&Device]) -> Group {
    let settings = GroupSettings {
        name: "Trawlers".to_owned(),
        description: None,
        devices: devices.iter().map(|device| device.id).collect(),
    };
    app.store.create_group(&Actor::operator(tenant.account.id), settings, None).await.unwrap().into_inner()
}

async fn locate(app: &TestApp, tenant: &Tenant, device: &Device) {
    let location = Location {
        time: app.app.clock.now(),
        latitude: Latitude::from_degrees(42.5).unwrap(),
        longitude: Longitude::from_degrees(-8.25).unwrap(),
        readings: Readings {
            speed: Milli::from_f64(18.5).ok(),
            battery: Milli::from_f64(80.0).ok(),
            ..Readings::default()
        },
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.store_locations(&actor, device.id, vec![location]).await.unwrap();
}

async fn many_viewers_get_one_answer(engine: Engine) {
    const DEVICES: usize = 120;
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 200).await;
    let mut devices = Vec::new();
    for number in 0..DEVICES {
        devices.push(device(&app, &tenant, &format!("Device {number}")).await);
    }
    locate(&app, &tenant, &devices[0]).await;
    let group = group(&app, &tenant, &devices.iter().collect::<Vec<_>>()).await;
    let wanted = json!({"groupId": group.id.to_string(), "until": in_days(&app, 1)});
    let made = share(&app, &tenant.owner, &wanted).await;
    let open = |number: u8| {
        let call = app.call(&format!("{}?trail=2020-01-01T00:00:00Z", opening(&made)));
        call.from(&format!("192.0.2.{number}")).send()
    };
    let answers = futures_util::future::join_all((0..16).map(open)).await;
    let first = answers[0].expect(200);
    assert_eq!(first["devices"].as_array().unwrap().len(), DEVICES);
    let trails =
        first["devices"].as_array().unwrap().iter().map(|one| one["trail"].as_array().unwrap().len());
    assert_eq!(trails.sum::<usize>(), 1, "{first}");
    assert!(answers.iter().all(|answer| answer.body == answers[0].body));
    assert_eq!(app.app.live.share_cache.built(), 1, "one answer for all who look at once");
    app.clock().advance_seconds(1);
    open(1).await.expect(200);
    assert_eq!(app.app.live.share_cache.built(), 2, "and a new one after a second");
    let path = format!("DELETE /api/shares/{}", made["id"].as_str().unwrap());
    app.call(&path).by(&tenant.owner).send().await.expect(200);
    open(1).await.expect_error(404, "not-found");
}

async fn the_account_is_named_unless_it_shall_not_be(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("castro-fishing", 10).await;
    let boat = device(&app, &tenant, "Northern Star").await;
    let named = json!({"deviceId": boat.id.to_string(), "until": in_days(&app, 2)});
    let unnamed = json!({"deviceId": boat.id.to_string(), "until": in_days(&app, 2), "showAccount": false});
    let (named, unnamed) =
        (share(&app, &tenant.owner, &named).await, share(&app, &tenant.owner, &unnamed).await);
    assert_eq!((&named["showAccount"], &unnamed["showAccount"]), (&json!(true), &json!(false)));
    let open = async |made: &Value| app.call(&opening(made)).send().await.expect(200);
    assert_eq!(open(&named).await["accountName"], "castro-fishing");
    let shown = open(&unnamed).await;
    assert_eq!(shown["accountName"], json!(null));
    assert!(!shown.to_string().contains("castro"), "{shown}");
    assert!(!open(&named).await.to_string().contains(&tenant.account.id.to_string()));

    // Another name is shown when the page is built again.
    let renamed = json!({"name": "Castro & Sons"});
    app.send(&tenant.owner, "PATCH /api/account", &renamed).await.expect(200);
    app.clock().advance_seconds(1);
    assert_eq!(open(&named).await["accountName"], "Castro & Sons");
}

fn in_days(app: &TestApp, days: i64) -> String {
    app.app.clock.now().plus_seconds(days * 86_400).to_string()
}

async fn share(app: &TestApp, by: &Person, body: &Value) -> Value {
    app.call("POST /api/shares").by(by).json(body).send().await.expect(201)
}

/// The line that opens a link.
fn opening(share: &Value) -> String {
    let path = share["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap();
    format!("GET {path}")
}

async fn a_link_shows_a_device_until_it_is_over(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let boat = device(&app, &tenant, "Northern Star").await;
    locate(&app, &tenant, &boat).await;
    let body = json!({"deviceId": boat.id.to_string(), "name": "SendOutcome", "until": in_days(&app, 2)});
    let made = share(&app, &tenant.owner, &body).await;
    assert_eq!((&made["views"], &made["lastViewed"]), (&json!(0), &json!(null)));
    assert_eq!((&made["deviceId"], &made["groupId"]), (&json!(boat.id.to_string()), &json!(null)));
    assert_eq!(made["from"], made["creation"]);

    let shown = app.call(&opening(&made)).send().await.expect(200);
    assert_eq!(
        shown,
        json!({
            "success": true, "name": "SendOutcome", "accountName": "acme", "from": made["from"], "until": made["until"],
            "devices": [{"key": shown["devices"][0]["key"], "name": "Northern Star", "icon": null, "status": "online", "lastLocation": {
                "dateTime": app.app.clock.now().to_string(),
                "latitude": 42.5, "longitude": -8.25, "speed": 18.5, "course": null
            }}]
        })
    );
    app.call(&opening(&made).replace("GET", "HEAD")).send().await.expect(200);
    save_usage(&app.app).await;
    let listed = app.call("GET /api/shares").by(&tenant.owner).send().await.expect(200);
    assert_eq!((&listed["shares"][0]["views"], &listed["shares"][0]["url"]), (&json!(1), &made["url"]));
    assert!(listed["shares"][0]["lastViewed"].is_string());

    app.clock().advance_seconds(2 * 86_400 - 1);
    app.call(&opening(&made)).send().await.expect(200);
    app.clock().advance_seconds(1);
    app.call(&opening(&made)).send().await.expect_error(404, "not-found");
}

async fn a_link_shows_a_groups_devices(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (one, two) = (device(&app, &tenant, "One").await, device(&app, &tenant, "Two").await);
    device(&app, &tenant, "Apart").await;
    let group = group(&app, &tenant, &[&one, &two]).await;
    let body = json!({"groupId": group.id.to_string(), "until": in_days(&app, 1)});
    let made = share(&app, &tenant.owner, &body).await;
    let shown = app.call(&opening(&made)).send().await.expect(200);
    let mut names: Vec<_> = shown["devices"].as_array().unwrap().iter().map(|shown| &shown["name"]).collect();
    names.sort_by_key(|name| name.as_str());
    assert_eq!(json!(names), json!(["One", "Two"]));
    assert_eq!(
        (&shown["devices"][0]["status"], &shown["devices"][0]["lastLocation"]),
        (&json!("never"), &json!(null))
    );
}

async fn links_without_content_answer_alike(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let boat = device(&app, &tenant, "Star").await;
    let id = boat.id.to_string();
    let later = json!({"deviceId": id, "from": in_days(&app, 1), "until": in_days(&app, 2)});
    let later = share(&app, &tenant.owner, &later).await;
    let revoked = share(&app, &tenant.owner, &json!({"deviceId": id, "until": in_days(&app, 2)})).await;
    let path = format!("DELETE /api/shares/{}", revoked["id"].as_str().unwrap());
    app.call(&path).by(&tenant.owner).send().await.expect(200);
    app.call(&path).by(&tenant.owner).send().await.expect_error(404, "not-found");

    let unknown = format!("GET /api/shared/{}", "A".repeat(32));
    let mut answers = Vec::new();
    for line in [opening(&later), opening(&revoked), unknown, "GET /api/shared/short".to_owned()] {
        let mut body = app.call(&line).send().await.expect_error(404, "not-found");
        body.as_object_mut().unwrap().remove("instance");
        answers.push(body);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
}

async fn sending_twice_makes_one(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let boat = device(&app, &tenant, "Star").await;
    let body = json!({"deviceId": boat.id.to_string(), "until": in_days(&app, 2)});
    let send = async |body: &Value| {
        let call = app.call("POST /api/shares").by(&tenant.owner).header("idempotency-key", "k1");
        call.json(body).send().await
    };
    let (first, second) = (send(&body).await.expect(201), send(&body).await.expect(201));
    assert_eq!((&first["id"], &first["url"]), (&second["id"], &second["url"]));
    let soon =
        json!({"deviceId": boat.id.to_string(), "until": app.app.clock.now().plus_seconds(60).to_string()});
    let brief = async |key: &str| {
        let call = app.call("POST /api/shares").by(&tenant.owner).header("idempotency-key", key);
        call.json(&soon).send().await
    };
    let made = brief("k2").await.expect(201);
    app.clock().advance_seconds(60);
    assert_eq!(brief("k2").await.expect(201)["id"], made["id"], "the same answer when it is over");
    brief("k3").await.expect_error(400, "invalid-body");
    app.call(&format!("DELETE /api/shares/{}", made["id"].as_str().unwrap())).by(&tenant.owner).send().await;
    let other = json!({"deviceId": boat.id.to_string(), "until": in_days(&app, 3)});
    send(&other).await.expect_error(422, "idempotency-mismatch");
    let listed = app.call("GET /api/shares").by(&tenant.owner).send().await.expect(200);
    assert_eq!(listed["shares"].as_array().unwrap().len(), 1);
}

async fn bad_bodies_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (tenant, other) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let id = device(&app, &tenant, "Star").await.id.to_string();
    let foreign = device(&app, &other, "Foreign").await.id.to_string();
    let until = in_days(&app, 2);
    let bodies = [
        (json!({"until": until}), "/deviceId"),
        (json!({"deviceId": id, "groupId": "grp_0123456789abc", "until": until}), "/groupId"),
        (json!({"deviceId": id}), "/until"),
        (json!({"deviceId": id, "until": in_days(&app, -1)}), "/until"),
        (json!({"deviceId": id, "until": in_days(&app, 400)}), "/until"),
        (json!({"deviceId": id, "from": in_days(&app, 3), "until": until}), "/until"),
        (json!({"deviceId": "x", "until": until}), "/deviceId"),
        (json!({"deviceId": id, "until": until, "secret": "mine"}), "/secret"),
        (json!({"deviceId": foreign, "until": until}), "/deviceId"),
        (json!({"groupId": "grp_0123456789abc", "until": until}), "/groupId"),
        (json!([]), ""),
    ];
    for (body, pointer) in bodies {
        let answer = app.call("POST /api/shares").by(&tenant.owner).json(&body).send().await;
        let problem = answer.expect_error(400, "invalid-body");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body} {problem}");
    }
}

async fn changes_need_the_privilege_and_visibility(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (tenant, other) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let (seen, unseen) = (device(&app, &tenant, "Seen").await, device(&app, &tenant, "Unseen").await);
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let scoped =
        Traits { privileges: vec![Privilege::DevicesWrite], device: Some(seen.id), ..Traits::default() };
    let scoped = app.person(&tenant, "scoped", scoped).await;
    let body = |device: &Device| json!({"deviceId": device.id.to_string(), "until": in_days(&app, 2)});

    let post = app.call("POST /api/shares").by(&reader).json(&body(&seen)).send().await;
    post.expect_error(403, "forbidden");
    let post = app.call("POST /api/shares").by(&scoped).json(&body(&unseen)).send().await;
    post.expect_error(400, "invalid-body");
    let hidden = share(&app, &tenant.owner, &body(&unseen)).await;
    let visible = share(&app, &scoped, &body(&seen)).await;
    let listed = app.call("GET /api/shares").by(&scoped).send().await.expect(200);
    assert_eq!(listed["shares"].as_array().unwrap().len(), 1);
    let one = format!("GET /api/shares/{}", visible["id"].as_str().unwrap());
    for (person, url) in [(&scoped, &visible["url"]), (&reader, &json!(null))] {
        let answer = app.call(&one).by(person).send().await;
        assert_eq!((&answer.expect(200)["url"], answer.header("etag")), (url, "\"r1\""));
        let listed = app.call("GET /api/shares").by(person).send().await.expect(200);
        let shares = listed["shares"].as_array().unwrap();
        let listed = shares.iter().find(|share| share["id"] == visible["id"]).unwrap();
        assert_eq!(&listed["url"], url, "only who may make links gets the address");
    }
    app.call(&one).by(&other.owner).send().await.expect_error(404, "not-found");

    let delete = |share: &Value| format!("DELETE /api/shares/{}", share["id"].as_str().unwrap());
    app.call(&delete(&visible)).by(&reader).send().await.expect_error(403, "forbidden");
    app.call(&delete(&hidden)).by(&scoped).send().await.expect_error(404, "not-found");
    app.call(&delete(&visible)).by(&other.owner).send().await.expect_error(404, "not-found");
    app.call("DELETE /api/shares/nonsense").by(&tenant.owner).send().await.expect_error(404, "not-found");
    let stale = app.call(&delete(&visible)).by(&scoped).header("if-match", "\"r9\"").send().await;
    stale.expect_error(412, "precondition-failed");
    app.call(&delete(&visible)).by(&scoped).header("if-match", "\"r1\"").send().await.expect(200);
}

async fn opening_often_is_slowed_down(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let boat = device(&app, &tenant, "Star").await;
    let body = json!({"deviceId": boat.id.to_string(), "until": in_days(&app, 2)});
    let line = opening(&share(&app, &tenant.owner, &body).await);
    let open = |address: &str| app.call(&line).from(address).send();
    let first = open("192.0.2.1").await;
    first.expect(200);
    assert!(first.header("ratelimit").contains("views"), "{}", first.header("ratelimit"));
    for _ in 1..100 {
        open("192.0.2.1").await.expect(200);
    }
    let refused = open("192.0.2.1").await;
    refused.expect_error(429, "rate-limited");
    assert_eq!(refused.header("retry-after"), "1");
    open("192.0.2.2").await.expect(200);
    app.clock().advance_seconds(1);
    open("192.0.2.1").await.expect(200);
}

async fn where_devices_were_before_is_not_shown(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let boat = device(&app, &tenant, "Star").await;
    locate(&app, &tenant, &boat).await;
    app.clock().advance_seconds(1);
    let body = json!({"deviceId": boat.id.to_string(), "until": in_days(&app, 2)});
    let made = share(&app, &tenant.owner, &body).await;
    let last =
        async || app.call(&opening(&made)).send().await.expect(200)["devices"][0]["lastLocation"].clone();
    assert_eq!(last().await, json!(null));
    locate(&app, &tenant, &boat).await;
    assert_eq!(last().await["latitude"], 42.5);
}

async fn guessing_is_slowed_down(engine: Engine) {
    let app = TestApp::with(engine, |config| config.limits.bad_tokens_per_second = 3).await;
    let line = format!("GET /api/shared/{}", "B".repeat(32));
    for _ in 0..3 {
        app.call(&line).send().await.expect_error(404, "not-found");
    }
    let refused = app.call(&line).send().await;
    refused.expect_error(429, "rate-limited");
    assert_eq!(refused.header("retry-after"), "1");
}

async fn a_page_stays_up_to_date(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let boat = device(&app, &tenant, "Northern Star").await;
    let submit = async |minute: u32| {
        let at = format!("2026-01-01T00:{minute:02}:00Z");
        let body = json!({"dateTime": at, "latitude": 42.0 + f64::from(minute) / 100.0, "longitude": -8.25});
        let path = format!("POST /api/devices/{}/locations", boat.id);
        app.call(&path).by(&tenant.owner).json(&body).send().await.expect(201);
    };
    submit(0).await;
    app.clock().advance_seconds(120);
    let body = json!({"deviceId": boat.id.to_string(), "until": in_days(&app, 1)});
    let made = share(&app, &tenant.owner, &body).await;
    let page = made["page"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap();
    assert_eq!(app.call(&format!("GET {page}")).send().await.status, 200, "the link leads to a page");
    for minute in 2..6 {
        app.clock().advance_seconds(60);
        submit(minute).await;
    }
    let trail = async |query: &str| {
        let shown = app.call(&format!("{}?{query}", opening(&made))).send().await.expect(200);
        let points = shown["devices"][0]["trail"].as_array().unwrap().clone();
        points.iter().map(|point| point["dateTime"].as_str().unwrap()[14..16].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        trail("trail=2020-01-01T00:00:00Z").await,
        ["02", "03", "04", "05"],
        "nothing of before the link"
    );
    assert_eq!(trail("trail=2026-01-01T00:04:00.001Z&again=true").await, ["05"]);
    save_usage(&app.app).await;
    let listed = app.call("GET /api/shares").by(&tenant.owner).send().await.expect(200);
    assert_eq!(listed["shares"][0]["views"], 1, "asking again is no opening");
    let wrong = app.call(&format!("{}?trail=yesterday", opening(&made))).send().await;
    wrong.expect_error(400, "invalid-parameter");
}

async fn trips_are_shown_if_the_link_allows_it(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let van = app.device(&owner, &json!({ "name": "Van" })).await;
    let now = app.app.clock.now();
    // It stands for ten minutes, drives for 20 and stands for half an hour.
    let one = |minute: i32| {
        let north = 40.0 + f64::from((minute - 10).clamp(0, 20)) * 0.009;
        let at = now.plus_seconds(60 * i64::from(minute - 60)).to_string();
        json!({ "dateTime": at, "latitude": north, "longitude": -8.0 })
    };
    let track: Vec<Value> = (0..60).map(one).collect();
    app.send(&owner, &format!("POST /api/devices/{van}/locations"), &json!(track)).await.expect(201);
    TimelineEngine::new(app.app.clone()).run_to_end().await;
    for shows in [true, false] {
        // Five minutes after the trip has begun.
        let (from, until) = (now.plus_seconds(-45 * 60).to_string(), now.plus_seconds(86_400).to_string());
        let body = json!({ "deviceId": van, "from": from, "until": until, "showTrips": shows });
        let link = app.send(&owner, "POST /api/shares", &body).await.expect(201);
        assert_eq!(link["showTrips"], shows);
        let secret = link["url"].as_str().and_then(|url| url.rsplit('/').next()).expect("a URL").to_owned();
        let open = async |query: &str| {
            let seen = app.call(&format!("GET /api/shared/{secret}{query}")).send().await.expect(200);
            seen["devices"][0].get("trips").cloned()
        };
        assert_eq!(open("").await, None);
        let trips = open("?trips=true").await;
        if !shows {
            assert_eq!(trips, None);
            continue;
        }
        let trips = trips.expect("the link shows them");
        assert_eq!(trips.as_array().map(Vec::len), Some(1), "{trips}");
        // It is cut where the link begins, and has no position.
        assert_eq!(trips[0]["from"], json!(from));
        let distance = trips[0]["distance"].as_f64().expect("a number");
        assert!((13.0..17.0).contains(&distance), "{trips}");
        assert_eq!(trips[0].as_object().map(serde_json::Map::len), Some(4), "{trips}");
    }
}
