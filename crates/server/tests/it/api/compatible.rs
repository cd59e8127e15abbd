//! An integration written for the hosted original, with only the base address changed: it gets a token, and does what
//! that system's public documents show.

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Answer, Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    the_token_endpoint_has_its_own_form,
    locations_come_back_as_the_original_writes_them,
    storing_and_asking_in_one_body,
    times_without_a_zone_are_the_users,
    answers_can_be_sent_back,
    users_in_the_words_of_the_original,
    resources_are_named_by_identifier_or_name,
    alerts_by_name_and_by_position,
    devices_as_the_original_lists_them,
    every_problem_is_described_in_words,
    licences_are_not_the_owners_to_set,
);

/// The integration: it knows a base address, a user name and an API key, and keeps its token.
struct Integration {
    app: TestApp,
    person: Person,
}

impl Integration {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let person = app.tenant("acme", 10).await.owner;
        let body = json!({"userName": person.email, "apiKey": person.api_key});
        let issued = app.call("POST /api/Auth/Token").json(&body).send().await.expect(200);
        let token = issued["token"].as_str().unwrap().to_owned();
        Self { app, person: Person { token, ..person } }
    }

    async fn send(&self, line: &str, body: &Value) -> Answer {
        self.app.send(&self.person, line, body).await
    }

    async fn get(&self, path: &str) -> Value {
        self.app.get(&self.person, path).await
    }

    /// Sets the time zone of the integration's own user.
    async fn move_to(&self, zone: &str) {
        let line = format!("PATCH /api/users/{}", self.person.id);
        self.send(&line, &json!({"timeZone": zone})).await.expect(200);
        self.app.clock().advance_seconds(5);
    }
}

fn user(email: &str) -> Value {
    json!({"name": "Ana", "email": email, "country": "Spain", "timeZone": "Europe/Madrid"})
}

fn times(body: &Value) -> Vec<&str> {
    body["locations"].as_array().unwrap().iter().map(|item| item["dateTime"].as_str().unwrap()).collect()
}

async fn the_token_endpoint_has_its_own_form(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 1).await.owner;
    let right = json!({"userName": owner.email, "apiKey": owner.api_key});
    let wrong = json!({"userName": owner.email, "apiKey": "nonsense"});
    let call = |line: &str| app.call(line).header("authorization", "Bearer of.nothing.good");
    let answers = [
        (call("POST /api/Auth/Token").json(&right).send().await, 200, "success token expires"),
        (call("POST /api/auth/token").json(&wrong).send().await, 401, "success error"),
        (call("POST /api/Auth/Token").json(&json!({})).send().await, 400, "success error"),
        (call("POST /api/Auth/Token").body("text/plain", "x").send().await, 415, "success error"),
        (
            call("POST /api/Auth/Token").body("application/json; charset=latin1", "{}").send().await,
            415,
            "success error",
        ),
        (call("GET /api/Auth/Token").send().await, 405, "success error"),
        (
            call(&format!("POST /api/Auth/Token?{}", "x".repeat(9_000))).json(&right).send().await,
            414,
            "success error",
        ),
        (
            call("POST /api/Auth/Token").header("accept", "text/html").json(&right).send().await,
            406,
            "success error",
        ),
    ];
    for (answer, status, members) in answers {
        let body = answer.expect(status);
        let mut names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expect: Vec<&str> = members.split(' ').collect();
        names.sort_unstable();
        expect.sort_unstable();
        assert_eq!((names, answer.header("content-type")), (expect, "application/json"), "{body}");
    }
}

async fn locations_come_back_as_the_original_writes_them(engine: Engine) {
    let it = Integration::new(engine).await;
    let device = it.app.device(&it.person, &json!({"name": "Boat", "identifier": "300234"})).await;
    let sent = json!({
        "dateTime": "2025-12-31T12:00:00Z", "latitude": 42.2, "longitude": -8.7, "milleage": 12.5, "course": 360,
    });
    it.send(&format!("POST /api/devices/{device}/locations"), &sent).await.expect(201);
    let last = it.get("/api/devices/300234/lastLocation").await["lastLocation"].clone();
    assert_eq!((&last["mileage"], &last["milleage"]), (&json!(12.5), &json!(12.5)), "{last}");
    assert_eq!(last["course"].as_f64(), Some(0.0), "{last}");
    let again = it.send(&format!("POST /api/devices/{device}/locations"), &last).await.expect(200);
    assert_eq!(again["duplicates"], 1, "{again}");
    let chosen = it.get(&format!("/api/devices/{device}/locations?fields=mileage")).await;
    assert_eq!(chosen["locations"], json!([{"mileage": 12.5}]));
}

async fn storing_and_asking_in_one_body(engine: Engine) {
    let it = Integration::new(engine).await;
    let path =
        format!("/api/devices/{}/locations", it.app.device(&it.person, &json!({"name": "Boat"})).await);
    let post = async |body: &Value| it.send(&format!("POST {path}"), body).await;
    let at = |hour: u32| json!({"dateTime": format!("2025-12-31T{hour:02}:00:00Z"), "latitude": 1, "longitude": 2});
    let (from, to) = ("2025-12-31T01:00:00Z", "2025-12-31T09:00:00Z");
    post(&json!([at(1), at(2), at(12)])).await.expect(201);

    let both = post(&json!({"from": from, "to": to, "location": at(3)})).await.expect(201);
    assert_eq!(
        (&both["accepted"], &both["duplicates"], &both["rejected"]),
        (&json!(1), &json!(0), &json!([]))
    );
    assert_eq!(times(&both), ["2025-12-31T01:00:00Z", "2025-12-31T02:00:00Z", "2025-12-31T03:00:00Z"]);
    let known = post(&json!({"from": from, "to": to, "locations": [at(3)], "limit": 1})).await.expect(200);
    assert_eq!((&known["duplicates"], times(&known).len()), (&json!(1), 1), "{known}");
    assert!(known["nextCursor"].is_string(), "{known}");

    let range = post(&json!({"from": from, "to": to, "location": null})).await.expect(200);
    assert_eq!(times(&range).len(), 3);
    assert!(range.get("accepted").is_none(), "{range}");
    let empty = post(&json!({"from": from, "to": to, "location": {}, "locations": []})).await.expect(200);
    assert_eq!((times(&empty).len(), empty.get("accepted")), (3, None), "{empty}");
    for open in [json!({"from": from, "to": ""}), json!({"from": from, "to": null}), json!({"from": from})] {
        assert_eq!(times(&post(&open).await.expect(200)).len(), 4, "{open} has no end");
    }
    let no_begin = post(&json!({"from": "", "to": to})).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&no_begin), ["/from"]);
    let unset = post(&json!({"from": null, "to": "", "location": at(4)})).await.expect(201);
    assert!(unset.get("locations").is_none(), "{unset}");

    let refused = post(&json!({"from": "soon", "to": to, "location": at(5)})).await;
    assert_eq!(pointers(&refused.expect_error(400, "invalid-body")), ["/from"]);
    assert!(!times(&it.get(&path).await).contains(&"2025-12-31T05:00:00Z"), "nothing of it was stored");
}

async fn times_without_a_zone_are_the_users(engine: Engine) {
    let it = Integration::new(engine).await;
    let device = it.app.device(&it.person, &json!({"name": "Boat"})).await;
    it.move_to("America/Lima").await;
    let path = format!("/api/devices/{device}/locations");
    for time in ["2025-12-30T12:00:00", "2025-12-30T12:01", "2025-12-30", "2025-12-30T12:02:00-04:00"] {
        let location = json!({"dateTime": time, "latitude": 1, "longitude": 2});
        it.send(&format!("POST {path}"), &location).await.expect(201);
    }
    let stored = it.get(&path).await;
    assert_eq!(
        times(&stored),
        ["2025-12-30T05:00:00Z", "2025-12-30T16:02:00Z", "2025-12-30T17:00:00Z", "2025-12-30T17:01:00Z"]
    );
    let range = json!({"from": "2025-12-30T12:00", "to": "9999-12-31T23:59:59Z"});
    let ranged = it.send(&format!("POST {path}"), &range).await.expect(200);
    assert_eq!(times(&ranged), ["2025-12-30T17:00:00Z", "2025-12-30T17:01:00Z"]);
    let asked = it.get(&format!("{path}?from=2025-12-30T12:00&to=9999-12-31T23:59:59Z")).await;
    assert_eq!(times(&asked), times(&ranged));
    let never = json!({"dateTime": "9999-12-31T23:59:59Z", "latitude": 1, "longitude": 2});
    it.send(&format!("POST {path}"), &never).await.expect_error(400, "invalid-body");
    let alert = json!({"dateTime": "2025-12-30T12:00", "alertName": "SOSButton"});
    it.send(&format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
    let alerts =
        it.get(&format!("/api/devices/{device}/alerts?from=2025-12-30T12:00&to=2025-12-30T12:00")).await;
    assert_eq!(alerts["alerts"][0]["dateTime"], "2025-12-30T17:00:00Z");
}

async fn answers_can_be_sent_back(engine: Engine) {
    let it = Integration::new(engine).await;
    let device = it.app.device(&it.person, &json!({"name": "Boat", "identifier": "1"})).await;
    let read = it.get(&format!("/api/devices/{device}")).await;
    it.send(&format!("PUT /api/devices/{device}"), &read).await.expect(200);
    let mut copy = read.clone();
    copy["device"]["identifier"] = json!("2");
    it.send("POST /api/devices", &copy).await.expect(201);
    copy["device"]["identifier"] = json!("3");
    it.send("POST /api/devices", &copy["device"]).await.expect(201);

    it.app.group(&it.person, &json!({"name": "North", "devices": [device]})).await;
    let mut group = it.get("/api/groups").await["groups"][0].clone();
    group["success"] = json!(true);
    group["lastModified"] = json!(null);
    let made = it.send("POST /api/groups", &group).await.expect(201);
    assert_ne!(made["id"], group["id"], "an id is not the client's to choose");

    let made = it.send("POST /api/users", &user("ana@acme.test")).await.expect(201);
    let mut other = made.clone();
    other["email"] = json!("eva@acme.test");
    for name in ["id", "creation", "modification", "lastLogin", "apiUsage"] {
        other[name] = json!(null);
    }
    it.send("POST /api/users", &other).await.expect(201);
    let unknown = it.send("POST /api/users", &json!({"nam": 1})).await.expect_error(400, "invalid-body");
    assert!(pointers(&unknown).contains(&"/nam"), "{unknown}");
}

async fn users_in_the_words_of_the_original(engine: Engine) {
    let it = Integration::new(engine).await;
    it.move_to("Europe/Madrid").await;
    let mut body = user("ana@acme.test");
    body["privileges"] = json!(["Read", "WRITE", "execute", "Api"]);
    body["group"] = json!("");
    body["deviceId"] = json!(null);
    body["from"] = json!("2026-05-01");
    body["expires"] = json!("9999-12-31T23:59:59Z");
    let made = it.send("POST /api/users", &body).await.expect(201);
    let write = [
        "devices.write",
        "groups.write",
        "locations.write",
        "alerts.write",
        "commands.send",
        "rules.write",
        "api",
    ];
    assert_eq!(made["privileges"], json!(write));
    assert_eq!(
        (&made["group"], &made["deviceId"], &made["expires"]),
        (&json!(null), &json!(null), &json!(null))
    );
    assert_eq!(made["from"], "2026-04-30T22:00:00Z");
    // The original names the group of those who see everything.
    let line = format!("PATCH /api/users/{}", made["id"].as_str().unwrap());
    let own = it.app.group(&it.person, &json!({"name": "North"})).await;
    assert_eq!(it.send(&line, &json!({"group": "North"})).await.expect(200)["group"], json!(own));
    assert_eq!(it.send(&line, &json!({"group": "administrators"})).await.expect(200)["group"], json!(null));
    let own = it.app.group(&it.person, &json!({"name": "Administrators"})).await;
    assert_eq!(it.send(&line, &json!({"group": "Administrators"})).await.expect(200)["group"], json!(own));
    assert_eq!(it.send(&line, &json!({"group": ""})).await.expect(200)["group"], json!(null));
    body["email"] = json!("eva@acme.test");
    body["privileges"] = json!(["read"]);
    assert_eq!(it.send("POST /api/users", &body).await.expect(201)["privileges"], json!([]));
    body["privileges"] = json!(["delete"]);
    let refused = it.send("POST /api/users", &body).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/privileges/0"]);

    let tenant = it.app.tenant("other", 1).await;
    let traits = Traits { privileges: vec![Privilege::UsersWrite], ..Traits::default() };
    let clerk = it.app.person(&tenant, "clerk", traits).await;
    let mut more = user("new@other.test");
    more["privileges"] = json!(["write"]);
    it.app.send(&clerk, "POST /api/users", &more).await.expect_error(403, "forbidden");

    let routing = json!({"recipients": [{"channel": "Email", "address": "a@example.com"}]});
    let routed = it.send("PUT /api/account/alertRouting", &routing).await.expect(200);
    assert!(routed.to_string().contains("\"channel\":\"email\""), "{routed}");
}

async fn resources_are_named_by_identifier_or_name(engine: Engine) {
    let it = Integration::new(engine).await;
    let star = it.app.device(&it.person, &json!({"name": "Star", "identifier": "300234"})).await;
    let moon = it.app.device(&it.person, &json!({"name": "Moon", "identifier": "Star"})).await;
    for _ in 0..2 {
        it.app.device(&it.person, &json!({"name": "Twin"})).await;
    }
    let group = json!({"name": "North", "devices": ["300234", "Moon"]});
    let group = it.send("POST /api/groups", &group).await.expect(201);
    assert_eq!(group["devices"], json!([star, moon]));
    let by_identifier = json!({"name": "South", "devices": ["Star"]});
    let other = it.send("POST /api/groups", &by_identifier).await.expect(201);
    assert_eq!(other["devices"], json!([moon]), "an identifier goes before a name");

    let mut body = user("ana@acme.test");
    body["group"] = json!("North");
    let ana = it.send("POST /api/users", &body).await.expect(201);
    assert_eq!(ana["group"], group["id"]);
    let line = format!("PATCH /api/users/{}", ana["id"].as_str().unwrap());
    let bound = it.send(&line, &json!({"group": "", "deviceId": "300234"})).await.expect(200);
    assert_eq!((&bound["group"], &bound["deviceId"]), (&json!(null), &json!(star)));
    let joined = it.send("PATCH /api/devices/Star", &json!({"groups": ["North", "South"]})).await.expect(200);
    assert_eq!(joined["device"]["groups"], json!([group["id"], other["id"]]));
    let listed = it.get("/api/devices?group=South").await;
    assert_eq!(listed["devices"].as_array().unwrap().len(), 1);

    let twice = it.send(&line, &json!({"deviceId": "Twin"})).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&twice), ["/deviceId"]);
    let none = it.send(&line, &json!({"deviceId": "Nobody"})).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&none), ["/deviceId"]);
    it.app
        .call("GET /api/devices?group=Nobody")
        .by(&it.person)
        .send()
        .await
        .expect_error(400, "invalid-parameter");

    let stranger = it.app.tenant("other", 1).await.owner;
    let foreign = json!({"name": "Theirs", "devices": ["300234"]});
    it.app.send(&stranger, "POST /api/groups", &foreign).await.expect_error(400, "invalid-body");
}

async fn alerts_by_name_and_by_position(engine: Engine) {
    let it = Integration::new(engine).await;
    let device = it.app.device(&it.person, &json!({"name": "Boat"})).await;
    let path = format!("/api/devices/{device}/alerts");
    let alert = |minute: u32, name: &str| json!({"dateTime": format!("2025-12-31T12:{minute:02}:00Z"), "alertName": name});
    it.send(&format!("POST {path}"), &alert(1, "SOSButton")).await.expect(201);
    let location = json!({"dateTime": "2025-12-31T11:00:00Z", "latitude": 42.5, "longitude": -8.5});
    it.send(&format!("POST /api/devices/{device}/locations"), &location).await.expect(201);
    it.send(&format!("POST {path}"), &alert(2, "SpeedLimit")).await.expect(201);
    let mut own = alert(3, "SpeedLimit");
    (own["latitude"], own["longitude"]) = (json!(1), json!(2));
    it.send(&format!("POST {path}"), &own).await.expect(201);

    let all = it.get(&path).await["alerts"].clone();
    let position = |index: usize| {
        let alert = &all[index];
        let number = |name: &str| alert[name].as_f64();
        (number("latitude"), number("longitude"), alert.get("placeIsLastKnown").cloned())
    };
    assert_eq!(position(0), (None, None, None), "nothing was known");
    assert_eq!(position(1), (Some(42.5), Some(-8.5), Some(json!(true))));
    assert_eq!(position(2), (Some(1.0), Some(2.0), None));
    let again = it.send(&format!("POST {path}"), &all[1]).await.expect(200);
    assert_eq!(again["duplicates"], 1, "what was answered may be sent again");

    for (name, count) in [
        (json!(null), 3),
        (json!(""), 3),
        (json!("speedlimit"), 2),
        (json!("SPEEDLIMIT"), 2),
        (json!("Other"), 0),
    ] {
        let range = json!({"from": "2025-12-31", "to": "2026-01-01", "alertName": name});
        let found = it.send(&format!("POST {path}"), &range).await.expect(200);
        assert_eq!(found["alerts"].as_array().unwrap().len(), count, "{range}");
    }
    for (query, count) in [("?alertName=", 3), ("?alertName=sosbutton", 1)] {
        assert_eq!(
            it.get(&format!("{path}{query}")).await["alerts"].as_array().unwrap().len(),
            count,
            "{query}"
        );
        assert_eq!(
            it.get(&format!("/api/alerts{query}")).await["alerts"].as_array().unwrap().len(),
            count,
            "{query}"
        );
    }
}

async fn devices_as_the_original_lists_them(engine: Engine) {
    let it = Integration::new(engine).await;
    let expired = json!({"expires": true, "expirationDate": "2020-01-01"});
    it.app.device(&it.person, &json!({"name": "Old", "limits": expired})).await;
    for index in 0..3 {
        it.app.device(&it.person, &json!({"name": format!("Boat {index}")})).await;
    }
    for (query, count) in [("", 4), ("?state=active", 3), ("?state=Active", 3), ("?state=expired", 1)] {
        let list = it.get(&format!("/api/devices{query}")).await;
        assert_eq!(list["devices"].as_array().unwrap().len(), count, "{query}");
        assert_eq!((&list["success"], list.get("nextCursor")), (&json!(true), None), "complete");
    }
}

async fn every_problem_is_described_in_words(engine: Engine) {
    let it = Integration::new(engine).await;
    let body = json!({"email": "nobody", "country": "ES", "timeZone": "UTC"});
    let refused = it.send("POST /api/users", &body).await.expect_error(400, "invalid-body");
    assert_eq!(
        refused["error"],
        "\"name\" is required. \"email\" must be an e-mail address such as ana@example.com."
    );
    let refused = it.app.call("GET /api/devices?a=1&b=2").by(&it.person).send().await;
    let refused = refused.expect_error(400, "invalid-parameter");
    assert_eq!(
        refused["error"],
        "Unknown parameter \"a\". Leave it out. Unknown parameter \"b\". Leave it out."
    );
}

async fn licences_are_not_the_owners_to_set(engine: Engine) {
    let it = Integration::new(engine).await;
    let account = it.get("/api/account").await;
    it.send("PATCH /api/account", &account).await.expect(200);
    for patch in [json!({"licenses": {"total": 11}}), json!({"licenses": null})] {
        it.send("PATCH /api/account", &patch).await.expect_error(403, "forbidden");
    }
    let patch = json!([{"op": "replace", "path": "/licenses/total", "value": 11}]);
    it.send("PATCH /api/account", &patch).await.expect_error(403, "forbidden");
    assert_eq!(it.get("/api/account").await["account"]["licenses"]["total"], 10);
}
